"""Matches become functions: their parameters, their names, and the cases without a function."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import cast

import pytest
from xdsl.dialects.func import FuncOp

from xrelay import relay
from xrelay.errors import InputError
from xrelay.relay.dataflow_pattern import (
    DFPattern,
    FunctionPattern,
    dominates,
    is_constant,
    is_expr,
    is_if,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    partition,
    wildcard,
)

A, B, C = (relay.var(name, shape=(4,)) for name in "abc")
EXP_RELU = is_op("nn.relu")(is_op("exp")(wildcard()))


def call_of(expr: object) -> relay.Call:
    """`expr`, which is a call."""
    assert isinstance(expr, relay.Call)
    return expr


def function_of(expr: object) -> relay.Function:
    """The function that `expr` calls."""
    op = call_of(expr).op
    assert isinstance(op, relay.Function)
    return op


def body_on(function: relay.Function, *names: str) -> str:
    """The body of a function as text, with its parameters renamed."""
    params = [relay.var(name, param.type) for name, param in zip(names, function.params, strict=True)]

    class Rename(relay.ExprMutator):
        def visit_var(self, var: relay.Var) -> relay.Var:
            return params[function.params.index(var)]

    return str(relay.Function(params, Rename().visit(function.body)))


def test_a_match_is_called_as_a_function() -> None:
    made = call_of(EXP_RELU.partition(relay.nn.relu(relay.exp(A)) + B))
    inner = made.args[0]
    assert made.args[1] == B
    assert call_of(inner).args == [A]
    function = function_of(inner)
    assert function.attrs == {"PartitionedFromPattern": "exp_nn.relu_"}
    assert body_on(function, "x") == str(relay.Function([x := relay.var("x", shape=(4,))], relay.nn.relu(relay.exp(x))))


def test_attributes_are_those_given_too() -> None:
    made = EXP_RELU.partition(relay.nn.relu(relay.exp(A)), {"Composite": "acme.er", "level": 3})
    expected = {"PartitionedFromPattern": "exp_nn.relu_", "Composite": "acme.er", "level": 3}
    assert function_of(made).attrs == expected
    assert function_of(partition(EXP_RELU, relay.nn.relu(relay.exp(A)), {"n": 1})).attrs["n"] == 1


def test_each_match_has_a_function_of_its_own() -> None:
    outer = call_of(EXP_RELU.partition(relay.nn.relu(relay.exp(relay.nn.relu(relay.exp(A))))))
    assert function_of(outer) != function_of(outer.args[0])
    assert call_of(outer.args[0]).args == [A]


def test_parameters_stand_in_the_order_of_the_leaves_each_once() -> None:
    x, y = wildcard(), wildcard()
    made = call_of(((x - y) * (y + wildcard())).partition((A - B) * (C + B)))
    assert made.args == [A, B, C]
    made = call_of((is_op("exp")(wildcard()) * is_op("tanh")(wildcard())).partition(relay.exp(A) * relay.tanh(A)))
    assert made.args == [A]


def test_any_arguments_and_fields_are_parameters() -> None:
    made = call_of(is_op("concatenate")(is_tuple(None)).partition(relay.concatenate([A, B + C, A], axis=0)))
    assert [str(arg) for arg in made.args] == [str(A), str(B + C)]
    assert function_of(made).attrs["PartitionedFromPattern"] == "Tuple_concatenate_"
    assert call_of(is_op("add")(None).partition(A + B)).args == [A, B]


WITH_CONSTANT: dict[str, tuple[Callable[[relay.Expr], DFPattern], int]] = {
    "wildcard": (lambda constant: wildcard(), 2),
    "constant": (lambda constant: is_constant(), 1),
    "that constant": (is_expr, 1),
    "variable or constant": (lambda constant: is_var() | is_constant(), 1),
    "constant or variable": (lambda constant: is_constant() | is_var(), 1),
}


@pytest.mark.parametrize("name", WITH_CONSTANT)
def test_constants_are_inside_where_the_pattern_asks_for_them(name: str) -> None:
    pattern_of, parameters = WITH_CONSTANT[name]
    constant = relay.const(2.0)
    made = is_op("multiply")(is_op("exp")(wildcard()), pattern_of(constant)).partition(relay.exp(A) * constant)
    assert len(function_of(made).params) == parameters


def test_the_check_decides_about_each_root() -> None:
    seen: list[relay.Expr] = []

    def takes_a(root: relay.Expr) -> bool:
        seen.append(root)
        return call_of(call_of(root).args[0]).args == [A]

    left, right = relay.nn.relu(relay.exp(A)), relay.nn.relu(relay.exp(B))
    made = call_of(EXP_RELU.partition(left + right, check=takes_a))
    assert seen == [left, right]
    assert function_of(made.args[0]).attrs["PartitionedFromPattern"] == "exp_nn.relu_"
    assert made.args[1] == right


def same_field_twice() -> relay.Expr:
    parts = relay.split(A, indices_or_sections=2)
    return relay.TupleGetItem(parts.ssa_value, 0) + relay.TupleGetItem(parts.ssa_value, 0)


def used_outside() -> relay.Expr:
    inner = relay.exp(A)
    return relay.nn.relu(inner) + inner


UNTOUCHED: dict[str, tuple[DFPattern, Callable[[], relay.Expr]]] = {
    "no match": (EXP_RELU, lambda: relay.exp(relay.nn.relu(A))),
    "part that is used outside": (EXP_RELU, used_outside),
    "overlapping matches": (is_tuple_get_item(is_op("split")(wildcard()), 0), same_field_twice),
    "function that nothing calls": (FunctionPattern(None, wildcard()), lambda: relay.Function([A], relay.exp(A))),
    "variable": (wildcard(), lambda: A),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_cannot_be_partitioned_stays_the_same(name: str) -> None:
    pattern, make = UNTOUCHED[name]
    expr = make()
    assert pattern.partition(expr) == expr


def test_a_function_pattern_that_partitions_nothing_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="xrelay"):
        FunctionPattern(None, wildcard()).partition(relay.Function([A], A))
    assert "a function that is not called cannot be partitioned" in caplog.text


def test_a_use_outside_that_ends_in_the_root_has_a_copy() -> None:
    inner = relay.exp(A)
    pattern = is_op("multiply")(is_op("exp")(wildcard()), wildcard())
    made = call_of(pattern.partition(inner * relay.sigmoid(inner)))
    assert made.args[0] == A
    assert str(made.args[1]) == str(relay.sigmoid(relay.exp(A)))


def test_two_matches_that_share_an_op_are_one_at_most() -> None:
    """The sums overlap in the middle one: the match nearest to the result is used."""
    x = wildcard() + wildcard()
    made = call_of((x + wildcard()).partition(((A + B) + C) + A))
    assert function_of(made).attrs["PartitionedFromPattern"] == "add_add_"
    assert call_of(made.args[0]).op == relay.op.get("add")


def test_dominated_regions_are_functions() -> None:
    elementwise = wildcard().has_attr({"TOpPattern": 0})(wildcard())
    pattern = dominates(is_op("exp")(wildcard()), elementwise, is_op("add")(wildcard(), wildcard()))
    top = relay.exp(A * B)
    made = call_of(pattern.partition(relay.nn.relu(relay.tanh(top)) + relay.sigmoid(top)))
    assert function_of(made).attrs["PartitionedFromPattern"] == "exp_tanh_nn.relu_sigmoid_add_"
    assert [str(arg) for arg in made.args] == [str(A * B)]


def test_called_functions_belong_to_the_match() -> None:
    function = relay.Function([A, B], relay.exp(A) + B)
    called = FunctionPattern(None, is_op("add")(None))(wildcard(), wildcard())
    made = call_of(is_op("nn.relu")(called).partition(relay.nn.relu(function(A, C))))
    assert function_of(made).attrs["PartitionedFromPattern"] == "exp_add_FunctionCall_nn.relu_"
    assert made.args == [A, C]
    assert "relay.fn" in str(function_of(made))


def test_functions_that_were_made_are_not_looked_into_again() -> None:
    first = cast(relay.Expr, EXP_RELU.partition(relay.nn.relu(relay.exp(A))))
    assert is_op("exp")(wildcard()).partition(first) == first
    marked = wildcard().has_attr({"PartitionedFromPattern": "exp_nn.relu_"})(wildcard())
    outer = is_op("tanh")(marked).partition(relay.tanh(first))
    assert function_of(outer).attrs["PartitionedFromPattern"] == "exp_nn.relu_FunctionCall_tanh_"


def test_branches_are_in_functions_too() -> None:
    flag = relay.var("flag", shape=(), dtype="bool")
    pattern = is_if(wildcard(), is_op("exp")(wildcard()), wildcard())
    made = call_of(pattern.partition(relay.If(flag, relay.exp(A), B)))
    assert function_of(made).attrs["PartitionedFromPattern"] == "exp_If_"
    assert made.args == [flag, A, B]


def test_bodies_of_functions_are_partitioned() -> None:
    function = relay.Function([A], relay.nn.relu(relay.exp(A)))
    made = EXP_RELU.partition(function)
    assert isinstance(made, relay.Function)
    assert function_of(made.body).attrs["PartitionedFromPattern"] == "exp_nn.relu_"
    func = EXP_RELU.partition(function.to_func("f"))
    assert isinstance(func, FuncOp)
    assert 'PartitionedFromPattern = "exp_nn.relu_"' in str(func)
    nested = call_of(EXP_RELU.partition(function(B)))
    assert function_of(function_of(nested).body).attrs["PartitionedFromPattern"] == "exp_nn.relu_"


def test_values_of_the_ir_are_not_replaced_one_by_one() -> None:
    with pytest.raises(InputError, match="an OpResult cannot be replaced"):
        EXP_RELU.partition(relay.exp(A).ssa_value)


def test_an_op_with_many_users_costs_no_more_for_each_of_them() -> None:
    """Each of 8,000 matches is rejected because of the others: a scan of all users for each would take a minute."""
    inner = relay.exp(A)
    expr = relay.Tuple([relay.nn.relu(inner) for _ in range(8_000)])
    assert EXP_RELU.partition(expr) == expr
