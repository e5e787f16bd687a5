"""`Defunctionalization` under Relay's name: afterwards no call takes or returns a function."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType

import xrelay
from xrelay import relay, transform
from xrelay.dialects.relay.structure.call import is_call
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.errors import PassError
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
