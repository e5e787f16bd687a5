"""`FoldConstantExpr` and `ToANormalFormExpr`: passes on one expression."""

from __future__ import annotations

from xrelay import relay
from xrelay.ir import structural_equal
from xrelay.transform import FoldConstantExpr, ToANormalFormExpr


def test_constants_of_an_expression_are_folded() -> None:
    x = relay.var("x", shape=(4,))
    one = relay.const(1.0)
    folded = FoldConstantExpr(x * (one + one), relay.IRModule({}))
    assert structural_equal(folded, x * relay.const(2.0))
    assert relay.analysis.free_vars(folded) == [x]


def test_a_function_stays_one_and_calls_those_of_the_module() -> None:
    p, x = relay.var("p", shape=(4,)), relay.var("x", shape=(4,))
    mod = relay.IRModule({"expr": relay.Function([p], relay.exp(p))})
    one = relay.const(1.0)
    folded = FoldConstantExpr(relay.Function([x], mod.get_global_var("expr")(x * (one + one))), mod)
    assert isinstance(folded, relay.Function)
    assert isinstance(folded.body, relay.Call)
    assert folded.body.op == mod.get_global_var("expr")


def test_quantised_constants_are_folded_when_asked() -> None:
    x = relay.var("x", shape=(4,))
    constant = relay.qnn.op.dequantize(relay.const(4, "int8"), 0.5, 0)
    mod = relay.IRModule({})
    assert "dequantize" in str(relay.IRModule.from_expr(FoldConstantExpr(x + constant, mod)))
    assert structural_equal(FoldConstantExpr(x + constant, mod, fold_qnn=True), x + relay.const(2.0))


def test_intermediate_values_are_bound() -> None:
    x = relay.var("x", shape=(4,))
    bound = ToANormalFormExpr(relay.exp(relay.tanh(x)))
    assert isinstance(bound, relay.Let)
    assert isinstance(bound.body, relay.Let)
    assert relay.analysis.free_vars(bound) == [x]
    assert bound.body.body == bound.body.var
