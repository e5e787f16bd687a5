"""Functions that call themselves, several times or through others, in native code and the interpreter."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from support.levels import check_levels, run_passes
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.at_level import run_at_level
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

FUNCTIONS = """
!t = tensor<i64>
!b = tensor<i1>
!x = tensor<3xf32>
func.func private @fib(%n: !t) -> !t {
  %two = relay.constant dense<2> : !t
  %one = relay.constant dense<1> : !t
  %c = relay.less(%n, %two) : (!t, !t) -> !b
  %r = relay.if %c : !b -> !t {
    relay.yield %n : !t
  } else {
    %m = relay.subtract(%n, %one) : (!t, !t) -> !t
    %k = relay.subtract(%n, %two) : (!t, !t) -> !t
    %a = func.call @fib(%m) : (!t) -> !t
    %b = func.call @fib(%k) : (!t) -> !t
    %s = relay.add(%a, %b) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  func.return %r : !t
}
func.func private @ackermann(%m: !t, %n: !t) -> !t {
  %zero = relay.constant dense<0> : !t
  %one = relay.constant dense<1> : !t
  %a = relay.equal(%m, %zero) : (!t, !t) -> !b
  %r = relay.if %a : !b -> !t {
    %p = relay.add(%n, %one) : (!t, !t) -> !t
    relay.yield %p : !t
  } else {
    %k = relay.subtract(%m, %one) : (!t, !t) -> !t
    %e = relay.equal(%n, %zero) : (!t, !t) -> !b
    %i = relay.if %e : !b -> !t {
      relay.yield %one : !t
    } else {
      %l = relay.subtract(%n, %one) : (!t, !t) -> !t
      %q = func.call @ackermann(%m, %l) : (!t, !t) -> !t
      relay.yield %q : !t
    }
    %s = func.call @ackermann(%k, %i) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  func.return %r : !t
}
func.func private @even(%n: !t) -> !b {
  %zero = relay.constant dense<0> : !t
  %one = relay.constant dense<1> : !t
  %true = relay.constant dense<true> : !b
  %c = relay.equal(%n, %zero) : (!t, !t) -> !b
  %r = relay.if %c : !b -> !b {
    relay.yield %true : !b
  } else {
    %m = relay.subtract(%n, %one) : (!t, !t) -> !t
    %o = func.call @odd(%m) : (!t) -> !b
    relay.yield %o : !b
  }
  func.return %r : !b
}
func.func private @odd(%n: !t) -> !b {
  %zero = relay.constant dense<0> : !t
  %one = relay.constant dense<1> : !t
  %false = relay.constant dense<false> : !b
  %c = relay.equal(%n, %zero) : (!t, !t) -> !b
  %r = relay.if %c : !b -> !b {
    relay.yield %false : !b
  } else {
    %m = relay.subtract(%n, %one) : (!t, !t) -> !t
    %o = func.call @even(%m) : (!t) -> !b
    relay.yield %o : !b
  }
  func.return %r : !b
}
// Each level adds the row of weights to both of its subtrees: the sum over the leaves follows from binomials.
func.func private @tree(%n: !t, %x: !x) -> !x {
  %zero = relay.constant dense<0> : !t
  %one = relay.constant dense<1> : !t
  %w = relay.constant dense<[1.0, 2.0, 3.0]> : !x
  %c = relay.less_equal(%n, %zero) : (!t, !t) -> !b
  %r = relay.if %c : !b -> !x {
    relay.yield %x : !x
  } else {
    %m = relay.subtract(%n, %one) : (!t, !t) -> !t
    %p = relay.multiply(%x, %w) : (!x, !x) -> !x
    %a = func.call @tree(%m, %p) : (!t, !x) -> !x
    %b = func.call @tree(%m, %x) : (!t, !x) -> !x
    %s = relay.add(%a, %b) : (!x, !x) -> !x
    relay.yield %s : !x
  }
  func.return %r : !x
}
// The calls stand in a loop, where what is carried goes through the frame.
func.func private @in_loop(%n: !t, %x: !t) -> !t {
  %one = relay.constant dense<1> : !t
  %l = relay.loop(%i, %s = %x : !t) to %n : !t -> tuple<!t> {
    %m = relay.subtract(%n, %one) : (!t, !t) -> !t
    %t = relay.add(%s, %i) : (!t, !t) -> !t
    %a = func.call @in_loop(%m, %t) : (!t, !t) -> !t
    %u = relay.add(%a, %one) : (!t, !t) -> !t
    %y = relay.tuple(%u) : (!t) -> tuple<!t>
    relay.yield %y : tuple<!t>
  }
  %r = relay.tuple_get_item(%l) {index = 0} : (tuple<!t>) -> !t
  func.return %r : !t
}
"""

MAIN = """
func.func @main(%n: !t, %d: !t, %x: !x) -> (!t, !t, !b, !x, !t) {
  %two = relay.constant dense<2> : !t
  %0 = func.call @fib(%n) : (!t) -> !t
  %1 = func.call @ackermann(%two, %n) : (!t, !t) -> !t
  %2 = func.call @even(%d) : (!t) -> !b
  %3 = func.call @tree(%n, %x) : (!t, !x) -> !x
  %4 = func.call @in_loop(%two, %n) : (!t, !t) -> !t
  func.return %0, %1, %2, %3, %4 : !t, !t, !b, !x, !t
}
"""

DEEP = """
!t = tensor<i64>
!b = tensor<i1>
func.func @main(%n: !t) -> !t {
  %0 = func.call @NAME(%n) : (!t) -> !t
  func.return %0 : !t
}
func.func private @both(%n: !t) -> !t {
  %zero = relay.constant dense<0> : !t
  %one = relay.constant dense<1> : !t
  %c = relay.equal(%n, %zero) : (!t, !t) -> !b
  %r = relay.if %c : !b -> !t {
    relay.yield %zero : !t
  } else {
    %m = relay.subtract(%n, %one) : (!t, !t) -> !t
    %a = func.call @both(%m) : (!t) -> !t
    %b = func.call @both(%zero) : (!t) -> !t
    %s = relay.add(%a, %b) : (!t, !t) -> !t
    %t = relay.add(%s, %one) : (!t, !t) -> !t
    relay.yield %t : !t
  }
  func.return %r : !t
}
"""

GROWING = """
!t = tensor<i64>
!q = tensor<?x?xf32, #relay.dims<m, n>>
!r = tensor<?x?xf32, #relay.dims<k, n>>
func.func @main(%fuel: !t, %q: !q) -> tensor<f32> {
  %r = relay.call @f(%fuel, %q) : (!t, !q) -> !relay.incomplete
  %s = relay.sum(%r) : (!relay.incomplete) -> tensor<f32>
  func.return %s : tensor<f32>
}
func.func private @f(%fuel: !t, %q: !q) -> !r {
  %one = relay.constant dense<1> : !t
  %zero = relay.constant dense<0> : !t
  %go = relay.greater(%fuel, %zero) : (!t, !t) -> tensor<i1>
  %r = relay.if %go : tensor<i1> -> !r {
    %c = relay.negative(%q) : (!q) -> !q
    %less = relay.subtract(%fuel, %one) : (!t, !t) -> !t
    %more = relay.call @f(%less, %c) : (!t, !q) -> !relay.incomplete
    %both = relay.tuple(%more, %c) : (!relay.incomplete, !q) -> !relay.incomplete
    %joined = relay.concatenate(%both) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %joined : !relay.incomplete
  } else {
    relay.yield %q : !q
  }
  func.return %r : !r
}
"""


def typed(text: str) -> ModuleOp:
    module = parse_module(full_context(), text, "test.mlir")
    infer_types(module)
    return module


def in_loop(n: int, x: int) -> int:
    for number in range(n):
        x = in_loop(n - 1, x + number) + 1
    return x


def test_all_kinds_of_recursion_are_the_same_natively() -> None:
    module = typed(FUNCTIONS + MAIN)
    model = xrelay.compile(module, cache=False, threads=1)
    fibonacci = [0, 1, 1, 2, 3, 5, 8]
    row = np.array([0.5, -1, 3], np.float32)
    for n, d in ((0, 0), (1, 1), (6, 11)):
        inputs = [np.array(n), np.array(d), row]
        found, wanted = model.run(inputs), run_relay(module, inputs)
        for array, want in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(array, want)
        leaves = sum(comb(n, k) * row * np.array([1, 2**k, 3**k], np.float32) for k in range(n + 1))
        assert [int(each) for each in found[:3]] == [fibonacci[n], 2 * n + 3, d % 2 == 0]
        np.testing.assert_array_equal(found[3], leaves)
        assert found[4] == in_loop(2, n)


def test_all_kinds_of_recursion_are_the_same_at_all_levels() -> None:
    check_levels(typed(FUNCTIONS + MAIN), [np.array(3), np.array(4), np.ones(3, np.float32)])


def test_a_recursion_may_be_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    module = typed(DEEP.replace("NAME", "both"))
    model = xrelay.compile(module, cache=False, threads=1)
    assert model(np.array(99_990))[0] == 99_990
    model.memory_limit = 200_000  # frames count as memory of a run
    assert model(np.array(500))[0] == 500
    message = "^test.mlir:8:1: out of memory: the run needs [0-9]+ bytes, memory_limit is 200000$"
    with pytest.raises(ExecutionError, match=message):
        model(np.array(99_990))
    assert model(np.array(500))[0] == 500
    monkeypatch.setenv("XRELAY_CALL_LIMIT", "1000")
    limited = xrelay.compile(module, cache=False, threads=1)
    assert limited(np.array(998))[0] == 998 == run_relay(module, [np.array(998)])[0]
    said = "@both: more than 1000 .* calls"
    for _ in range(2):
        with pytest.raises(ExecutionError, match=said):
            limited(np.array(1000))
    with pytest.raises(InterpreterError, match=said):
        run_relay(module, [np.array(1000)])
    assert limited(np.array(5))[0] == 5


def test_interpreters_of_lower_levels_have_the_same_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_CALL_LIMIT", "200")
    topi = typed(DEEP.replace("NAME", "both"))
    run_passes(topi, "relay-to-basic-block-normal-form,relay-outline-fused,convert-relay-to-topi")
    loop = topi.clone()
    run_passes(loop, "convert-topi-to-loop")
    for level, module in (("topi", topi), ("loop", loop)):
        assert run_at_level(level, module, "main", [np.array(199)])[0] == 199
        with pytest.raises(InterpreterError, match=r"@both: more than 200"):
            run_at_level(level, module, "main", [np.array(200)])


def test_a_recursion_that_is_a_loop_has_the_same_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless recursion would become an endless loop."""
    monkeypatch.setenv("XRELAY_CALL_LIMIT", "1000")
    one = "    %b = func.call @both(%zero) : (!t) -> !t\n    %s = relay.add(%a, %b) : (!t, !t) -> !t\n"
    module = typed(DEEP.replace("NAME", "both").replace(one, "").replace("relay.add(%s, %one)", "relay.add(%a, %one)"))
    model = xrelay.compile(module, cache=False, threads=1)
    assert model(np.array(999))[0] == 999 == run_relay(module, [np.array(999)])[0]
    said = "@both: more than 1000 .* calls"
    for n in (1000, -1):
        with pytest.raises(ExecutionError, match=said):
            model(np.array(n))
        with pytest.raises(InterpreterError, match=said):
            run_relay(module, [np.array(n)])


def test_a_recursion_can_be_ended() -> None:
    text = DEEP.replace("func.call @both(%zero)", "func.call @both(%m)").replace("NAME", "both")
    model = xrelay.compile(typed(text), cache=False, threads=1)
    with pytest.raises(ExecutionError, match="took longer"):
        model.run([np.array(60)], timeout=0.2)
    assert model(np.array(3))[0] == 2**3 - 1


def test_what_only_callees_allocate_is_freed_as_they_allocated_it() -> None:
    module = typed(GROWING)
    model = xrelay.compile(module, cache=False, threads=1)
    for fuel, shape in ((0, (2, 2)), (3, (2, 2)), (2, (3, 0)), (1, (3, 1)), (2, (0, 2))):
        inputs = [np.array(fuel), np.arange(np.prod(shape), dtype=np.float32).reshape(shape)]
        np.testing.assert_array_equal(model.run(inputs)[0], run_relay(module, inputs)[0])
