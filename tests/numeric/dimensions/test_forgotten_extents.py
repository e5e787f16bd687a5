"""Closures that capture values with an extent that only a callee names compute the same after they are lifted."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import xrelay
from xrelay.interpreters.relay import run_relay
from xrelay.passes.functions.lift_closures import lift_closures
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

# `%f` returns the indices of the k nonzero elements three times, and of these every second: ceil(3 * k / 2) numbers.
PROGRAM = """
!s = tensor<f32>
!f = (!s) -> !s
!e = tensor<?xf32, #relay.dims<e>>
!u = !relay.incomplete
func.func @main(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>, %q: !s) -> !u {
  %f = relay.fn(%a: tensor<?xf32, #relay.dims<m>>) -> !u {
    %i = relay.argwhere(%a) : (tensor<?xf32, #relay.dims<m>>) -> !u
    %t = relay.tuple(%i, %i, %i) : (!u, !u, !u) -> !u
    %j = relay.concatenate(%t) {axis = 1} : (!u) -> !u
    %p = relay.reshape(%j) {newshape = [-1]} : (!u) -> !u
    %s = relay.strided_slice(%p) {begin = [0], end = [9223372036854775807], strides = [2]}
      : (!u) -> !u
    %w = relay.cast(%s) {dtype = f32} : (!u) -> !u
    relay.yield %w : !u
  }
  %v = relay.invoke %f(%x) : (tensor<?xf32, #relay.dims<n>>) -> !u
    of (tensor<?xf32, #relay.dims<m>>) -> !u
  %g = relay.if %c : tensor<i1> -> !f {
    %g0 = relay.fn(%b: !s) -> !s {
      BODY
      %r0 = relay.add(%t0, %b) : (!s, !s) -> !s
      relay.yield %r0 : !s
    }
    relay.yield %g0 : !f
  } else {
    %g1 = relay.fn(%b: !s) -> !s {
      relay.yield %b : !s
    }
    relay.yield %g1 : !f
  }
  %r = relay.invoke %g(%q) : (!s) -> !s
  func.return %r : !s
}
func.func private @twice(%y: !e) -> !e attributes {relay.skip_optimization} {
  %z = relay.add(%y, %y) : (!e, !e) -> !e
  func.return %z : !e
}
"""
SUM = "%t0 = relay.sum(%v) : (!u) -> !s"
CALL = """
      %d0 = relay.call @twice(%v) : (!u) -> !u
      %e0 = relay.multiply(%d0, %v) : (!u, !u) -> !u
      %t0 = relay.sum(%e0) : (!u) -> !s"""
LOOP = """
      %n0 = relay.constant dense<3> : tensor<i64>
      %l0 = relay.loop(%i0, %a0 : !u = %v : !u) to %n0 : tensor<i64> -> !u {
        %u0 = relay.add(%a0, %v) : (!u, !u) -> !u
        %y0 = relay.tuple(%u0) : (!u) -> !u
        relay.yield %y0 : !u
      }
      %k0 = relay.tuple_get_item(%l0) {index = 0} : (!u) -> !u
      %t0 = relay.sum(%k0) : (!u) -> !s"""
CLOSURE = """
      %h0 = relay.if %c : tensor<i1> -> !f {
        %h1 = relay.fn(%b1: !s) -> !s {
          %m1 = relay.multiply(%v, %b1) : (!u, !s) -> !u
          %t1 = relay.sum(%m1) : (!u) -> !s
          relay.yield %t1 : !s
        }
        relay.yield %h1 : !f
      } else {
        %h2 = relay.fn(%b2: !s) -> !s {
          relay.yield %b2 : !s
        }
        relay.yield %h2 : !f
      }
      %t0 = relay.invoke %h0(%b) : (!s) -> !s"""


@pytest.mark.grid(2)
@pytest.mark.parametrize("body", [SUM, CALL, LOOP, CLOSURE], ids=["sum", "call", "loop", "closure"])
def test_lifted_closures_do_the_same(body: str) -> None:
    module = parse_module(full_context(), PROGRAM.replace("BODY", body), "program.mlir")
    infer_types(module)
    # The whole pipeline would inline the call that computes the value before it lifts the closures.
    lifted = module.clone()
    lift_closures(lifted)
    model = xrelay.compile(lifted, cache=False, threads=1)
    for condition, size in product((True, False), (0, 1, 5)):
        inputs = [np.array(condition), np.arange(size, dtype=np.float32) % 3, np.array(1.5, np.float32)]
        np.testing.assert_allclose(run_relay(lifted, inputs)[0], run_relay(module, inputs)[0], rtol=1e-6)
        np.testing.assert_allclose(model.run(inputs)[0], run_relay(module, inputs)[0], rtol=1e-6)
