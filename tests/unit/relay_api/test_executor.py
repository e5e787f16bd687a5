"""`relay.create_executor`: every kind evaluates expressions, functions and those of a module."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.errors import InputError

ONES = np.ones((2, 3), np.float32)
kinds = pytest.mark.parametrize("kind", ["debug", "graph", "aot", "vm"])


def doubled():
    x = relay.var("x", shape=(2, 3))
    return relay.Function([x], x + x)


@kinds
def test_main_of_a_module(kind):
    run = relay.create_executor(kind, mod=xrelay.IRModule.from_expr(doubled())).evaluate()
    np.testing.assert_array_equal(run(ONES).numpy(), 2 * ONES)
    np.testing.assert_array_equal(run(x=xrelay.nd.array(ONES)), 2 * ONES)


@kinds
def test_an_expression_without_parameters_is_its_value(kind):
    value = relay.create_executor(kind).evaluate(relay.const(1.0) + relay.const([2.0, 3.0]))
    np.testing.assert_array_equal(value, np.array([3, 4], np.float32))


@kinds
def test_free_variables_are_bound(kind):
    x, y = relay.var("x", shape=()), relay.var("y", shape=())
    executor = relay.create_executor(kind)
    assert executor.evaluate(x * y, {x: relay.const(2.0), y: relay.const(5.0)}) == 10
    assert executor.evaluate(relay.Function([x], x * y), {y: relay.const(5.0)})(3.0) == 15


@kinds
def test_tuples_are_lists(kind):
    x = relay.var("x", shape=(2, 3))
    pair = relay.var("pair", type_annotation=relay.TupleType([x.type, relay.TensorType((), "int32")]))
    function = relay.Function([x, pair], relay.Tuple([pair[1], relay.Tuple([x + pair[0], x])]))
    first, (second, third) = relay.create_executor(kind).evaluate(function)(ONES, (ONES, 7))
    assert first == 7
    assert first.dtype == np.int32
    np.testing.assert_array_equal(second, 2 * ONES)
    np.testing.assert_array_equal(third, ONES)


@kinds
def test_a_function_of_the_module_that_calls_main(kind):
    """@main remains the function that others call by this name."""
    module = xrelay.IRModule.from_expr(doubled())
    y = relay.var("y", shape=(2, 3))
    module["twice"] = relay.Function([y], module.get_global_var("main")(module.get_global_var("main")(y)))
    executor = relay.create_executor(kind, mod=module)
    np.testing.assert_array_equal(executor.evaluate(module.get_global_var("twice"))(ONES), 4 * ONES)
    np.testing.assert_array_equal(executor.evaluate(module.get_global_var("main"))(ONES), 2 * ONES)


def test_params_are_constants():
    x, w = relay.var("x", shape=(2, 3)), relay.var("w", shape=(2, 3))
    module = xrelay.IRModule.from_expr(relay.Function([x, w], x - w))
    run = relay.create_executor("graph", module, xrelay.cpu(0), "llvm", {"w": ONES}).evaluate()
    np.testing.assert_array_equal(run(ONES), 0 * ONES)
    assert len(module["main"].params) == 2


def test_refused():
    with pytest.raises(InputError, match="there is no executor 'grahp'"):
        relay.create_executor("grahp")
    run = relay.create_executor("debug").evaluate(doubled())
    with pytest.raises(InputError, match=r"takes 1 arguments \(x\), got 0"):
        run()
    with pytest.raises(InputError, match="there is no remaining argument 'x'"):
        run(ONES, x=ONES)
    with pytest.raises(InputError, match="variables that are not parameters: x"):
        relay.create_executor("debug").evaluate(relay.var("x", shape=()) + relay.const(1.0))
    n = relay.var("n", shape=(), dtype="int32")
    for kind in ("debug", "graph"):
        with pytest.raises(InputError, match="float64"):
            relay.create_executor(kind).evaluate(relay.Function([n], n + n))(2.5)
    pair = relay.var("pair", type_annotation=relay.TupleType([n.type, n.type]))
    with pytest.raises(InputError, match="must be tuple<"):
        relay.create_executor("graph").evaluate(relay.Function([pair], pair[0]))(2)


@kinds
def test_values_of_another_dtype_are_converted_where_they_fit(kind):
    n, x = relay.var("n", shape=(2,), dtype="uint8"), relay.var("x", shape=())
    run = relay.create_executor(kind).evaluate(relay.Function([n, x], relay.Tuple([n, x])))
    bytes_, number = run(np.array([1, 255]), 0.1)
    assert (str(bytes_.dtype), bytes_.tolist()) == ("uint8", [1, 255])
    assert (str(number.dtype), float(number)) == ("float32", float(np.float32(0.1)))
    assert run(np.array([2.0, 3.0]), np.float64(0.5))[0].tolist() == [2, 3]
    for others in (np.array([1, 256]), np.array([-1, 0]), np.array([1.5, 0]), np.array([np.nan, 0])):
        with pytest.raises(InputError, match=r"expected uint8|must be tensor<2xui8>"):
            run(others, 0.1)


@kinds
def test_constants_are_arguments(kind):
    """Like arrays: Relay programs pass `relay.const(0)` as an argument."""
    x = relay.var("x", shape=(), dtype="int32")
    assert relay.create_executor(kind).evaluate(relay.Function([x], x + x))(relay.const(4)) == 8


@kinds
def test_an_expression_that_calls_main_means_that_of_the_module(kind):
    module = xrelay.IRModule.from_expr(doubled())
    main = module.get_global_var("main")
    x = relay.var("x", shape=(2, 3))
    executor = relay.create_executor(kind, mod=module)
    np.testing.assert_array_equal(executor.evaluate(main(relay.const(ONES))), 2 * ONES)
    np.testing.assert_array_equal(executor.evaluate(relay.Function([x], main(main(x)))(relay.const(ONES))), 4 * ONES)


@kinds
def test_functions_are_values(kind):
    """A function that an expression returns takes tuples, returns arrays, and can be an argument of others."""
    x, pair = relay.var("x", shape=(2, 3)), relay.var("pair", relay.TupleType([relay.TensorType((2, 3))] * 2))
    f = relay.var("f", relay.FuncType([x.type], x.type))
    swapped, twice = relay.Function([pair], relay.Tuple([pair[1], pair[0]])), relay.Function([f, x], f(f(x)))
    double, swap, twice = relay.create_executor(kind).evaluate(relay.Tuple([doubled(), swapped, twice]))
    found = double(xrelay.nd.array(ONES))
    assert isinstance(found, xrelay.nd.NDArray)
    np.testing.assert_array_equal(found.numpy(), 2 * ONES)
    np.testing.assert_array_equal(swap((ONES, 3 * ONES)), [3 * ONES, ONES])
    np.testing.assert_array_equal(twice(double, ONES), 4 * ONES)
    with pytest.raises(InputError, match="takes 1 arguments"):
        double(ONES, ONES)
