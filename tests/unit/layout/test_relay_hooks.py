"""`relay.op.register_alter_op_layout`: hooks in Relay's form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xrelay import relay, transform
from xrelay.errors import PassError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.layout import layout_hooks

X = relay.var("x", shape=(1, 16, 8, 8))
CONV = relay.nn.conv2d(X, relay.const(np.ones((32, 16, 3, 3), np.float32)), padding=1)
POOL = relay.nn.max_pool2d(X, pool_size=(2, 2), strides=(2, 2))


@pytest.fixture(autouse=True)
def _own_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_hooks, "_HOOKS", {})


def altered(expr: relay.Expr, op: str, answer: Callable[..., Any]) -> str:
    relay.op.register_alter_op_layout(op, answer)
    before = transform.InferType()(relay.IRModule.from_expr(expr))
    after = transform.AlterOpLayout()(before)
    values = np.random.default_rng(0).standard_normal((1, 16, 8, 8)).astype(np.float32)
    np.testing.assert_allclose(run_relay(after, [values])[0], run_relay(before, [values])[0], rtol=1e-4)
    return str(after)


def test_the_hook_is_given_attributes_operands_and_types() -> None:
    given: list[Any] = []
    altered(CONV, "nn.conv2d", lambda *arguments: given.append(arguments))
    ((attrs, inputs, tinfos, out_type),) = given
    assert attrs.padding == [1, 1, 1, 1]
    assert [type(item) for item in inputs] == [relay.Var, relay.Var]
    assert [str(type) for type in tinfos] == ["tensor<1x16x8x8xf32>", "tensor<32x16x3x3xf32>"]
    assert str(out_type) == "tensor<1x32x8x8xf32>"


def test_the_attributes_of_the_call_are_the_layouts() -> None:
    layouts = {"data_layout": "NCHW8c", "kernel_layout": "OIHW8i16o", "out_layout": "NCHW16c"}
    text = altered(CONV, "nn.conv2d", lambda attrs, inputs, *_: relay.nn.conv2d(*inputs, **{**attrs, **layouts}))
    assert all(f'{name} = "{layout}"' in text for name, layout in layouts.items())
    layouts = {"layout": "NCHW4c"}
    text = altered(
        POOL, "nn.max_pool2d", lambda attrs, inputs, *_: relay.nn.max_pool2d(*inputs, **{**attrs, **layouts})
    )
    assert 'layout = "NCHW4c"' in text


def test_blocks_that_do_not_fit_are_left() -> None:
    def blocks(attrs: Any, inputs: Any, *_: Any) -> relay.Expr:
        return relay.nn.conv2d(*inputs, **{**attrs, "data_layout": "NCHW5c"})

    assert "NCHW5c" not in altered(CONV, "nn.conv2d", blocks)


def test_the_greater_level_wins() -> None:
    def to(layout: str) -> Callable[..., relay.Expr]:
        return lambda attrs, inputs, *_: relay.nn.conv2d(*inputs, **{**attrs, "data_layout": layout})

    relay.op.register_alter_op_layout("nn.conv2d", to("NCHW8c"), level=20)
    assert 'data_layout = "NCHW8c"' in altered(CONV, "nn.conv2d", to("NCHW4c"))


def test_a_hook_may_order_the_axes_anew() -> None:
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
    text = altered(CONV, "nn.conv2d", lambda attrs, inputs, *_: relay.nn.conv2d(*inputs, **{**attrs, **layouts}))
    assert 'src_layout = "NCHW", dst_layout = "NHWC"' in text
    assert 'data_layout = "NHWC", kernel_layout = "HWIO"' in text


def test_a_hook_may_compute_operands() -> None:
    def halved(attrs: Any, inputs: Any, *_: Any) -> relay.Expr:
        data, weight = inputs
        blocks = {"data_layout": "NCHW4c", "kernel_layout": "OIHW4i4o"}
        return relay.nn.conv2d(relay.multiply(data, relay.const(0.5)), weight + weight, **{**attrs, **blocks})

    text = altered(relay.nn.conv2d(relay.nn.relu(CONV), relay.const(np.ones((8, 32, 1, 1), np.float32))),
                   "nn.conv2d", halved)  # fmt: skip
    assert text.count("relay.multiply") == 2
    assert text.count("relay.add") == 2
    assert text.count('data_layout = "NCHW4c"') == 2
    assert text.count('dst_layout = "NCHW4c"') == 1, "the second convolution takes what the first gives"


def test_what_is_refused_leaves_nothing_of_a_hook() -> None:
    def blocks(attrs: Any, inputs: Any, *_: Any) -> relay.Expr:
        return relay.nn.conv2d(relay.nn.relu(inputs[0]), inputs[1], **{**attrs, "data_layout": "NCHW5c"})

    assert "relu" not in altered(CONV, "nn.conv2d", blocks)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda attrs, inputs, *_: 3, "it returned 3, not a call of an operator on as many operands"),
        (lambda attrs, inputs, *_: relay.nn.relu(inputs[0]), "it returned expression : .*on as many operands"),
        (lambda attrs, inputs, *_: relay.add(*inputs), "the attributes of add contain no layouts"),
        (lambda attrs, inputs, *_: relay.nn.conv2d(*inputs, data_layout="NHWC"), "returns a result of type"),
        (lambda attrs, inputs, *_: relay.nn.conv2d(inputs[0], inputs[1] + inputs[0]), "raised ConstraintError"),
        (lambda attrs, inputs: None, "takes 2 positional arguments"),
    ],
)
def test_answers_that_are_none_are_named(answer: Callable[..., Any], words: str) -> None:
    with pytest.raises(PassError, match=words) as caught:
        altered(CONV, "nn.conv2d", answer)
    assert "\n" not in str(caught.value)
    assert "the layout hook <lambda> of nn.conv2d" in str(caught.value)
