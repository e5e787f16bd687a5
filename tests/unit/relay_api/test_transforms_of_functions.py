"""`Defunctionalization`, `to_cps` and `un_cps`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType

import xrelay
from xrelay import relay, transform
from xrelay.dialects.relay.structure.call import is_call
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.errors import InputError, PassError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.verify import walk_ops

ROW = relay.TensorType((3,))


def first_order(functions: Mapping[str, relay.Function]) -> tuple[relay.IRModule, relay.IRModule]:
    """A program before and after the pass."""
    before = relay.IRModule()
    for name, function in functions.items():
        before[name] = function
    before = relay.IRModule.of(transform.InferType()(before))
    after = relay.IRModule.of(before)
    after["main"] = transform.Defunctionalization(after["main"], after)
    after = relay.IRModule.of(transform.InferType()(after))
    for op in walk_ops(after):
        assert not isinstance(op, FnOp | InvokeOp)
        if is_call(op):
            assert not any(isinstance(type, FunctionType) for type in (*op.operand_types, *op.result_types))
    return before, after


def check(before: relay.IRModule, after: relay.IRModule, *inputs: object) -> None:
    arrays = [np.asarray(each) for each in inputs]
    expected = run_relay(before, arrays)
    np.testing.assert_array_equal(run_relay(after, arrays), expected)
    np.testing.assert_array_equal(xrelay.compile(after, cache=False, threads=1).run(arrays), expected)


def test_a_function_gets_data_for_a_function() -> None:
    f, xs = relay.var("f", relay.FuncType([ROW], ROW)), relay.var("xs", shape=(3,))
    x, y = relay.var("x", shape=(3,)), relay.var("y", shape=(3,))
    apply = relay.GlobalVar("apply")
    closure = relay.Function([x], x + y)
    before, after = first_order(
        {"apply": relay.Function([f, xs], f(xs), ROW), "main": relay.Function([y], apply(closure, y * y))}
    )
    assert "(%f: !relay.closure" in str(after)
    check(before, after, np.array([1, 2, 3], np.float32))


def test_closures_of_closures() -> None:
    """Each recursive call wraps its function argument, as continuations do."""
    f, n = relay.var("f", relay.FuncType([ROW], ROW)), relay.var("n", shape=(), dtype="int32")
    x, y, m = relay.var("x", shape=(3,)), relay.var("y", shape=(3,)), relay.var("m", shape=(), dtype="int32")
    grow = relay.GlobalVar("grow")
    wrapped = relay.Function([x], f(x) + f(x))
    body = relay.If(n < relay.const(1), f(relay.const(np.ones(3, np.float32))), grow(wrapped, n - relay.const(1)))
    before, after = first_order(
        {
            "grow": relay.Function([f, n], body, ROW),
            "main": relay.Function([y, m], grow(relay.Function([x], x * y), m)),
        }
    )
    check(before, after, np.array([1, -2, 3], np.float32), np.array(3, np.int32))


def test_the_beginning_is_on_tensors() -> None:
    f, y = relay.var("f", relay.FuncType([ROW], ROW)), relay.var("y", shape=(3,))
    with pytest.raises(PassError, match="takes or returns functions"):
        transform.Defunctionalization(relay.Function([f, y], f(y)), relay.IRModule())


SCALAR = relay.TensorType(())


def halving() -> relay.IRModule:
    """A recursive function, and two calls of it."""
    module = relay.IRModule()
    n, x = relay.var("n", shape=(), dtype="int32"), relay.var("x", shape=(3,))
    halve = relay.GlobalVar("halve")
    less = halve(n - relay.const(1), x * relay.const(0.5))
    module[halve] = relay.Function([n, x], relay.If(n < relay.const(1), x, less), relay.TensorType((3,)))
    m, y = relay.var("m", shape=(), dtype="int32"), relay.var("y", shape=(3,))
    module["main"] = relay.Function([m, y], halve(m, y) + halve(m, y))
    return relay.IRModule.of(transform.InferType()(module))


def test_a_function_gets_a_continuation() -> None:
    x = relay.var("x", shape=())
    identity = relay.transform.to_cps(relay.Function([x], x))
    assert [str(param.type) for param in identity.params] == ["tensor<f32>", "(tensor<f32>) -> tensor<f32>"]
    f = relay.var("f", relay.FuncType([SCALAR], SCALAR))
    double = relay.transform.to_cps(relay.Function([f, x], f(f(x))))
    assert str(double.params[0].type) == "(tensor<f32>, (tensor<f32>) -> tensor<f32>) -> tensor<f32>"
    assert str(transform.InferType()(relay.IRModule.from_expr(double))).count("relay.fn") == 1


def test_what_it_calls_is_added_to_the_module() -> None:
    before = halving()
    module = relay.IRModule.of(before)
    module["main"] = transform.to_cps(module["main"], mod=module)
    assert [var.name_hint for var in module.get_global_vars()] == ["halve", "main", "halve_cps"]
    module = relay.IRModule.of(transform.InferType()(module))
    module["main"] = transform.un_cps(module["main"])
    inputs = [np.array(3, np.int32), np.array([8, 4, -2], np.float32)]
    expected = run_relay(before, inputs)
    np.testing.assert_array_equal(run_relay(module, inputs), expected)
    np.testing.assert_array_equal(xrelay.compile(module, cache=False).run(inputs), expected)


def test_the_passes_take_whole_modules() -> None:
    before = halving()
    assert transform.ToCPS().info == transform.PassInfo(1, "ToCPS")
    after = transform.UnCPS()(transform.ToCPS()(before))
    inputs = [np.array(2, np.int32), np.array([8, 4, -2], np.float32)]
    np.testing.assert_array_equal(run_relay(after, inputs), run_relay(before, inputs))


def test_only_what_has_a_continuation_loses_it() -> None:
    x = relay.var("x", shape=())
    with pytest.raises(InputError, match="the last parameter is not a continuation"):
        relay.transform.un_cps(relay.Function([x], x))
