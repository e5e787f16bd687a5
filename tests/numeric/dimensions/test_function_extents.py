"""Closures that compute different extents: each call has its own, in native code as in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay.errors import TypeInferenceError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

TYPES = """
!t = tensor<5xf32>
!n = tensor<i64>
!k = tensor<?x1xi32>
!f = (!t) -> !k
!z = !relay.incomplete
"""

# Two functions whose result extents are data-dependent.
FUNCTIONS = """  %f = relay.fn(%p : !t) -> !k {
    %i = relay.argwhere(%p) : (!t) -> !k
    relay.yield %i : !k
  }
  %h = relay.fn(%p : !t) -> !k {
    %d = relay.subtract(%p, %y) : (!t, !t) -> !t
    %i = relay.argwhere(%d) : (!t) -> !k
    relay.yield %i : !k
  }"""

# Called where the closures are known, one of them twice.
KNOWN = """
func.func @main(%x: !t, %y: !t, %n: !n) -> (!z, !z, !z, !z) {
FUNCTIONS
  %a = relay.invoke %f(%x) : (!t) -> !k of !f
  %b = relay.invoke %f(%y) : (!t) -> !k of !f
  %c = relay.invoke %h(%x) : (!t) -> !k of !f
  %t = relay.tuple(%a, %b, %c) : (!k, !k, !k) -> !z
  %d = relay.concatenate(%t) {axis = 0} : (!z) -> !z
  func.return %a, %b, %c, %d : !k, !k, !k, !z
}
"""

# Passed to a function that is not inlined.
HANDED_OVER = """
func.func @main(%x: !t, %y: !t, %n: !n) -> (!z, !z, !z) {
FUNCTIONS
  %a = relay.call @ap(%f, %x, %n) : (!f, !t, !n) -> !k
  %b = relay.call @ap(%h, %x, %n) : (!f, !t, !n) -> !k
  %t = relay.tuple(%a, %b) : (!k, !k) -> !z
  %d = relay.concatenate(%t) {axis = 0} : (!z) -> !z
  func.return %a, %b, %d : !k, !k, !z
}
func.func private @ap(%f: !f, %x: !t, %n: !n) -> !k {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %r = relay.if %c : tensor<i1> -> !k {
    %i = relay.invoke %f(%x) : (!t) -> !k
    relay.yield %i : !k
  } else {
    %m = relay.subtract(%n, %one) : (!n, !n) -> !n
    %a = relay.call @ap(%f, %x, %m) : (!f, !t, !n) -> !k
    %b = relay.invoke %f(%x) : (!t) -> !k
    %t = relay.tuple(%a, %b) : (!k, !k) -> !z
    %e = relay.concatenate(%t) {axis = 0} : (!z) -> !k
    relay.yield %e : !k
  }
  func.return %r : !k
}
"""

# A loop wraps one in others.
CARRIED = """
func.func @main(%x: !t, %y: !t, %n: !n) -> !z {
FUNCTIONS
  %l = relay.loop(%i, %g : !f = %f : !f, %v : !t = %x : !t) to %n : !n -> !z {
    %u = relay.add(%v, %y) : (!t, !t) -> !t
    %w = relay.fn(%p : !t) -> !k {
      %z = relay.multiply(%p, %u) : (!t, !t) -> !t
      %i2 = relay.invoke %g(%z) : (!t) -> !k
      relay.yield %i2 : !k
    }
    %y2 = relay.tuple(%w, %u) : (!f, !t) -> !z
    relay.yield %y2 : !z
  }
  %e = relay.tuple_get_item(%l) {index = 0} : (!z) -> !f
  %r = relay.invoke %e(%x) : (!t) -> !k of !f
  func.return %r : !k
}
"""

# A tuple with one in it is chosen at run time.
IN_A_TUPLE = """
func.func @main(%x: !t, %y: !t, %n: !n) -> (!z, !z) {
FUNCTIONS
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %g = relay.if %c : tensor<i1> -> !z {
    %t = relay.tuple(%f, %x) : (!f, !t) -> !z
    relay.yield %t : !z
  } else {
    %t = relay.tuple(%h, %y) : (!f, !t) -> !z
    relay.yield %t : !z
  }
  %e = relay.tuple_get_item(%g) {index = 0} : (!z) -> !z
  %v = relay.tuple_get_item(%g) {index = 1} : (!z) -> !t
  %a = relay.invoke %e(%v) : (!t) -> !z of !z
  %b = relay.invoke %e(%y) : (!t) -> !z of !z
  func.return %a, %b : !z, !z
}
"""

# Two with parameters of any extent; one of them is called with two extents.
GENERAL = """
func.func @main(%x: !t, %y: !t, %n: !n) -> (!z, !z) {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %f = relay.fn(%p : tensor<?xf32, #relay.dims<a>>) -> !z {
    %i = relay.exp(%p) : (tensor<?xf32, #relay.dims<a>>) -> !z
    relay.yield %i : !z
  }
  %h = relay.fn(%p : tensor<?xf32, #relay.dims<b>>) -> !z {
    %i = relay.negative(%p) : (tensor<?xf32, #relay.dims<b>>) -> !z
    relay.yield %i : !z
  }
  %g = relay.if %c : tensor<i1> -> !z {
    relay.yield %f : (tensor<?xf32, #relay.dims<a>>) -> !z
  } else {
    relay.yield %h : (tensor<?xf32, #relay.dims<b>>) -> !z
  }
  %t = relay.tuple(%x, %y) : (!t, !t) -> !z
  %u = relay.concatenate(%t) {axis = 0} : (!z) -> tensor<10xf32>
  %a = relay.invoke %g(%x) : (!t) -> !z of !z
  %b = relay.invoke %g(%u) : (tensor<10xf32>) -> !z of !z
  func.return %a, %b : !z, !z
}
"""

# No result of the function that receives them has their extents.
COUNTED = """
func.func @main(%x: !t, %y: !t, %n: !n) -> !z {
FUNCTIONS
  %a = func.call @ap(%f, %x, %n) : (!f, !t, !n) -> !n
  %b = func.call @ap(%h, %x, %n) : (!f, !t, !n) -> !n
  func.return %b : !n
}
func.func private @ap(%f: !f, %x: !t, %n: !n) -> !n {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %i = relay.invoke %f(%x) : (!t) -> !k
  %s0 = relay.ndarray_size(%i) {dtype = i64} : (!k) -> !n
  %r = relay.if %c : tensor<i1> -> !n {
    relay.yield %s0 : !n
  } else {
    %m = relay.subtract(%n, %one) : (!n, !n) -> !n
    %a = func.call @ap(%f, %x, %m) : (!f, !t, !n) -> !n
    %b = func.call @ap(%f, %x, %m) : (!f, !t, !n) -> !n
    %e = relay.add(%a, %b) : (!n, !n) -> !n
    relay.yield %e : !n
  }
  func.return %r : !n
}
"""

# One is chosen at run time; one of them computes something first.
CHOSEN = """
func.func @main(%x: !t, %y: !t, %n: !n) -> (!z, !z, !z) {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %e = relay.negative(%x) : (!t) -> !t
  %g = relay.if %c : tensor<i1> -> !z {
    %f = relay.fn(%p : !t) -> !k {
      %i = relay.argwhere(%p) : (!t) -> !k
      relay.yield %i : !k
    }
    relay.yield %f : (!t) -> !k
  } else {
    %w = relay.exp(%e) : (!t) -> !t
    %h = relay.fn(%p : !t) -> !k {
      %z = relay.multiply(%w, %p) : (!t, !t) -> !t
      %i = relay.argwhere(%z) : (!t) -> !k
      relay.yield %i : !k
    }
    relay.yield %h : (!t) -> !k
  }
  %a = relay.invoke %g(%x) : (!t) -> !k of !z
  %b = relay.invoke %g(%y) : (!t) -> !k of !z
  %t = relay.tuple(%a, %b) : (!k, !k) -> !z
  %d = relay.concatenate(%t) {axis = 0} : (!z) -> !z
  func.return %a, %b, %d : !k, !k, !z
}
"""

# One has a dynamic result extent, the other a static one.
ONE_MAKES = """
func.func @main(%x: !t, %y: !t, %n: !n) -> (!z, !z, !z) {
  %one = relay.constant dense<1> : !n
  %two = relay.constant dense<[[7], [8]]> : tensor<2x1xi32>
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %g = relay.if %c : tensor<i1> -> !z {
    %f = relay.fn(%p : !t) -> !k {
      %i = relay.argwhere(%p) : (!t) -> !k
      relay.yield %i : !k
    }
    relay.yield %f : (!t) -> !k
  } else {
    %h = relay.fn(%p : !t) -> tensor<2x1xi32> {
      relay.yield %two : tensor<2x1xi32>
    }
    relay.yield %h : (!t) -> tensor<2x1xi32>
  }
  %a = relay.invoke %g(%x) : (!t) -> !z of !z
  %b = relay.invoke %g(%y) : (!t) -> !z of !z
  %t = relay.tuple(%a, %b) : (!z, !z) -> !z
  %d = relay.concatenate(%t) {axis = 0} : (!z) -> !z
  func.return %a, %b, %d : !z, !z, !z
}
"""

# The result extent of one equals the parameter's, that of the other is twice as large.
GROWING = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: !n) -> (!z, !z) {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %g = relay.if %c : tensor<i1> -> !z {
    %f = relay.fn(%p : tensor<?xf32, #relay.dims<a>>) -> !z {
      %i = relay.negative(%p) : (tensor<?xf32, #relay.dims<a>>) -> !z
      relay.yield %i : !z
    }
    relay.yield %f : (tensor<?xf32, #relay.dims<a>>) -> !z
  } else {
    %h = relay.fn(%p : tensor<?xf32, #relay.dims<a>>) -> !z {
      %t = relay.tuple(%p, %p) : (tensor<?xf32, #relay.dims<a>>, tensor<?xf32, #relay.dims<a>>) -> !z
      %i = relay.concatenate(%t) {axis = 0} : (!z) -> !z
      relay.yield %i : !z
    }
    relay.yield %h : (tensor<?xf32, #relay.dims<a>>) -> !z
  }
  %0 = relay.invoke %g(%x) : (tensor<?xf32>) -> !z of !z
  %1 = relay.invoke %g(%0) : (!z) -> !z of !z
  func.return %0, %1 : !z, !z
}
"""

PROGRAMS = (KNOWN, HANDED_OVER, CARRIED, IN_A_TUPLE, GENERAL, COUNTED, CHOSEN)


@pytest.mark.grid(5)
@pytest.mark.parametrize("text", PROGRAMS, ids=range(len(PROGRAMS)))
def test_each_call_makes_an_extent_of_its_own(text: str) -> None:
    module = parse_module(full_context(), TYPES + text.replace("FUNCTIONS", FUNCTIONS), "made.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1)
    for x, y in (([1, 0, 2, 0, 0], [0, 0, 0, 4, 0]), ([0] * 5, [1] * 5), ([1] * 5, [1] * 5)):
        for n in (0, 1, 3):
            inputs = [np.array(x, np.float32), np.array(y, np.float32), np.array(n)]
            for found, wanted in zip(model.run(inputs), run_relay(module, inputs), strict=True):
                assert found.shape == wanted.shape
                np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("text", [ONE_MAKES, GROWING], ids=["one makes an extent", "one grows"])
def test_functions_whose_results_differ_are_not_one(text: str) -> None:
    module = parse_module(full_context(), TYPES + text, "made.mlir")
    with pytest.raises(TypeInferenceError, match=r"relay\.if: the branches yield functions of different types"):
        infer_types(module)


def test_functions_of_other_extents_are_not_one() -> None:
    text = GENERAL.replace("#relay.dims<a>", "").replace("tensor<?xf32, >", "tensor<4xf32>")
    text = text.replace("tensor<?xf32, #relay.dims<b>>", "tensor<3xf32>")
    module = parse_module(full_context(), TYPES + text, "made.mlir")
    with pytest.raises(TypeInferenceError, match=r"relay\.if: %. has type .* but must have type"):
        infer_types(module)
