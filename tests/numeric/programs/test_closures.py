"""Closures as carried values, branch results, arguments and results: native code agrees with the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from support.levels import check_levels, run_passes
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.errors import ExecutionError, InputError, InterpreterError, LoweringError, PassError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

TYPES = """
!t = tensor<3xf32>
!n = tensor<i64>
!f = (!t) -> !t
!g = (!t) -> ((!t) -> !t)
"""

# Each iteration wraps the closure of the one before: the length of the chain is known only at run time.
CHAIN = """
func.func SYMBOL(%x: !t, %n: !n) -> !t {
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.add(%a, %x) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %r = relay.loop(%i, %g : !f = %f : !f, %v : !t = %x : !t) to %n : !n -> tuple<!f, !t> {
    %w = relay.invoke %g(%v) : (!t) -> !t
    %h = relay.fn(%a : !t) -> !t {
      %m = relay.subtract(%a, %w) : (!t, !t) -> !t
      %k = relay.invoke %g(%m) : (!t) -> !t
      relay.yield %k : !t
    }
    %y = relay.tuple(%h, %w) : (!f, !t) -> tuple<!f, !t>
    relay.yield %y : tuple<!f, !t>
  }
  %e = relay.tuple_get_item(%r) {index = 0} : (tuple<!f, !t>) -> ((!t) -> !t)
  %z = relay.invoke %e(%x) : (!t) -> !t
  func.return %z : !t
}
"""

REST = """
// Calls itself in two places, and uses what lies around it.
func.func private @recursive(%x: !t, %n: !n) -> !t {
  %one = relay.constant dense<1> : !n
  %e = relay.exp(%x) : (!t) -> !t
  %f = relay.fn rec(%self)(%a : !t, %k : !n) -> !t {
    %c = relay.less(%k, %one) : (!n, !n) -> tensor<i1>
    %r = relay.if %c : tensor<i1> -> !t {
      relay.yield %a : !t
    } else {
      %m = relay.subtract(%k, %one) : (!n, !n) -> !n
      %b = relay.invoke %self(%a, %m) : (!t, !n) -> !t
      %d = relay.invoke %self(%b, %m) : (!t, !n) -> !t
      %s = relay.add(%d, %e) : (!t, !t) -> !t
      relay.yield %s : !t
    }
    relay.yield %r : !t
  }
  %y = relay.invoke %f(%x, %n) : (!t, !n) -> !t
  func.return %y : !t
}

// A function that is not inlined gets closures: one of the caller's, and its own.
func.func private @times(%f: !f, %x: !t, %n: !n) -> !t {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %r = relay.if %c : tensor<i1> -> !t {
    relay.yield %x : !t
  } else {
    %m = relay.subtract(%n, %one) : (!n, !n) -> !n
    %a = relay.invoke %f(%x) : (!t) -> !t
    %b = func.call @times(%f, %a, %m) : (!f, !t, !n) -> !t
    %g = relay.fn(%z : !t) -> !t {
      %q = relay.add(%z, %a) : (!t, !t) -> !t
      %q2 = relay.invoke %f(%q) : (!t) -> !t
      relay.yield %q2 : !t
    }
    %d = func.call @times(%g, %b, %m) : (!f, !t, !n) -> !t
    relay.yield %d : !t
  }
  func.return %r : !t
}
func.func private @handed_over(%x: !t, %n: !n) -> !t {
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.tanh(%a) : (!t) -> !t
    %s2 = relay.add(%s, %x) : (!t, !t) -> !t
    relay.yield %s2 : !t
  }
  %y = func.call @times(%f, %x, %n) : (!f, !t, !n) -> !t
  func.return %y : !t
}

