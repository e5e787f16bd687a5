"""Values that a branch or an iteration yields have the extents of the op's type, checked before they are stored."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.levels import program

import xrelay
from xrelay.errors import ExecutionError
from xrelay.interpreters.relay import run_relay

OPEN = "tensor<?xf32, #relay.dims<m>>"

BRANCH = """
    %r = relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<n>> {
      %a = relay.exp(%w) : (TYPE) -> TYPE
      relay.yield %a : TYPE
    } else {
      %b = relay.exp(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
      relay.yield %b : tensor<?xf32, #relay.dims<n>>
    }
    %y = relay.negative(%r) : (tensor<?xf32, #relay.dims<n>>) -> U
"""

LOOP = """
    %three = relay.constant dense<3> : tensor<i64>
    %l = relay.loop(%i, %a : tensor<?xf32, #relay.dims<n>> = %x : tensor<?xf32, #relay.dims<n>>)
        to %three : tensor<i64> -> U {
      %s = relay.max(%a) : (tensor<?xf32, #relay.dims<n>>) -> tensor<f32>
      %e = relay.add(%w, %s) : (TYPE, tensor<f32>) -> TYPE
      %t = relay.tuple(%e) : (TYPE) -> U
      relay.yield %t : U
    }
    %y = relay.tuple_get_item(%l) {index = 0} : (U) -> U
"""


@pytest.mark.grid(2)
@pytest.mark.parametrize("body", [BRANCH, LOOP], ids=["branch", "loop"])
@pytest.mark.parametrize("type", [OPEN, "tensor<7xf32>"])
def test_what_is_yielded_has_the_extents_that_are_said(body: str, type: str) -> None:
    """Native code agrees with the interpreter; a value too large for its buffer is an error, and later runs succeed."""
    arguments = f"%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>, %w: {type}"
    module = program(arguments, "%y", body.replace("TYPE", type))
    model = xrelay.compile(module, cache=False, threads=1)
    seven = [np.array(True), np.arange(7, dtype=np.float32), np.ones(7, np.float32)]
    np.testing.assert_allclose(model.run(seven)[0], run_relay(module, seven)[0], rtol=1e-6)
    said = re.escape("[relay.yield C0] yielded extent") + ".* is 7 == 2"
    with pytest.raises(ExecutionError, match=said):
        model.run([np.array(True), np.ones(2, np.float32), np.ones(7, np.float32)])
    np.testing.assert_allclose(model.run(seven)[0], run_relay(module, seven)[0], rtol=1e-6)
