"""Patterns of every kind match exactly their definition; values of the IR as expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xrelay import relay
from xrelay.dialects.relay.core.registry import UnknownOpError
from xrelay.errors import InputError
from xrelay.relay.dataflow_pattern import (
    CallPattern,
    DFPattern,
    ExprPattern,
    FunctionPattern,
    TuplePattern,
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_constant,
    is_expr,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    match,
    wildcard,
)

A, B, W = relay.var("a"), relay.var("b"), relay.var("w")
T = relay.var("t", shape=(2, 3))
FLAG, BOUND = relay.var("flag", shape=(), dtype="bool"), relay.var("bound")
ONE = relay.const(1.0)
CONV = relay.nn.conv2d(A, W, kernel_size=(3, 3))
SUM = relay.Function([A, B], A + B)
ANY = wildcard()

MATCHES: dict[str, tuple[DFPattern, object]] = {
    "wildcard": (wildcard(), A + B),
    "operator": (is_op("add"), relay.op.get("add")),
    "either operator": (is_op("add") | is_op("subtract"), relay.op.get("subtract")),
    "call": (is_op("add")(is_var("a"), is_var("b")), A + B),
    "add swapped": (is_op("add")(is_var("a"), is_var("b")), B + A),
    "multiply swapped": (is_op("multiply")(is_var("a"), is_constant()), ONE * A),
    "overloaded": (is_var("a") - is_var("b") / is_var("w") * is_constant(), A - B / W * ONE),
    "any arguments": (is_op("add")(None), A + B),
    "call of anything": (wildcard()(None), relay.nn.relu(A)),
    "product over quotient": (is_var("a") * is_var("b") / is_var("w"), A * (B / W)),
    "other factor over quotient": (is_var("a") * is_var("b") / is_var("w"), B * (A / W)),
    "quotient of product": (is_var("a") * (is_var("b") / is_var("w")), A * B / W),
    "any variable": (is_var(), A),
    "constant": (is_constant(), ONE),
    "equal constant": (is_expr(relay.const(1.0)), ONE),
    "equal expression": (is_expr(relay.exp(A) + ONE), relay.exp(A) + relay.const(1.0)),
    "same variable": (is_expr(A), A),
    "tuple": (is_tuple([is_var("a"), wildcard()]), relay.Tuple([A, ONE])),
    "any tuple": (is_op("concatenate")(is_tuple(None)), relay.concatenate([T, T, T], axis=0)),
    "field": (is_tuple_get_item(is_tuple(None), 1), relay.TupleGetItem(relay.Tuple([A, B]), 1)),
    "any field": (is_tuple_get_item(wildcard()), relay.TupleGetItem(relay.Tuple([A, B]), 0)),
    "branch": (is_if(is_var("flag"), is_var("a"), is_var("b")), relay.If(FLAG, A, B)),
    "binding": (is_let(is_var("bound"), is_op("exp")(ANY), is_var("bound")), relay.Let(BOUND, relay.exp(A), BOUND)),
    "function": (FunctionPattern([is_var("a"), is_var("b")], is_var("a") + is_var("b")), SUM),
    "function of anything": (FunctionPattern(None, wildcard()), SUM),
    "call of function": (FunctionPattern(None, is_op("add")(None))(wildcard(), wildcard()), SUM(A, B)),
    "attribute of operator": (is_op("add").has_attr({"TOpPattern": 1})(wildcard(), wildcard()), A + B),
    "attribute of call": (is_op("nn.conv2d")(None).has_attr({"data_layout": "NCHW", "kernel_size": [3, 3]}), CONV),
    "tuple for list": (has_attr({"kernel_size": (3, 3)}), CONV),
    "dtype as attribute": (has_attr({"dtype": "float16"}), relay.cast(A, "float16")),
    "no attributes": (wildcard()(None).has_attr({}), SUM(A, B)),
    "attribute of function": (has_attr({"Composite": "sum"}), SUM.with_attr("Composite", "sum")),
    "attribute of called function": (
        has_attr({"Composite": "sum"})(wildcard(), wildcard()),
        SUM.with_attr("Composite", "sum")(A, B),
    ),
    "attribute of function call": (wildcard()(None).has_attr({"tag": "t"}), relay.Call(A, [B], attrs={"tag": "t"})),
    "type": (has_type(relay.TensorType((2, 3), "float32")), T),
    "shape": (has_shape((2, 3)), relay.exp(T)),
    "named extent": (has_shape(("n", 3)), relay.var("n", shape=("n", 3))),
    "any extent": (has_shape((None, 3)), relay.var("n", shape=(relay.Any(), 3))),
    "element type": (has_dtype("float32", is_op("exp")(wildcard())), relay.exp(T)),
    "option taken": (is_op("exp")(is_var("a")).optional(is_op("nn.relu")), relay.nn.relu(relay.exp(A))),
    "option left": (is_op("exp")(is_var("a")).optional(is_op("nn.relu")), relay.exp(A)),
    "one expression twice": (is_op("add")(ANY, ANY), A + A),
    "dominator": (
        dominates(is_op("exp")(None), is_op("tanh")(None), is_op("add")(None)),
        relay.tanh(E := relay.exp(A)) + E,
    ),
}

REFUSALS: dict[str, tuple[DFPattern, object]] = {
    "other operator": (is_op("add"), relay.op.get("subtract")),
    "call of other operator": (is_op("add")(None), A - B),
    "subtract swapped": (is_op("subtract")(is_var("a"), is_var("b")), B - A),
    "divide swapped": (is_var("a") / is_var("b"), B / A),
    "other number of arguments": (is_op("concatenate")(wildcard(), wildcard()), relay.concatenate([T], axis=0)),
    "quotient of another": (is_var("a") * is_var("b") / is_var("w"), A * (W / B)),
    "other variable": (is_var("a"), B),
    "variable for constant": (is_constant(), A),
    "constant for variable": (is_var(), ONE),
    "constant of another type": (is_expr(relay.const(1)), ONE),
    "another constant": (is_expr(relay.const(2.0)), ONE),
    "variable of the same name": (is_expr(relay.var("a")), A),
    "other fields": (is_tuple([wildcard()]), relay.Tuple([A, B])),
    "other field": (is_tuple_get_item(wildcard(), 0), relay.TupleGetItem(relay.Tuple([A, B]), 1)),
    "branches swapped": (is_if(wildcard(), is_var("a"), is_var("b")), relay.If(FLAG, B, A)),
    "other binding": (is_let(is_var("bound"), is_op("exp")(ANY), is_var("bound")), relay.Let(BOUND, A, BOUND)),
    "other body": (FunctionPattern(None, is_op("subtract")(None)), SUM),
    "other number of parameters": (FunctionPattern([wildcard()], wildcard()), SUM),
    "operator of another pattern": (is_op("nn.dense").has_attr({"TOpPattern": 0})(None), relay.nn.dense(A, B)),
    "unregistered attribute": (is_op("add").has_attr({"TMystery": 0})(None), A + B),
    "other value of attribute": (has_attr({"data_layout": "NHWC"}), CONV),
    "missing attribute": (has_attr({"mystery": "NCHW"}), CONV),
    "attribute of variable": (is_var("a").has_attr({}), A),
    "other attribute of function": (has_attr({"Composite": "sum"}), SUM.with_attr("Composite", "product")),
    "function without attribute": (has_attr({"Composite": "sum"}), SUM),
    "other attribute of function call": (
        wildcard()(None).has_attr({"tag": "t"}),
        relay.Call(A, [B], attrs={"tag": "u"}),
    ),
    "other type": (has_type(relay.TensorType((2, 3), "float16")), T),
    "type not known": (has_type(relay.TensorType((2, 3), "float32")), A),
    "other shape": (has_shape((3, 2)), T),
    "other element type": (has_dtype("int32"), T),
    "shape of a tuple": (has_shape((2, 3)), relay.Tuple([T, T])),
    "options in another order": (
        is_var("a").optional(is_op("nn.relu")).optional(is_op("tanh")),
        relay.nn.relu(relay.tanh(A)),
    ),
    "two expressions for one pattern": (is_op("add")(ANY, ANY), A + B),
    "two operands for one pattern": (
        is_op("add")(is_op("exp")(ANY), is_op("tanh")(ANY)),
        relay.exp(A) + relay.tanh(B),
    ),
}


@pytest.mark.parametrize("name", MATCHES)
def test_a_pattern_matches(name: str) -> None:
    pattern, expr = MATCHES[name]
    assert pattern.match(expr)
    assert match(pattern, expr)


@pytest.mark.parametrize("name", REFUSALS)
def test_a_pattern_refuses(name: str) -> None:
    pattern, expr = REFUSALS[name]
    assert not pattern.match(expr)


@pytest.mark.parametrize("name", [name for name in MATCHES if isinstance(MATCHES[name][1], relay.Expr)])
def test_values_of_the_ir_match_as_expressions_do(name: str) -> None:
    pattern, expr = MATCHES[name]
    assert isinstance(expr, relay.Expr)
    # A binding of the builder is flat in the IR: a let without a body.
    assert pattern.match(expr.ssa_value) != isinstance(expr, relay.Let)


@pytest.mark.parametrize("name", [name for name in REFUSALS if isinstance(REFUSALS[name][1], relay.Expr)])
def test_values_of_the_ir_are_refused_as_expressions_are(name: str) -> None:
    pattern, expr = REFUSALS[name]
    assert isinstance(expr, relay.Expr)
    assert not pattern.match(expr.ssa_value)


def test_the_parts_of_patterns_have_relays_names() -> None:
    x, y = wildcard(), is_var("y")
    call = is_op("add")(x, y)
    assert isinstance(call, CallPattern)
    assert call.args == [x, y]
    assert isinstance(call.op, ExprPattern)
    assert call.op.expr == relay.op.get("add")
    assert is_op("add")(None).args is None
    assert (y.name, has_dtype("float16").dtype, has_shape([2]).shape) == ("y", "float16", [2])
    assert has_attr({"k": 1}).attrs["k"] == 1
    fields = is_tuple([x, y])
    assert isinstance(fields, TuplePattern)
    assert (fields[1], len(fields), is_tuple_get_item(fields, 1).tuple) == (y, 2, fields)
    dominator = call.dominates(x)
    assert (dominator.parent, dominator.child) == (x, call)
    assert repr(call) == "CallPattern(ExprPattern(Op(add)), WildcardPattern(), VarPattern('y'))"


def test_what_is_no_pattern_and_no_expression_is_refused() -> None:
    with pytest.raises(UnknownOpError):
        is_op("nn.conv2")
    not_a_pattern: Any = A
    with pytest.raises(InputError, match="a Var is not a pattern"):
        is_op("exp")(not_a_pattern)
    with pytest.raises(InputError, match="an int has no structure to match"):
        wildcard().match(3)


def test_what_a_failed_alternative_found_is_forgotten() -> None:
    """The first alternative binds the wildcard to `a` before it fails."""
    x = wildcard()
    first = is_op("add")(x, is_op("exp")(x))
    pattern = first | is_op("add")(wildcard(), is_op("exp")(x))
    assert pattern.match(A + relay.exp(B))


def test_a_wildcard_that_is_redirected_matches_chains_of_any_length() -> None:
    rest = wildcard()
    chain = is_op("exp")(rest)
    rest.redirect_to(chain | is_var("t"))
    expr: relay.Expr = T
    for _ in range(1_500):
        expr = relay.exp(expr)
    assert chain.match(expr)
    assert not chain.match(relay.tanh(expr))
    assert repr(chain) == "CallPattern(ExprPattern(Op(exp)), WildcardPattern(…))"


def test_constants_are_compared_by_all_their_elements() -> None:
    weights = np.arange(100, dtype=np.float32)
    others = weights.copy()
    others[50] = -1
    assert is_expr(relay.const(weights)).match(relay.const(weights.copy()))
    assert not is_expr(relay.const(weights)).match(relay.const(others))


def test_types_that_patterns_ask_for_are_inferred() -> None:
    """The weight's shape is known only from the convolution."""
    data, weight = relay.var("data", shape=(1, 3, 8, 8)), relay.var("weight")
    conv = relay.nn.conv2d(data, weight, channels=4, kernel_size=(3, 3))
    called = relay.Function([A], relay.exp(A))(conv)
    assert has_shape((1, 4, 6, 6), is_op("nn.conv2d")(wildcard(), has_shape((4, 3, 3, 3)))).match(conv)
    assert has_shape((1, 4, 6, 6)).match(relay.nn.relu(conv))
    assert has_dtype("float32").match(called)
    assert not has_shape((4, 3, 3, 4)).match(weight)
    assert not has_shape((4,)).match(relay.exp(A))
    contradiction = relay.nn.conv2d(relay.nn.relu(weight), weight, channels=4, kernel_size=(3, 3)) + data
    assert not has_dtype("float32").match(contradiction)
