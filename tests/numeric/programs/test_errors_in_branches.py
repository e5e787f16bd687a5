"""An op in a branch or in the body of a loop reports an error only if it runs; one outside of them may always do so."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module

BRANCH = """
func.func @main(%x: tensor<4xi32>, %n: tensor<i64>) -> tensor<i32> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %other = relay.constant dense<-1> : tensor<i32>
  %c = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  BEFORE
  %r = relay.if %c : tensor<i1> -> tensor<i32> {
    INSIDE
    relay.yield %g : tensor<i32>
  } else {
    relay.yield %other : tensor<i32>
  }
  func.return %r : tensor<i32>
}
"""
TAKE = """
  %i = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %g = relay.take(%x, %i) {axis = 0, mode = "raise"} : (tensor<4xi32>, tensor<i64>) -> tensor<i32>
"""


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("place", ["BEFORE", "INSIDE"])
def test_an_index_of_a_branch_is_checked_if_the_branch_is_taken(place: str, level: int) -> None:
    text = BRANCH.replace(place, TAKE).replace("BEFORE", "").replace("INSIDE", "")
    module = parse_module(full_context(), text, "branch.mlir")
    native = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    x = np.arange(4, dtype=np.int32)
    for run in (native.run, partial(run_relay, module)):
        assert [int(run([x, np.array(n)])[0]) for n in (4, 1, 0, -9)] == [3, 0, -1, -1]
        with pytest.raises((ExecutionError, InterpreterError), match="out of"):
            run([x, np.array(5)])


LOOP = """
func.func @main(%x: tensor<i32>, %y: tensor<i32>, %n: tensor<i64>) -> tuple<tensor<i32>> {
  %r = relay.loop(%i, %s = %x : tensor<i32>) to %n : tensor<i64> -> tuple<tensor<i32>> {
    %q = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %a = relay.add(%s, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = relay.tuple(%a) : (tensor<i32>) -> tuple<tensor<i32>>
    relay.yield %t : tuple<tensor<i32>>
  }
  func.return %r : tuple<tensor<i32>>
}
"""


@pytest.mark.parametrize("level", range(4))
def test_the_body_of_a_loop_without_iterations_reports_no_error(level: int) -> None:
    module = parse_module(full_context(), LOOP, "loop.mlir")
    native = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    for run in (native.run, partial(run_relay, module)):
        for y, n, wanted in ((0, 0, 7), (2, 2, 13)):
            found = run([np.array(7, np.int32), np.array(y, np.int32), np.array(n)])
            assert np.array(found).item() == wanted
        with pytest.raises((ExecutionError, InterpreterError), match="zero"):
            run([np.array(7, np.int32), np.array(0, np.int32), np.array(1)])


QUOTIENT = """
func.func @main(%x: tensor<i32>, %y: tensor<i32>, %c: tensor<i1>, %d: tensor<i1>) -> tensor<i32> {
  %q = relay.OP(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %a = relay.if %c : tensor<i1> -> tensor<i32> {
    relay.yield %q : tensor<i32>
  } else {
    relay.yield %x : tensor<i32>
  }
  %b = relay.if %d : tensor<i1> -> tensor<i32> {
    relay.yield %q : tensor<i32>
  } else {
    relay.yield %a : tensor<i32>
  }
  func.return %b : tensor<i32>
}
"""


@pytest.mark.parametrize("op", ["divide", "mod", "floor_divide", "floor_mod", "trunc_divide", "trunc_mod"])
def test_a_division_outside_of_branches_may_report_its_error(op: str) -> None:
    """Two branches use the quotient. Native code computes it before them, the interpreter when a branch needs it."""
    module = parse_module(full_context(), QUOTIENT.replace("OP", op), "quotient.mlir")
    native, numbers = xrelay.compile(module, cache=False, threads=1), [np.array(7, np.int32), np.array(0, np.int32)]
    assert run_relay(module, [*numbers, np.array(False), np.array(False)])[0] == 7
    with pytest.raises(ExecutionError, match="zero"):
        native.run([*numbers, np.array(False), np.array(False)])
    for run in (native.run, partial(run_relay, module)):
        for taken in ((True, False), (False, True)):
            with pytest.raises((ExecutionError, InterpreterError), match="zero"):
                run([*numbers, *map(np.array, taken)])
