"""What the form of a function says of when its ops run, while it is interpreted."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module

# The quotient stands before the branch that alone needs it.
PROGRAM = """
func.func @main(%c: tensor<i1>, %x: tensor<i32>, %y: tensor<i32>) -> tensor<i32>FORM {
  %r = func.call @choose(%c, %x, %y) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}
func.func @choose(%c: tensor<i1>, %x: tensor<i32>, %y: tensor<i32>) -> tensor<i32>FORM {
  %q = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = relay.if %c : tensor<i1> -> tensor<i32> {
    relay.yield %q : tensor<i32>
  } else {
    relay.yield %x : tensor<i32>
  }
  func.return %r : tensor<i32>
}
"""


def run(form: str | None, divisor: int) -> int:
    attributes = "" if form is None else f' attributes {{relay.form = "{form}"}}'
    module = parse_module(full_context(), PROGRAM.replace("FORM", attributes), "order.mlir")
    inputs = [np.array(False), np.array(7, np.int32), np.array(divisor, np.int32)]
    return int(run_relay(module, inputs)[0])


@pytest.mark.parametrize("form", [None, "dataflow"])
def test_position_means_nothing_in_dataflow_form(form: str | None) -> None:
    assert run(form, 0) == 7


@pytest.mark.parametrize("form", ["bbnf", "anf"])
def test_what_stands_in_a_block_runs_when_the_block_does(form: str) -> None:
    assert run(form, 2) == 7
    with pytest.raises(InterpreterError, match=r"relay\.divide"):
        run(form, 0)
