"""`relay.transform.gradient` and `FirstOrderGradient`: tuples, branches, calls, named dimensions, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.errors import InputError, PassError
from xrelay.instrument import NumericCheck
from xrelay.interpreters.relay import run_relay
from xrelay.passes.gradient import rule_table
from xrelay.relay.op import hooks

T = relay.TensorType((2, 3), "float32")
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def values(function: relay.Function, *inputs: Any) -> list[Any]:
    """The results of a function."""
    return run_relay(relay.IRModule.from_expr(function), list(inputs))


@pytest.mark.parametrize("mode", ["first_order", "higher_order"])
def test_types_and_numbers(mode: str) -> None:
    x, y = relay.var("x", T), relay.var("y", shape=(3,))
    function = relay.transform.gradient(relay.Function([x, y], x * y), mode=mode)
    assert function.checked_type == relay.FuncType(
        [x.type, y.type], relay.TupleType([x.type, relay.TupleType([x.type, y.type])])
    )
    forward, dx, dy = values(function, X, np.array([1, 2, 3], np.float32))
    np.testing.assert_array_equal(forward, X * [1, 2, 3])
    np.testing.assert_array_equal(dx, [[1, 2, 3]] * 2)
    np.testing.assert_array_equal(dy, X.sum(axis=0))


def test_a_parameter_that_is_a_tuple() -> None:
    pair = relay.var("pair", relay.TupleType([T, T]))
    function = relay.Function([pair], relay.TupleGetItem(pair, 0) * relay.TupleGetItem(pair, 0))
    gradient = relay.transform.gradient(function)
    assert gradient.checked_type == relay.FuncType([pair.type], relay.TupleType([T, relay.TupleType([pair.type])]))
    x, y = relay.var("x", T), relay.var("y", T)
    _, first, second = values(relay.Function([x, y], gradient(relay.Tuple([x, y]))), X, X)
    np.testing.assert_array_equal(first, 2 * X)
    np.testing.assert_array_equal(second, 0 * X)


def test_several_results() -> None:
    x = relay.var("x", T)
    y = relay.let("y", x + x)
    function = relay.Function([x], relay.Tuple([relay.Tuple([y * y, x]), x]))
    of_all, of_first = (relay.transform.gradient(function, mode=mode) for mode in ("first_order", "higher_order"))
    given = relay.TupleType([relay.TupleType([T, T]), T])
    assert of_all.checked_type == relay.FuncType([T], relay.TupleType([given, relay.TupleType([T])]))
    assert of_first.checked_type == of_all.checked_type
    np.testing.assert_array_equal(values(of_all, X)[-1], 8 * X + 2)
    np.testing.assert_array_equal(values(of_first, X)[-1], 8 * X)


def test_a_function_without_parameters() -> None:
    gradient = relay.transform.gradient(relay.Function([], relay.const(X)))
    assert gradient.checked_type == relay.FuncType([], relay.TupleType([T, relay.TupleType([])]))


def test_only_the_chosen_branch_is_differentiated() -> None:
    x, c = relay.var("x", T), relay.var("c", shape=(), dtype="bool")
    quotient = relay.const(1.0) / x
    inner = relay.If(relay.sum(x) > relay.const(0.0), quotient * quotient, quotient)
    gradient = relay.transform.gradient(relay.Function([c, x], relay.If(c, inner, x * x)))
    _, of_condition, found = values(gradient, np.array(False), X)
    assert of_condition.dtype == bool
    assert not of_condition
    np.testing.assert_array_equal(found, 2 * X)
    found = values(gradient, np.array(True), X + 1)[2]
    np.testing.assert_allclose(found, -2 / (X + 1) ** 3, rtol=1e-6)
    found = values(gradient, np.array(True), -X - 1)[2]
    np.testing.assert_allclose(found, -1 / (X + 1) ** 2, rtol=1e-6)
    compiled = xrelay.compile(relay.IRModule.from_expr(gradient))(np.array(True), X + 1)[2]
    np.testing.assert_allclose(compiled, -2 / (X + 1) ** 3, rtol=1e-5)


def test_a_gradient_is_differentiated_again() -> None:
    x, y = relay.var("x", T), relay.var("y", T)
    back = relay.transform.gradient(relay.Function([x], x * x * x))
    first = relay.Function([y], relay.TupleGetItem(relay.TupleGetItem(back(y), 1), 0))
    forward, second = values(relay.transform.gradient(first), X)
    np.testing.assert_array_equal(forward, 3 * X * X)
    np.testing.assert_array_equal(second, 6 * X)


def test_a_global_function_and_those_it_calls() -> None:
    x, y = relay.var("x", T), relay.var("y", T)
    module = relay.IRModule({"double": relay.Function([x], x + x)})
    double = module.get_global_var("double")
    module["twice"] = relay.Function([y], double(double(y)))
    before = str(module)
    module["gradient"] = relay.transform.gradient(module.get_global_var("twice"), module)
    assert str(module).startswith(before.removesuffix("}\n").removesuffix("}"))
    forward, found = run_relay(module, [X], "gradient")
    np.testing.assert_array_equal(forward, 4 * X)
    np.testing.assert_array_equal(found, 4 + 0 * X)


def test_named_dimensions() -> None:
    x, y = relay.var("x", shape=("n", 3)), relay.var("y", shape=(3,))
    gradient = relay.transform.gradient(relay.Function([x, y], relay.mean(x * y)))
    assert gradient.checked_type.outputs.data[0].types.data[1] == relay.TupleType([x.type, y.type])
    _, dx, dy = values(gradient, X, np.array([1, 2, 3], np.float32))
    np.testing.assert_allclose(dx, np.array([[1, 2, 3]] * 2, np.float32) / 6, rtol=1e-6)
    np.testing.assert_allclose(dy, X.sum(axis=0) / 6, rtol=1e-6)


def test_the_pass_does_it_to_all_functions() -> None:
    x = relay.var("x", T)
    module = relay.IRModule({"main": relay.Function([x], relay.exp(x)), "other": relay.Function([x], x)})
    found = relay.IRModule.of(transform.FirstOrderGradient()(module))
    assert found["main"].checked_type == relay.transform.gradient(module["main"]).checked_type
    assert found["other"].checked_type == found["main"].checked_type
    np.testing.assert_array_equal(run_relay(found, [X], "other")[1], np.ones_like(X))


def test_it_changes_results_and_what_comes_behind_it_is_checked() -> None:
    x = relay.var("x", T)
    module = relay.IRModule.from_expr(relay.Function([x], relay.exp(x)))
    check = NumericCheck()
    with transform.PassContext(opt_level=3, instruments=[check]):
        transform.Sequential([transform.FirstOrderGradient(), transform.FoldConstant()])(module)
    assert check.checked == ["FoldConstant"]
    changes = "functions also return the gradients of their parameters"
    around = f"FirstOrderGradient, which ran in it, is to change results: {changes}"
    assert check.unchecked == [("FirstOrderGradient", changes), ("sequential", around)]


def test_zeros_and_ones_of_a_gradient_vanish() -> None:
    x, y = relay.var("x", T), relay.var("y", T)
    product = relay.Function([x, y], x * y + relay.zeros_like(x))
    module = relay.IRModule.from_expr(relay.transform.gradient(product))
    found = relay.IRModule.of(transform.LazyGradientInit()(module))
    assert found["main"].checked_type == module["main"].checked_type
    assert [op.name for op in found["main"].to_func().body.block.ops] == [
        "relay.multiply",
        "relay.tuple",
        "func.return",
    ]
    for before, after in zip(run_relay(module, [X, X + 1]), run_relay(found, [X, X + 1]), strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_rule_in_relays_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_table, "_RULES", {**rule_table._RULES})  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(hooks, "_LEVELS", {})
    asked: list[relay.Call] = []

    @relay.op.register_gradient("fast_erf", level=11)
    def triple(call: relay.Call, gradient: relay.Expr) -> list[relay.Expr]:
        asked.append(call)
        tripled = gradient * relay.const(3.0)
        return [tripled + relay.zeros_like(call.args[0]) * call + tripled]

    def nothing(call: relay.Call, gradient: relay.Expr) -> list[relay.Expr]:
        return []

    def no_list(call: relay.Call, gradient: relay.Expr) -> relay.Expr:
        return gradient

    relay.op.register_gradient("fast_erf", nothing, level=1)
    x = relay.var("x", T)
    function = relay.transform.gradient(relay.Function([x], relay.fast_erf(x + x)))
    assert [str(call.op) for call in asked] == ["Op(fast_erf)"]
    np.testing.assert_array_equal(values(function, X)[1], 12 + 0 * X)
    relay.op.register_gradient("fast_erf", no_list, level=11)
    with pytest.raises(
        PassError, match=r"fast_erf cannot be differentiated: its gradient is .*, not a list of expressions"
    ):
        relay.transform.gradient(relay.Function([x], relay.fast_erf(x)))


def test_a_value_with_many_uses_and_a_long_chain() -> None:
    x = relay.var("x", shape=())
    total = x
    for _ in range(1500):
        total = total + x
    assert values(relay.transform.gradient(relay.Function([x], total)), np.float32(1))[1] == 1501


def test_what_is_refused() -> None:
    x = relay.var("x", T)
    with pytest.raises(InputError, match="there is no mode 'second_order'"):
        relay.transform.gradient(relay.Function([x], x), mode="second_order")
    with pytest.raises(InputError, match="gradient takes a function"):
        relay.transform.gradient(x)  # pyright: ignore
    bits = relay.cast(relay.bitwise_not(relay.cast(x, "int32")), "float32")
    with pytest.raises(PassError, match=r"bitwise_not cannot be differentiated: there is no rule for it"):
        relay.transform.gradient(relay.Function([x], bits))
