"""Whole relay programs in the interpreter: demand, scopes, functions, recursion, errors."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from xrelay import relay
from xrelay.dialects.relay.dialect import RELAY
from xrelay.errors import InputError, InterpreterError
from xrelay.interpreters.relay import run_relay


def parse(text):
    context = Context()
    for dialect in (Builtin, Func, RELAY):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def scalar(value, dtype=np.int32):
    return np.array(value, dtype)


# The recursive function of Relay's introduction: the call precedes the condition, but runs only on demand.
MYFUNC = """
func.func @myfunc(%x: tensor<i32>) -> tensor<i32> {
  %one = relay.constant dense<1> : tensor<i32>
  %1 = relay.equal(%x, %one) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %2 = relay.subtract(%x, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %3 = func.call @myfunc(%2) : (tensor<i32>) -> tensor<i32>
  %4 = relay.add(%3, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %5 = relay.if %1 : tensor<i1> -> tensor<i32> {
    relay.yield %x : tensor<i32>
  } else {
    relay.yield %4 : tensor<i32>
  }
  func.return %5 : tensor<i32>
}
"""


@pytest.mark.parametrize("depth", [1, 2, 10])
def test_the_recursive_function_ends(depth):
    assert run_relay(parse(MYFUNC), [scalar(depth)], "myfunc") == [2 ** (depth - 1)]


COUNT = """
func.func @main(%x: tensor<i32>, %by: tensor<i32>) -> tensor<i32> {
  %one = relay.constant dense<1> : tensor<i32>
  %f = relay.fn rec(%self)(%n: tensor<i32>) -> tensor<i32> {
    %end = relay.less(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = relay.if %end : tensor<i1> -> tensor<i32> {
      relay.yield %n : tensor<i32>
    } else {
      %less = relay.subtract(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %rest = relay.invoke %self(%less) : (tensor<i32>) -> tensor<i32>
      %more = relay.add(%rest, %by) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %more : tensor<i32>
    }
    relay.yield %r : tensor<i32>
  }
  %e = relay.invoke %f(%x) : (tensor<i32>) -> tensor<i32>
  func.return %e : tensor<i32>
}
"""


def test_a_closure_recurses_1500_deep():
    assert run_relay(parse(COUNT), [scalar(1500), scalar(3)]) == [4500]


def test_a_binding_and_a_tuple_pass_a_closure_on():
    module = parse("""
    func.func @main(%x: tensor<i32>) -> tensor<i32> {
      %f = relay.fn(%a: tensor<i32>) -> tensor<i32> {
        %s = relay.add(%a, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        relay.yield %s : tensor<i32>
      }
      %g = relay.let "g" = %f : (tensor<i32>) -> tensor<i32>
      %t = relay.tuple(%x, %g)
        : (tensor<i32>, (tensor<i32>) -> tensor<i32>) -> tuple<tensor<i32>, (tensor<i32>) -> tensor<i32>>
      %h = relay.tuple_get_item(%t) {index = 1}
        : (tuple<tensor<i32>, (tensor<i32>) -> tensor<i32>>) -> ((tensor<i32>) -> tensor<i32>)
      %r = relay.invoke %h(%x) : (tensor<i32>) -> tensor<i32>
      func.return %r : tensor<i32>
    }""")
    assert run_relay(module, [scalar(21)]) == [42]


def test_endless_recursion_is_an_error(monkeypatch):
    monkeypatch.setenv("XRELAY_CALL_LIMIT", "1000")
    module = parse("""
    func.func @main(%x: tensor<i32>) -> tensor<i32> {
      %e = func.call @main(%x) : (tensor<i32>) -> tensor<i32>
      func.return %e : tensor<i32>
    }""")
    with pytest.raises(InterpreterError, match="more than 1000 nested calls"):
        run_relay(module, [scalar(1)])


def test_fused_groups_lets_and_tuples():
    module = parse("""
    func.func @main(%x: tensor<2xf32>) -> (tuple<tensor<2xf32>, tuple<tensor<2xf32>>>, tensor<2xf32>) {
      %v = relay.let "v" = %x : tensor<2xf32>
      %g = relay.fused @group(%p = %v : tensor<2xf32>) -> tensor<2xf32> attributes {pattern = "kElemWise"} {
        %1 = relay.negative(%p) : (tensor<2xf32>) -> tensor<2xf32>
        %2 = relay.nn.relu(%1) : (tensor<2xf32>) -> tensor<2xf32>
        relay.yield %2 : tensor<2xf32>
      }
      %inner = relay.tuple(%v) : (tensor<2xf32>) -> tuple<tensor<2xf32>>
      %t = relay.tuple(%g, %inner)
        : (tensor<2xf32>, tuple<tensor<2xf32>>) -> tuple<tensor<2xf32>, tuple<tensor<2xf32>>>
      func.return %t, %x : tuple<tensor<2xf32>, tuple<tensor<2xf32>>>, tensor<2xf32>
    }""")
    results = run_relay(module, [np.array([-1, 2], np.float32)])
    assert [result.tolist() for result in results] == [[1, 0], [-1, 2], [-1, 2]]


def test_nothing_runs_that_nobody_needs():
    module = parse("""
    func.func @main(%x: tensor<i32>) -> tensor<i32> {
      %zero = relay.constant dense<0> : tensor<i32>
      %bad = relay.divide(%x, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      func.return %x : tensor<i32>
    }
    func.func @needed(%x: tensor<i32>) -> tensor<i32> {
      %zero = relay.constant dense<0> : tensor<i32>
      %bad = relay.divide(%x, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      func.return %bad : tensor<i32>
    }""")
    assert run_relay(module, [scalar(1)]) == [1]
    with pytest.raises(InterpreterError, match=r"relay\.divide: division by zero"):
        run_relay(module, [scalar(1)], "needed")


def test_a_cycle_is_an_error():
    module = parse("""
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %a = relay.add(%x, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %b = relay.exp(%a) : (tensor<f32>) -> tensor<f32>
      func.return %a : tensor<f32>
    }""")
    with pytest.raises(InterpreterError, match="cycle"):
        run_relay(module, [scalar(1, np.float32)])


def test_functions_and_scopes_from_python():
    x, y = relay.var("x", shape=()), relay.var("y", shape=())
    scale = relay.Function([x], x * y)
    body = relay.If(y > 0.0, scale(y), relay.let("z", -y))
    module = relay.Module.from_expr(body)
    assert run_relay(module, [scalar(3, np.float32)]) == [9]
    assert run_relay(module, [scalar(-3, np.float32)]) == [3]


def test_a_long_chain_is_no_recursion():
    data = relay.var("data", shape=(2,))
    value = data
    for _ in range(1_500):
        value = relay.add(value, data)
    module = relay.Module.from_expr(relay.Function([data], value))
    assert run_relay(module, [np.array([1, 0.5], np.float32)])[0].tolist() == [1_501, 750.5]


def test_results_are_the_callers_own():
    data = relay.var("data", shape=(2,))
    zeros = relay.const(np.zeros(2, np.float32))
    module = relay.Module.from_expr(relay.Tuple([data, zeros, relay.reshape(data, (2, 1))]))
    array = np.ones(2, np.float32)
    for result in run_relay(module, [array]):
        result[...] = 7
    assert array.tolist() == [1, 1]
    assert run_relay(module, [array])[1].tolist() == [0, 0]


def test_inputs_are_checked():
    data = relay.var("data", shape=("n", 4))
    other = relay.var("other", shape=("n", 4))
    module = relay.Module.from_expr(relay.Function([data, other], data + other))
    ones = np.ones((3, 4), np.float32)
    assert run_relay(module, [ones, ones])[0].shape == (3, 4)
    with pytest.raises(InputError, match="takes 2 inputs, got 1"):
        run_relay(module, [ones])
    with pytest.raises(InputError, match=r"input #1 of @main is float32\[2, 4\], must be tensor"):
        run_relay(module, [ones, ones[:2]])
    with pytest.raises(InputError, match="float64"):
        run_relay(module, [ones, ones.astype(np.float64)])
    with pytest.raises(InterpreterError, match="no function @other"):
        run_relay(module, [ones, ones], "other")
