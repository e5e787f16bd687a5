"""The op that makes an extent runs in each block that names the extent, and requirements on extents are checked."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest

import xrelay
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

# A call of the function requires that both extents of its captured value are equal; only one branch reads the value.
CAPTURED = """
func.func @main(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<?x?xf32, #relay.dims<n, n>>)
    -> ((tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>) {
  %f = relay.if %c : tensor<i1> -> (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>> {
    %g = relay.fn(%a : tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>> {
      %s = relay.if %d : tensor<i1> -> tensor<f32> {
        %p = relay.sum(%x) : (tensor<?x?xf32, #relay.dims<n, n>>) -> tensor<f32>
        relay.yield %p : tensor<f32>
      } else {
        %q = relay.sum(%a) : (tensor<?xf32, #relay.dims<m>>) -> tensor<f32>
        relay.yield %q : tensor<f32>
      }
      %r = relay.add(%a, %s) : (tensor<?xf32, #relay.dims<m>>, tensor<f32>) -> tensor<?xf32, #relay.dims<m>>
      relay.yield %r : tensor<?xf32, #relay.dims<m>>
    }
    relay.yield %g : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
  } else {
    %h = relay.fn(%a : tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>> {
      %r = relay.negative(%a) : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
      relay.yield %r : tensor<?xf32, #relay.dims<m>>
    }
    relay.yield %h : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
  }
  func.return %f : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
}
"""

# Branches of two ifs use a tensor whose extent is computed at run time; a negative extent is an error.
COMPUTED = """
func.func @main(%c: tensor<i1>, %d: tensor<i1>, %n: tensor<1xi64>, %v: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %w = relay.dyn.full(%v, %n) : (tensor<f32>, tensor<1xi64>) -> !relay.incomplete
  %a = relay.if %c : tensor<i1> -> tensor<f32> {
    %s = relay.sum(%w) : (!relay.incomplete) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    relay.yield %v : tensor<f32>
  }
  %b = relay.if %d : tensor<i1> -> tensor<f32> {
    %e = relay.negative(%w) : (!relay.incomplete) -> !relay.incomplete
    %s = relay.sum(%e) : (!relay.incomplete) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    relay.yield %v : tensor<f32>
  }
  func.return %a, %b : tensor<f32>, tensor<f32>
}
"""

# Branches of two ifs use a sum whose extents may not be broadcastable.
DEMANDED = """
!x = tensor<?xf32, #relay.dims<n>>
!y = tensor<?xf32, #relay.dims<m>>
func.func @main(%c: tensor<i1>, %d: tensor<i1>, %x: !x, %y: !y, %v: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %w = relay.add(%x, %y) : (!x, !y) -> !relay.incomplete
  %a = relay.if %c : tensor<i1> -> tensor<f32> {
    %s = relay.sum(%w) : (!relay.incomplete) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    relay.yield %v : tensor<f32>
  }
  %b = relay.if %d : tensor<i1> -> tensor<f32> {
    %s = relay.max(%w) : (!relay.incomplete) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    relay.yield %v : tensor<f32>
  }
  func.return %a, %b : tensor<f32>, tensor<f32>
}
"""

# A sum that may be invalid at the run's sizes extends the carried value in each iteration.
CARRIED = """
!x = tensor<?xf32, #relay.dims<n>>
!y = tensor<?xf32, #relay.dims<m>>
!k = tensor<?xf32, #relay.dims<k>>
func.func @main(%turns: tensor<i64>, %x: !x, %y: !y) -> !relay.incomplete {
  %l = relay.loop(%i, %c : !k = %x : !x) to %turns : tensor<i64> -> !relay.incomplete {
    %s = relay.add(%x, %y) : (!x, !y) -> !relay.incomplete
    %t = relay.tuple(%c, %s) : (!k, !relay.incomplete) -> !relay.incomplete
    %r = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
    %n = relay.tuple(%r) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %n : !relay.incomplete
  }
  %r = relay.tuple_get_item(%l) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
"""

# The type of a loop result's field fixes its length.
FIELD = """
!x = tensor<?xf32, #relay.dims<n>>
!k = tensor<?xf32, #relay.dims<k>>
func.func @main(%turns: tensor<i64>, %x: !x) -> tensor<f32> {
  %l = relay.loop(%i, %c : !k = %x : !x) to %turns : tensor<i64> -> !relay.incomplete {
    %t = relay.tuple(%c, %x) : (!k, !x) -> !relay.incomplete
    %r = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
    %n = relay.tuple(%r) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %n : !relay.incomplete
  }
  %r = relay.tuple_get_item(%l) {index = 0} : (!relay.incomplete) -> tensor<4xf32>
  %s = relay.sum(%r) : (tensor<4xf32>) -> tensor<f32>
  func.return %s : tensor<f32>
}
"""

# The callee never reads the positions; that there are as many as the other argument is long is demanded all the same.
UNREAD = """
func.func @main(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  %k = relay.argwhere(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  %r = relay.call @f(%k, %y) : (!relay.incomplete, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
func.func private @f(%x: tensor<?x1xi32, #relay.dims<k>>, %y: tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete {
  %0 = relay.exp(%y) : (tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
"""


# The first product proves the requirement of the second one, and its value is not used after a rewrite.
VANISHING = """
!x = tensor<1x?xf32, #relay.dims<n>>
!w = tensor<3x?xf32, #relay.dims<m>>
func.func @main(%x: !x, %w: !w) -> (tensor<f32>, !relay.incomplete) {
  %d = relay.nn.dense(%x, %w) : (!x, !w) -> !relay.incomplete
  %s = relay.sum(%d) : (!relay.incomplete) -> tensor<f32>
  %one = relay.constant dense<1.0> : tensor<f32>
  FIRST
  %e = relay.exp(%w) : (!w) -> !w
  %b = relay.nn.dense(%x, %e) : (!x, !w) -> !relay.incomplete
  func.return %r, %b : tensor<f32>, !relay.incomplete
}
func.func private @first(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  func.return %a : tensor<f32>
}
"""
FIRST = {
    "call": "%r = func.call @first(%one, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>",
    "tuple": """
  %t = relay.tuple(%one, %s) : (tensor<f32>, tensor<f32>) -> !relay.incomplete
  %r = relay.tuple_get_item(%t) {index = 0} : (!relay.incomplete) -> tensor<f32>""",
}


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("first", FIRST)
def test_a_requirement_is_checked_after_the_op_that_proved_it_vanishes(first: str, level: int) -> None:
    module = parse_module(full_context(), VANISHING.replace("FIRST", FIRST[first]), "vanishing.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    x = np.ones((1, 2), np.float32)
    np.testing.assert_allclose(model.run([x, np.zeros((3, 2), np.float32)])[1], [[2, 2, 2]])
    with pytest.raises(ExecutionError, match="n == m is 2 == 5"):
        model.run([x, np.ones((3, 5), np.float32)])


@pytest.mark.parametrize("level", [0, 3])
def test_an_extent_is_computed_for_a_demand_alone(level: int) -> None:
    module = parse_module(full_context(), UNREAD, "unread.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    for found, length in ((0, 0), (1, 1), (5, 5), (5, 3), (3, 5), (0, 2)):
        x, y = np.zeros(7, np.float32), np.arange(length, dtype=np.float32)
        x[:found] = 1
        for run in (model.run, partial(run_relay, module)):
            if found == length:
                np.testing.assert_allclose(run([x, y])[0], np.exp(y), rtol=1e-6)
                continue
            with pytest.raises((ExecutionError, InterpreterError), match=f"C0. argument extent.*{length} == {found}"):
                run([x, y])


@pytest.mark.parametrize("level", [0, 2])
def test_a_demand_on_what_one_branch_reads_is_checked(level: int) -> None:
    module = parse_module(full_context(), CAPTURED, "captured.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    for first, second, size, length in product((False, True), (False, True), (0, 1, 3), (0, 1, 5)):
        x, a = np.ones((size, size), np.float32), np.arange(length, dtype=np.float32)
        wanted = (a + (size * size if second else a.sum())) if first else -a
        for run in (model.run, partial(run_relay, module)):
            (function,) = run([np.array(first), np.array(second), x])
            np.testing.assert_array_equal(function(a)[0], wanted)


@pytest.mark.parametrize("level", [0, 2])
def test_an_extent_is_computed_in_the_branches_that_need_it(level: int) -> None:
    module = parse_module(full_context(), COMPUTED, "computed.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    for first, second, length in product((False, True), (False, True), (0, 1, 7)):
        for run in (model.run, partial(run_relay, module)):
            found = run(computed_inputs(first, second, length))
            assert [float(each) for each in found] == [2 * length if first else 2, -2 * length if second else 2]


@pytest.mark.parametrize("level", [0, 1, 3])
def test_a_negative_extent_fails_if_a_branch_uses_it(level: int) -> None:
    """Native code may report the error although no branch that is taken uses the tensor."""
    module = parse_module(full_context(), COMPUTED, "computed.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    assert [float(each) for each in run_relay(module, computed_inputs(False, False, -1))] == [2, 2]
    for run in (model.run, partial(run_relay, module)):
        for first, second in ((False, True), (True, False), (True, True)):
            with pytest.raises((ExecutionError, InterpreterError), match="-1"):
                run(computed_inputs(first, second, -1))


@pytest.mark.parametrize("level", [0, 1, 3])
def test_extents_that_do_not_fit_fail_if_a_branch_uses_the_sum(level: int) -> None:
    """Native code may report the error although no branch that is taken uses the sum."""
    module = parse_module(full_context(), DEMANDED, "demanded.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    for first, second, (n, m) in product((False, True), (False, True), ((2, 2), (1, 4), (2, 3))):
        x, y, v = np.ones(n, np.float32), np.ones(m, np.float32), np.array(7, np.float32)
        for run in (model.run, partial(run_relay, module)):
            if (n, m) == (2, 3) and run == model.run and not (first or second):
                continue
            if (n, m) == (2, 3) and (first or second):
                with pytest.raises((ExecutionError, InterpreterError), match=r"C2\] extents: broadcastable"):
                    run([np.array(first), np.array(second), x, y, v])
                continue
            found = run([np.array(first), np.array(second), x, y, v])
            assert [float(each) for each in found] == [2 * max(n, m) if first else 7, 2 if second else 7]


@pytest.mark.parametrize("level", [0, 2])
def test_what_extents_forbid_fails_in_the_turn_that_needs_it(level: int) -> None:
    module = parse_module(full_context(), CARRIED, "carried.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    for turns, (n, m) in product((0, 1, 3), ((2, 2), (1, 4), (2, 3))):
        x, y = np.ones(n, np.float32), np.ones(m, np.float32)
        for run in (model.run, partial(run_relay, module)):
            if (n, m) == (2, 3) and turns:
                with pytest.raises((ExecutionError, InterpreterError), match=r"C2\] extents: broadcastable"):
                    run([np.array(turns), x, y])
                continue
            (found,) = run([np.array(turns), x, y])
            np.testing.assert_array_equal(found, [1] * n + [2] * max(n, m) * turns)


@pytest.mark.parametrize("level", [0, 2])
def test_what_a_field_of_a_tuple_demands_is_checked(level: int) -> None:
    module = parse_module(full_context(), FIELD, "field.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    for turns, n in ((0, 4), (1, 2), (3, 1), (0, 0), (0, 3), (1, 4)):
        for run in (model.run, partial(run_relay, module)):
            if n * (turns + 1) == 4:
                assert float(run([np.array(turns), np.ones(n, np.float32)])[0]) == 4
                continue
            with pytest.raises((ExecutionError, InterpreterError), match=rf"C0\].*== 4 is {n * (turns + 1)} == 4"):
                run([np.array(turns), np.ones(n, np.float32)])


def computed_inputs(first: bool, second: bool, length: int) -> list[Array]:
    return [np.array(first), np.array(second), np.array([length]), np.array(2, np.float32)]
