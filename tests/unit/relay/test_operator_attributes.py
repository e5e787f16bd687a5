"""`relay.op.get(name).get_attr(…)` and related methods: the hooks of passes by Relay's names, and custom values."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from xrelay import ir, relay, transform
from xrelay.errors import InputError
from xrelay.passes.layout import layout_hooks
from xrelay.passes.relay import legalize
from xrelay.relay.byoc import hooks
from xrelay.relay.passes import to_mixed_precision

X = relay.var("x", shape=(1, 16, 8, 8))
CONV = relay.nn.conv2d(X, relay.var("w", shape=(32, 16, 3, 3)), padding=1)


@pytest.fixture(autouse=True)
def _own_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [
        (hooks, "_TARGET_HOOKS"),
        *((module, "_HOOKS") for module in (legalize, layout_hooks, to_mixed_precision)),
    ]
    for module, name in tables:
        monkeypatch.setattr(module, name, dict(getattr(module, name)))


@contextmanager
def attribute(op_name: str, name: str, value: object) -> Generator[None]:
    """Sets an attribute of an operator until the block ends, as Relay's `TempOpAttr`."""
    op = relay.op.get(op_name)
    before = op.get_attr(name)
    op.reset_attr(name)
    op.set_attr(name, value)
    try:
        yield
    finally:
        op.reset_attr(name)
        if before:
            op.set_attr(name, before)


def negated(attrs: Any, inputs: Any, types: Any) -> relay.Expr:
    return relay.negative(relay.nn.relu(inputs[0]))


def blocked(attrs: Any, inputs: Any, tinfos: Any, out_type: Any) -> relay.Expr:
    return relay.nn.conv2d(*inputs, **{**attrs, "data_layout": "NCHW4c"})


def text(made: transform.Pass, expr: relay.Expr) -> str:
    return str(made(relay.IRModule.from_expr(expr)))


def test_values_of_ones_own() -> None:
    exp, log = relay.op.get("exp"), relay.op.get("log")
    ir.register_op_attr("exp", "mine", 3)
    log.set_attr("mine", "text")
    assert [exp.get_attr("mine"), log.get_attr("mine"), exp.get_attr("other")] == [3, "text", None]
    exp.set_attr("mine", 4, plevel=9)
    assert exp.get_attr("mine") == 3
    exp.reset_attr("mine")
    assert [op.has_attr("mine") for op in (exp, log)] == [False, True]
    log.reset_attr("mine")


def test_a_list_of_hooks_for_a_while() -> None:
    calls = relay.nn.relu(X)
    for name in ("FTVMLegalize", "mine"):
        made = transform.Legalize(name)
        with attribute("nn.relu", name, negated):
            assert relay.op.get("nn.relu").get_attr(name) is negated
            assert "relay.negative" in text(made, calls)
        assert "relay.negative" not in text(made, calls)


def test_what_was_registered_comes_back() -> None:
    @relay.op.register_legalize("nn.relu")
    def outer(attrs: Any, inputs: Any, types: Any) -> relay.Expr:
        return relay.abs(inputs[0])

    with attribute("nn.relu", "FTVMLegalize", negated):
        pass
    assert relay.op.get("nn.relu").get_attr("FTVMLegalize") is outer
    assert "relay.abs" in text(transform.Legalize(), relay.nn.relu(X))


def test_layouts_for_a_while() -> None:
    conv = relay.op.get("nn.conv2d")
    ours = text(transform.AlterOpLayout(), CONV)
    with attribute("nn.conv2d", "FTVMAlterOpLayout", blocked):
        assert 'data_layout = "NCHW4c"' in text(transform.AlterOpLayout(), CONV)
    assert text(transform.AlterOpLayout(), CONV) == ours
    assert conv.has_attr("FTVMAlterOpLayout")


def test_compilers_and_precision() -> None:
    ir.register_op_attr("nn.relu", "target.mine", lambda call: True)
    annotated = transform.AnnotateTarget("mine")
    assert 'compiler = "mine"' in text(annotated, relay.nn.relu(X))
    relay.op.get("nn.relu").reset_attr("target.mine")
    assert 'compiler = "mine"' not in text(annotated, relay.nn.relu(X))
    mixed = transform.ToMixedPrecision()
    with attribute("nn.conv2d", "FTVMMixedPrecisionConversionType", lambda call, dtype: [2, "float32", "float32"]):
        assert "f16" not in text(mixed, CONV)
    assert "f16" in text(mixed, CONV)


def test_what_operators_declare() -> None:
    assert relay.op.get("nn.relu").get_attr("TOpPattern") == 0
    assert relay.op.get("nn.conv2d").get_attr("TOpPattern") == 4
    assert relay.op.get("nn.relu").get_attr("FTVMStrategy") is None
    assert [relay.op.get(name).num_inputs for name in ("log", "add", "einsum")] == [1, 2, 1]


@pytest.mark.parametrize(
    ("name", "words"),
    [("TOpPattern", "declared with the operator"), ("FTVMStrategy", "use relay.op.register_strategy")],
)
def test_attributes_that_are_said_elsewhere(name: str, words: str) -> None:
    relu = relay.op.get("nn.relu")
    for act in (lambda: relu.set_attr(name, 1), lambda: relu.reset_attr(name)):
        with pytest.raises(InputError, match="cannot be registered") as caught:
            act()
        assert words in str(caught.value)


def test_hooks_are_functions() -> None:
    for name in ("target.mine", "FTVMAlterOpLayout"):
        with pytest.raises(InputError, match="3 cannot be called"):
            relay.op.get("nn.relu").set_attr(name, 3)
