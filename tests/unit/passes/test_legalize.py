"""`transform.Legalize` and its hooks, in Relay's form and in xrelay's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

import xrelay
from xrelay import relay, transform
from xrelay.dialects.relay.core.registry import UnknownOpError
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.errors import PassError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.relay import legalize

X = relay.var("x", shape=(1, 4, 6, 6))
WEIGHT = relay.var("weight", shape=(4, 4, 3, 3))
CONV = relay.nn.conv2d(X, WEIGHT, channels=4, kernel_size=(3, 3), padding=(1, 1))


@pytest.fixture(autouse=True)
def _own_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legalize, "_HOOKS", {})


def module_of(expr: relay.Expr) -> relay.IRModule:
    return relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(expr), expr))


def doubled(attrs: Any, inputs: Any, types: Any) -> relay.Expr:
    """A convolution with doubled weights."""
    data, weight = inputs
    return relay.nn.conv2d(data, relay.multiply(weight, relay.const(2.0, "float32")), **attrs)


def shifted(attrs: Any, inputs: Any, types: Any) -> relay.Expr:
    """A relu of its operand plus 0."""
    return relay.nn.relu(relay.add(relay.const(0, "float32"), inputs[0]))


def test_several_ops_once_each() -> None:
    relay.op.register_legalize("nn.conv2d", doubled)
    relay.op.register_legalize("nn.relu", shifted)
    found = transform.Legalize()(module_of(relay.nn.relu(CONV)))
    assert [line.split(" : ")[0].strip() for line in str(found).splitlines()[2:-2]] == [
        "%0 = relay.constant dense<2.000000e+00>",
        "%1 = relay.multiply(%weight, %0)",
        "%2 = relay.nn.conv2d(%x, %1) {padding = [1, 1, 1, 1], channels = 4, kernel_size = [3, 3]}",
        "%3 = relay.constant dense<0.000000e+00>",
        "%4 = relay.add(%3, %2)",
        "%5 = relay.nn.relu(%4)",
        "func.return %5",
    ]


def test_none_leaves_the_op_and_the_hook_is_given_everything() -> None:
    given: list[Any] = []
    relay.op.register_legalize("concatenate", lambda *arguments: given.append(arguments))
    module = module_of(relay.concatenate([X, CONV], axis=1))
    assert str(transform.Legalize()(module)) == str(transform.InferType()(module))
    ((attrs, inputs, types),) = given
    assert attrs.axis == 1
    assert len(inputs) == 1
    assert isinstance(inputs[0], relay.Tuple)
    assert [str(type).partition("<")[0] for type in types] == ["tuple", "tensor"]


def test_lists_of_other_names_are_others() -> None:
    relay.op.register_legalize("nn.conv2d", doubled, attr_name="AcmeLegalize")
    module = module_of(CONV)
    assert "multiply" not in str(transform.Legalize()(module))
    assert "multiply" in str(transform.Legalize("AcmeLegalize")(module))
    assert "multiply" in str(transform.create_pass("Legalize{legalize-map-attr-name=AcmeLegalize}")(module))


def test_the_greater_level_wins() -> None:
    relay.op.register_legalize("nn.conv2d", doubled, level=20)
    relay.op.register_legalize("nn.conv2d", lambda attrs, inputs, types: None)
    assert "multiply" in str(transform.Legalize()(module_of(CONV)))
    relay.op.register_legalize("nn.conv2d", lambda attrs, inputs, types: None, level=20)
    assert "multiply" not in str(transform.Legalize()(module_of(CONV)))


def test_the_compiler_asks_the_hooks_from_level_1_on() -> None:
    module = module_of(CONV)
    rng = np.random.default_rng(3)
    data = [rng.standard_normal((1, 4, 6, 6)).astype(np.float32), rng.standard_normal((4, 4, 3, 3)).astype(np.float32)]
    (once,) = run_relay(module, data)
    with transform.legalize_scope({"nn.conv2d": relay.op.legalize_hook(doubled)}):
        for opt_level, factor in ((0, 1), (1, 2), (3, 2)):
            (found,) = xrelay.compile(module, opt_level=opt_level, cache=False, threads=1).run(data)
            np.testing.assert_allclose(found, factor * once, rtol=1e-4, atol=1e-4)
    assert not legalize.legalize_hooks()


def test_hooks_on_ops_and_scopes_within_scopes() -> None:
    @transform.legalizes(ReluOp)
    def twice(op: ReluOp, emit: Emitter) -> SSAValue:
        return emit.call(ReluOp, emit.call(AddOp, op.data, op.data))

    module = module_of(relay.nn.relu(X))
    assert str(transform.Legalize()(module)).count("relay.add(%x, %x)") == 1
    with transform.legalize_scope({"nn.relu": lambda op, emit: op.result}):
        assert "relay.add" not in str(transform.Legalize()(module))
        with transform.legalize_scope({ReluOp: twice}):
            assert "relay.add" in str(transform.Legalize()(module))


def test_an_op_that_does_not_exist() -> None:
    with pytest.raises(UnknownOpError):
        relay.op.register_legalize("nn.conv2", doubled)
    with pytest.raises(UnknownOpError), transform.legalize_scope({"nn.conv2": doubled}):
        pass


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda attrs, inputs, types: 3, "raised PassError: it returned 3, not an expression"),
        (lambda attrs, inputs, types: inputs[1], "returned a value of type tensor<4x4x3x3xf32> for a result of type"),
        (lambda attrs, inputs: None, "takes 2 positional arguments"),
    ],
)
def test_answers_that_are_none_are_named(answer: Callable[..., Any], words: str) -> None:
    relay.op.register_legalize("nn.conv2d", answer)
    with pytest.raises(PassError, match=words) as caught:
        transform.Legalize()(module_of(CONV))
    assert "\n" not in str(caught.value)
    assert "[Legalize] the hook <lambda> of nn.conv2d" in str(caught.value)


def test_what_is_no_value_is_named() -> None:
    with (
        transform.legalize_scope({"nn.relu": lambda op, emit: op}),
        pytest.raises(PassError, match=r"of nn\.relu returned .*, not a value or None"),
    ):
        transform.Legalize()(module_of(relay.nn.relu(X)))
