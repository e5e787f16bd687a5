"""The form attribute of a function determines when the interpreter runs its ops."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module

# The quotient precedes the branch that alone needs it.
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


CLOSURE = """
func.func @main(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %q = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %f = relay.fn(%a : tensor<i32>) -> tensor<i32> {
    %g = relay.fn(%b : tensor<i32>) -> tensor<i32> {
      %s = relay.add(%b, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    }
    relay.yield %a : tensor<i32>
  }
  %r = relay.invoke %f(%x) : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}
"""


def test_what_a_closure_captures_is_computed_when_it_is_made() -> None:
    module = parse_module(full_context(), CLOSURE, "closure.mlir")
    assert run_relay(module, [np.array(7, np.int32), np.array(2, np.int32)])[0] == 7
    with pytest.raises(InterpreterError, match=r"relay\.divide"):
        run_relay(module, [np.array(7, np.int32), np.array(0, np.int32)])


def test_closures_may_be_nested_deeply() -> None:
    """Each captures the value that the innermost one uses."""
    depth = 80
    open_, close = "%f{0} = relay.fn() -> tensor<f32> {{\n", "relay.yield %r{0} : tensor<f32>\n}}\n"
    call = "%r{0} = relay.invoke %f{1}() : () -> tensor<f32>\n"
    lines = [open_.format(i) for i in range(depth)]
    lines += [f"%r{depth - 1} = relay.negative(%x) : (tensor<f32>) -> tensor<f32>\n"]
    for i in reversed(range(depth)):
        lines += [close.format(i), call.format(i - 1 if i else "", i)]
    text = f"func.func @main(%x: tensor<f32>) -> tensor<f32> {{\n{''.join(lines)}func.return %r : tensor<f32>\n}}"
    module = parse_module(full_context(), text, "nested.mlir")
    assert run_relay(module, [np.array(1, np.float32)])[0] == -1
