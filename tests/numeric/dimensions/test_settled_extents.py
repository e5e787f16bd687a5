"""If a callee's extents are static at its call, closures that name them use the static extents."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import xrelay
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

# The data has one row, so an extent that the closure names is static after inlining, and no op defines it.
CALLED = """
func.func @main(%x: tensor<1x?xf32, #relay.dims<m>>, %y: tensor<?xf32, #relay.dims<h>>)
    -> tensor<?xf32, #relay.dims<h>> {
  %two = relay.constant dense<2> : tensor<i64>
  %r = relay.call @f(%x) : (tensor<1x?xf32, #relay.dims<m>>) -> !relay.incomplete
  %g = relay.fn rec(%self)(%k : tensor<i64>, %q : tensor<?xf32, #relay.dims<c>>) -> tensor<?xf32, #relay.dims<c>> {
    %one = relay.constant dense<1> : tensor<i64>
    %go = relay.greater(%k, %one) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %i = relay.if %go : tensor<i1> -> tensor<?xf32, #relay.dims<c>> {
      %t = relay.transpose(%r) : (!relay.incomplete) -> !relay.incomplete
      %s = relay.sum(%t) : (!relay.incomplete) -> tensor<f32>
      %n = relay.add(%q, %s) : (tensor<?xf32, #relay.dims<c>>, tensor<f32>) -> tensor<?xf32, #relay.dims<c>>
      %less = relay.subtract(%k, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %b = relay.invoke %self(%less, %n) : (tensor<i64>, tensor<?xf32, #relay.dims<c>>) -> tensor<?xf32, #relay.dims<c>>
      relay.yield %b : tensor<?xf32, #relay.dims<c>>
    } else {
      relay.yield %q : tensor<?xf32, #relay.dims<c>>
    }
    relay.yield %i : tensor<?xf32, #relay.dims<c>>
  }
  %z = relay.invoke %g(%two, %y) : (tensor<i64>, tensor<?xf32, #relay.dims<h>>) -> tensor<?xf32, #relay.dims<h>>
    of (tensor<i64>, tensor<?xf32, #relay.dims<c>>) -> tensor<?xf32, #relay.dims<c>>
  func.return %z : tensor<?xf32, #relay.dims<h>>
}
func.func private @f(%q: tensor<?x?xf32, #relay.dims<a, b>>) -> !relay.incomplete {
  %one = relay.constant dense<1> : tensor<i64>
  %all = relay.sequence_construct(%q, %q) : (tensor<?x?xf32, #relay.dims<a, b>>, tensor<?x?xf32, #relay.dims<a, b>>)
    -> !relay.incomplete
  %r = relay.sequence_at(%all, %one) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
"""


@pytest.mark.parametrize("level", [0, 3])
def test_a_closure_names_an_extent_that_is_known_after_inlining(level: int) -> None:
    """Checks that the interpreter agrees with native code, which inlines the call."""
    module = parse_module(full_context(), CALLED, "called.mlir")
    infer_types(module)
    model = xrelay.compile(module, cache=False, threads=1, opt_level=level)
    for run in (model.run, partial(run_relay, module)):
        for m in (0, 1, 3):
            x, y = np.arange(m, dtype=np.float32)[None], np.ones(2, np.float32)
            np.testing.assert_array_equal(run([x, y])[0], y + x.sum())