// A chosen function in a tuple; a tuple is captured.
func.func private @chosen(%x: !t, %n: !n) -> !t {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %w = relay.exp(%x) : (!t) -> !t
  %p = relay.tuple(%w, %x) : (!t, !t) -> tuple<!t, !t>
  %f = relay.fn(%a : !t) -> !t {
    %p0 = relay.tuple_get_item(%p) {index = 1} : (tuple<!t, !t>) -> !t
    %s = relay.add(%a, %p0) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %g = relay.if %c : tensor<i1> -> tuple<!f, !t> {
    %t = relay.tuple(%f, %x) : (!f, !t) -> tuple<!f, !t>
    relay.yield %t : tuple<!f, !t>
  } else {
    %h = relay.fn rec(%me)(%a : !t) -> !t {
      %s = relay.multiply(%a, %w) : (!t, !t) -> !t
      relay.yield %s : !t
    }
    %t = relay.tuple(%h, %w) : (!f, !t) -> tuple<!f, !t>
    relay.yield %t : tuple<!f, !t>
  }
  %k = relay.tuple_get_item(%g) {index = 0} : (tuple<!f, !t>) -> ((!t) -> !t)
  %v = relay.tuple_get_item(%g) {index = 1} : (tuple<!f, !t>) -> !t
  %l = relay.let "l" = %k : !f
  %y = relay.invoke %l(%v) : (!t) -> !t
  func.return %y : !t
}

// Gives closures, and hands itself on.
func.func private @nested(%x: !t, %n: !n) -> !t {
  %add = relay.fn rec(%self)(%a : !t) -> !f {
    %i = relay.fn(%b : !t) -> !t {
      %s = relay.add(%a, %b) : (!t, !t) -> !t
      %l = relay.loop(%j, %p : !g = %self : !g, %v : !t = %s : !t) to %n : !n -> tuple<!g, !t> {
        %m = relay.multiply(%v, %x) : (!t, !t) -> !t
        %y = relay.tuple(%p, %m) : (!g, !t) -> tuple<!g, !t>
        relay.yield %y : tuple<!g, !t>
      }
      %o = relay.tuple_get_item(%l) {index = 1} : (tuple<!g, !t>) -> !t
      relay.yield %o : !t
    }
    relay.yield %i : !f
  }
  %mul = relay.fn(%a : !t) -> !f {
    %e = relay.tanh(%a) : (!t) -> !t
    %i = relay.fn(%b : !t) -> !t {
      %s = relay.multiply(%e, %b) : (!t, !t) -> !t
      relay.yield %s : !t
    }
    relay.yield %i : !f
  }
  %r = relay.loop(%i, %p : !g = %add : !g, %q : !g = %mul : !g, %v : !t = %x : !t) to %n : !n -> tuple<!g, !g, !t> {
    %h = relay.invoke %p(%v) : (!t) -> ((!t) -> !t)
    %w = relay.invoke %h(%x) : (!t) -> !t
    %y = relay.tuple(%q, %p, %w) : (!g, !g, !t) -> tuple<!g, !g, !t>
    relay.yield %y : tuple<!g, !g, !t>
  }
  %w = relay.tuple_get_item(%r) {index = 2} : (tuple<!g, !g, !t>) -> !t
  func.return %w : !t
}

func.func @main(%x: !t, %n: !n) -> (!t, !t, !t, !t, !t) {
  %0 = func.call @chain(%x, %n) : (!t, !n) -> !t
  %1 = func.call @recursive(%x, %n) : (!t, !n) -> !t
  %2 = func.call @handed_over(%x, %n) : (!t, !n) -> !t
  %3 = func.call @chosen(%x, %n) : (!t, !n) -> !t
  %4 = func.call @nested(%x, %n) : (!t, !n) -> !t
  func.return %0, %1, %2, %3, %4 : !t, !t, !t, !t, !t
}
"""

X = np.array([1.0, -0.5, 0.25], np.float32)

Run: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]
"""Runs a program on inputs."""


def program(text: str) -> ModuleOp:
    module = parse_module(full_context(), TYPES + text, "closures.mlir")
    infer_types(module)
    return module


def test_closures_that_escape_run_natively() -> None:
    module = program(CHAIN.replace("SYMBOL", "private @chain") + REST)
    model = xrelay.compile(module, cache=False, threads=1)
    for n in (0, 1, 3):
        inputs = [X, np.array(n)]
        np.testing.assert_allclose(model.run(inputs), run_relay(module, inputs), rtol=1e-4, atol=1e-4)


def test_levels_agree_on_closures() -> None:
    module = program(CHAIN.replace("SYMBOL", "@main"))
    run_passes(module, "relay-lift-closures")
    check_levels(module, [X, np.array(2)])


def test_a_captured_value_may_have_any_extents() -> None:
    text = CHAIN.replace("SYMBOL", "@main").replace("!t", "tensor<?xf32, #relay.dims<n>>")
    named = "!f = (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>\n!n = tensor<i64>\n"
    module = parse_module(full_context(), named + text, "closures.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1)
    for size in (0, 1, 7):
        inputs = [np.linspace(-1, 1, size, dtype=np.float32), np.array(2)]
        np.testing.assert_allclose(model.run(inputs), run_relay(module, inputs), rtol=1e-5, atol=1e-6)


PRODUCTS = """
!m = tensor<?x?xf32, #relay.dims<n, m>>
!a = tensor<?x?xf32, #relay.dims<a, b>>
!s = tensor<?xf32, #relay.dims<s>>
func.func @main(%x: !m, %k: tensor<i64>) -> ((!a) -> !a) {
  %g = relay.fn(%y : !a) -> !a {
    %r = relay.reshape(%y) {newshape = [-1]} : (!a) -> tensor<?xf32, #relay.dims<a * b>>
    %f = relay.fn rec(%self)(%i : tensor<i64>, %q : !s) -> !s {
      %one = relay.constant dense<1> : tensor<i64>
      %c = relay.less(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %e = relay.if %c : tensor<i1> -> !s {
        relay.yield %q : !s
      } else {
        %t = relay.sum(%r) : (tensor<?xf32, #relay.dims<a * b>>) -> tensor<f32>
        %z = relay.add(%q, %t) : (!s, tensor<f32>) -> !s
        %d = relay.subtract(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
        %v = relay.invoke %self(%d, %z) : (tensor<i64>, !s) -> !s
        %w = relay.invoke %self(%d, %v) : (tensor<i64>, !s) -> !s
        relay.yield %w : !s
      }
      relay.yield %e : !s
    }
    %h = relay.reshape(%x) {newshape = [-1]} : (!m) -> tensor<?xf32, #relay.dims<m * n>>
    %o = relay.invoke %f(%k, %h) : (tensor<i64>, tensor<?xf32, #relay.dims<m * n>>)
      -> tensor<?xf32, #relay.dims<m * n>> of (tensor<i64>, !s) -> !s
    %p = relay.sum(%o) : (tensor<?xf32, #relay.dims<m * n>>) -> tensor<f32>
    %u = relay.add(%y, %p) : (!a, tensor<f32>) -> !a
    relay.yield %u : !a
  }
  func.return %g : (!a) -> !a
}
"""


def test_a_captured_extent_may_be_a_product() -> None:
    """A product of names that other values define: these names are captured too."""
    module = parse_module(full_context(), PRODUCTS, "products.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1)
    for shape, other, k in product(((0, 3), (2, 3), (1, 1)), ((2, 2), (3, 0)), (0, 2)):
        y = np.ones(other, np.float32)
        inputs = [np.full(shape, 0.5, np.float32), np.array(k)]
        np.testing.assert_allclose(model.run(inputs)[0](y), run_relay(module, inputs)[0](y), rtol=1e-5)


CHOSEN = """
// A loop calls one of two closures, one of which captures a quotient.
func.func @main(%c: tensor<i1>, %x: tensor<i32>, %y: tensor<i32>, %n: !n) -> tensor<i32> {
  %q = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %g = relay.if %c : tensor<i1> -> (tensor<i32>) -> tensor<i32> {
    %f = relay.fn(%a : tensor<i32>) -> tensor<i32> {
      %s = relay.add(%a, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    }
    relay.yield %f : (tensor<i32>) -> tensor<i32>
  } else {
    %h = relay.fn(%a : tensor<i32>) -> tensor<i32> {
      %s = relay.add(%a, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    }
    relay.yield %h : (tensor<i32>) -> tensor<i32>
  }
  %l = relay.loop(%i, %v : tensor<i32> = %x : tensor<i32>) to %n : !n -> tuple<tensor<i32>> {
    %w = relay.invoke %g(%v) : (tensor<i32>) -> tensor<i32>
    %t = relay.tuple(%w) : (tensor<i32>) -> tuple<tensor<i32>>
    relay.yield %t : tuple<tensor<i32>>
  }
  %r = relay.tuple_get_item(%l) {index = 0} : (tuple<tensor<i32>>) -> tensor<i32>
  func.return %r : tensor<i32>
}
"""


def test_what_a_closure_captures_is_computed_where_it_is_chosen() -> None:
    module = program(CHOSEN)
    model = xrelay.compile(module, cache=False, threads=1)
    for chosen, divisor, n in product((True, False), (0, 3), (0, 2)):
        inputs = [np.array(chosen), np.array(7, np.int32), np.array(divisor, np.int32), np.array(n)]
        if chosen and divisor == 0:
            for run in (model.run, partial(run_relay, module)):
                with pytest.raises((ExecutionError, InterpreterError), match=r"division by zero|divisor"):
                    run(inputs)
        else:
            assert model.run(inputs) == run_relay(module, inputs) == [7 + n * (7 // 3 if chosen else 7)]


GIVING = """
// As in the articles: a closure over log(x), and one that gives another.
func.func @main(%x: !t, %c: tensor<i1>) -> (!f, !t, (!t) -> ((!t, !n) -> !t)) {
  %1 = relay.log(%x) : (!t) -> !t
  %2 = relay.fn(%y : !t) -> !t {
    %s = relay.add(%y, %1) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %3 = relay.fn(%y : !t) -> !t {
    %s = relay.multiply(%y, %1) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %g = relay.if %c : tensor<i1> -> !f {
    relay.yield %2 : !f
  } else {
    relay.yield %3 : !f
  }
  %h = relay.fn(%y : !t) -> (!t, !n) -> !t {
    %w = relay.fn(%a : !t, %n : !n) -> !t {
      %l = relay.loop(%i, %v : !t = %a : !t) to %n : !n -> tuple<!t> {
        %m = relay.invoke %g(%v) : (!t) -> !t
        %o = relay.subtract(%m, %y) : (!t, !t) -> !t
        %p = relay.tuple(%o) : (!t) -> tuple<!t>
        relay.yield %p : tuple<!t>
      }
      %o = relay.tuple_get_item(%l) {index = 0} : (tuple<!t>) -> !t
      relay.yield %o : !t
    }
    relay.yield %w : (!t, !n) -> !t
  }
  func.return %g, %1, %h : !f, !t, (!t) -> ((!t, !n) -> !t)
}
"""


@pytest.fixture(scope="module")
def giving() -> xrelay.CompiledModel:
    """The model of `GIVING`."""
    return xrelay.compile(program(GIVING), cache=False, threads=1)


def test_a_model_gives_functions(giving: xrelay.CompiledModel, tmp_path: Path) -> None:
    module, model = program(GIVING), giving
    path, y = tmp_path / "giving.xrelay", np.array([0.5, 2.0, -1.0], np.float32)
    model.save(path)
    assert str(model.outputs[0]) == "function"
    for each in (model, xrelay.load(path)):
        for c in (True, False):
            inputs = [np.array([1, 2, 3], np.float32), np.array(c)]
            found, expected = each.run(inputs), run_relay(module, inputs)
            np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)
            np.testing.assert_allclose(found[0](y), expected[0](y), rtol=1e-5)
            (inner,), (wanted,) = found[2](y), expected[2](y)
            assert [spec.name for spec in inner.inputs] == ["input0", "input1"]
            # The closure owns its captured values: the next run reuses the model's memory.
            model.run([y, np.array(True)])
            for n in (0, 3):
                np.testing.assert_allclose(inner(y, np.array(n)), wanted(y, np.array(n)), rtol=1e-4)


def test_stages_show_the_programs_of_returned_functions(tmp_path: Path) -> None:
    x, n = np.abs(X), np.array(2)
    (expected,) = run_relay(module := program(GIVING), [x, np.array(True)])[2](X)
    xrelay.compile(module, cache=False, threads=1, dump_stages=tmp_path)
    assert (tmp_path / "02_lifted.mlir").read_text().count("relay.callers") == 2
    for folder in (".", "function0", "function1", "function1/function0"):
        assert (tmp_path / folder / "03_optimized.mlir").read_text().count("func.func @") == 1
    (inner,) = xrelay.compile(tmp_path / "02_lifted.mlir", cache=False, threads=1)(x, np.array(True))[2](X)
    np.testing.assert_allclose(inner(X, n), expected(X, n), rtol=1e-4)
    with pytest.raises(LoweringError, match=r"is a closure whose program is missing"):
        xrelay.compile(tmp_path / "03_optimized.mlir", cache=False)


def test_functions_are_given_what_they_take(giving: xrelay.CompiledModel) -> None:
    x = np.abs(X)
    function = giving(x, np.array(True))[0]
    with pytest.raises(InputError, match="the function takes 1 inputs, got 2"):
        function(X, X)
    with pytest.raises(InputError, match=r"input 'input0': expected float32\[3\], got float32\[4\]"):
        function(np.zeros(4, np.float32))
    with pytest.raises(InputError, match="expected float32"):
        function(function)
    np.testing.assert_allclose(function.run({"input0": X + 1})[0], X + 1 + np.log(x), rtol=1e-5)


def test_compiled_models_take_no_functions() -> None:
    """A parameter that is a function is rejected, however it is used."""
    for body in ("%y = relay.invoke %f(%x) : (!t) -> !t", "%y = relay.negative(%x) : (!t) -> !t"):
        text = f"func.func @main(%f: !f, %x: !t) -> !t {{\n{body}\nfunc.return %y : !t\n}}"
        with pytest.raises(LoweringError, match=r"input 'f' of @main is a function, .*: .*"):
            xrelay.compile(program(text), cache=False)


TAKING = """
// A function that doubles others, one that calls one, and one to be given.
func.func @main(%x: !t) -> (!f, (!f) -> !t, (!f) -> !f) {
  %g = relay.fn(%a : !t) -> !t {
    %s = relay.add(%a, %x) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %h = relay.fn(%k : !f) -> !t {
    %y = relay.invoke %k(%x) : (!t) -> !t
    relay.yield %y : !t
  }
  %c = relay.fn(%k : !f) -> !f {
    %w = relay.fn(%a : !t) -> !t {
      %y = relay.invoke %k(%a) : (!t) -> !t
      %z = relay.invoke %k(%y) : (!t) -> !t
      relay.yield %z : !t
    }
    relay.yield %w : !f
  }
  func.return %g, %h, %c : !f, (!f) -> !t, (!f) -> !f
}
"""


@pytest.fixture(scope="module")
def taking() -> xrelay.CompiledModel:
    """The model of `TAKING`."""
    return xrelay.compile(program(TAKING), cache=False, threads=1)


@pytest.mark.parametrize("way", ["interpreted", "native", "loaded"])
def test_functions_take_functions_of_their_program(way: str, taking: xrelay.CompiledModel, tmp_path: Path) -> None:
    run: Run = partial(run_relay, program(TAKING)) if way == "interpreted" else taking.run
    if way == "loaded":
        taking.save(tmp_path / "taking.xrelay")
        run = xrelay.load(tmp_path / "taking.xrelay").run
    add, call, twice = run([X])
    np.testing.assert_array_equal(call(add)[0], X + X)
    np.testing.assert_array_equal(call(twice(add)[0])[0], X + X + X)
    np.testing.assert_array_equal(twice(run([X + 1])[0])[0](X)[0], X + 2 * (X + 1))


def test_interpreted_functions_take_no_others() -> None:
    _, call, twice = run_relay(program(TAKING), [X])
    other = run_relay(program(TAKING), [X])[0]
    for given, found in ((twice, "a function .*"), (X, "float32.*"), (len, "builtin.*"), (other, "a function .*")):
        with pytest.raises(InputError, match=f"is {found}, must be a function .* returned by this program"):
            call(given)


def test_compiled_functions_take_no_others(taking: xrelay.CompiledModel) -> None:
    model, other = taking, xrelay.compile(program(TAKING), cache=False, threads=1)
    _, call, twice = model(X)
    type = r"\(tensor<3xf32>\) -> tensor<3xf32>"
    for given, found in ((twice, "one of .*"), (X, "ndarray"), (len, "builtin.*"), (None, "nothing")):
        with pytest.raises(InputError, match=f"input 'input0': expected a function {type}, got {found}$"):
            call(given)
    with pytest.raises(InputError, match=r"a function.*another.*model"):
        call.run({"input0": other(X)[0]})
    np.testing.assert_array_equal(call.run({"input0": model(X)[0]})[0], X + X)


NAMED = """
!v = tensor<?xf32, #relay.dims<n>>
!p = (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
!w = (tensor<?xf32, #relay.dims<n>>) -> tensor<?x1xi32>
func.func @main(%x: !v) -> (!p, !w, (!p) -> !v, (!w) -> tensor<?x1xi32>) {
  %g = relay.fn(%a : !v) -> !v {
    %s = relay.add(%a, %x) : (!v, !v) -> !v
    relay.yield %s : !v
  }
  %m = relay.fn(%a : !v) -> tensor<?x1xi32> {
    %s = relay.add(%a, %x) : (!v, !v) -> !v
    %w = relay.argwhere(%s) : (!v) -> tensor<?x1xi32>
    relay.yield %w : tensor<?x1xi32>
  }
  %h = relay.fn(%k : !p) -> !v {
    %y = relay.invoke %k(%x) : (!v) -> !v
    relay.yield %y : !v
  }
  %i = relay.fn(%k : !w) -> tensor<?x1xi32> {
    %y = relay.invoke %k(%x) : (!v) -> tensor<?x1xi32>
    relay.yield %y : tensor<?x1xi32>
  }
  func.return %g, %m, %h, %i : !p, !w, (!p) -> !v, (!w) -> tensor<?x1xi32>
}
"""


def test_functions_that_are_given_know_their_extents() -> None:
    module = parse_module(full_context(), NAMED, "named.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1)
    for size, other in product((0, 1, 5), (0, 1, 4, 5)):
        for run in (model.run, partial(run_relay, module)):
            x = np.arange(size, dtype=np.float32)
            add, where, call, find = run([x])
            np.testing.assert_array_equal(call(add)[0], 2 * x)
            np.testing.assert_array_equal(find(where)[0].ravel(), np.flatnonzero(x))
            if size != other:
                foreign = run([np.ones(other, np.float32)])[0]
                with pytest.raises((ExecutionError, InterpreterError), match=f"is {size} == {other}|is {size}, "):
                    call(foreign)


# The closure captures a nested tuple whose extents are computed at run time.
IN_TUPLES = """
func.func @main(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>)
    -> ((tensor<1xi32>) -> !relay.incomplete) {
  %0 = relay.argwhere(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  %1 = relay.argwhere(%y) : (tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  %t0 = relay.tuple(%0, %x) : (!relay.incomplete, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  %t = relay.tuple(%t0, %1) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %f = relay.fn(%q : tensor<1xi32>) -> !relay.incomplete {
    %a = relay.tuple_get_item(%t) {index = 0} : (!relay.incomplete) -> !relay.incomplete
    %b = relay.tuple_get_item(%a) {index = 0} : (!relay.incomplete) -> !relay.incomplete
    %c = relay.tuple_get_item(%t) {index = 1} : (!relay.incomplete) -> !relay.incomplete
    %u = relay.tuple(%b, %c) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
    %v = relay.concatenate(%u) : (!relay.incomplete) -> !relay.incomplete
    %z = relay.add(%q, %v) : (tensor<1xi32>, !relay.incomplete) -> !relay.incomplete
    relay.yield %z : !relay.incomplete
  }
  func.return %f : (tensor<1xi32>) -> !relay.incomplete
}
"""


def test_a_captured_tuple_may_have_extents_of_the_run() -> None:
    module = parse_module(full_context(), IN_TUPLES, "tuples.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1)
    for n, m in ((2, 3), (0, 0), (1, 4)):
        inputs = [np.arange(n, dtype=np.float32), np.arange(m, dtype=np.float32)]
        for run in (model.run, partial(run_relay, module)):
            found = run(inputs)[0](np.array([1], np.int32))[0]
            np.testing.assert_array_equal(found[:, 0], [*range(2, n + 1), *range(2, m + 1)])


@pytest.mark.parametrize(
    ("taken", "message"),
    [
        (
            "(!t) -> !n",
            r"parameter #0 of a function that @main returns is of type .*, but @main returns no such function",
        ),
        ("tuple<!f, !t>", r"parameter #0 of a function that @main returns is a tuple with functions, tuple<"),
    ],
)
def test_functions_that_nobody_can_call_stay_inside(taken: str, message: str) -> None:
    text = f"""
func.func @main(%x: !t) -> (({taken}) -> !t) {{
  %h = relay.fn(%g : {taken}) -> !t {{
    %y = relay.negative(%x) : (!t) -> !t
    relay.yield %y : !t
  }}
  func.return %h : ({taken}) -> !t
}}"""
    with pytest.raises(PassError, match=message):
        xrelay.compile(program(text), cache=False)
