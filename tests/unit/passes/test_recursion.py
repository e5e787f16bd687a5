"""`relay-recursion-to-loop`: functions compute the same after it, and recurse deeper."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp

from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.functions.recursion_to_loop import RelayRecursionToLoopPass
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

UNKNOWN = "!relay.incomplete"
CONSTANTS = """
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %three = relay.constant dense<3> : tensor<i64>
"""

SUM = """
  %stop = relay.less_equal(%n, %zero) : (tensor<i64>, tensor<i64>) -> U
  %r = relay.if %stop : U -> tensor<i64> {
    relay.yield %s : tensor<i64>
  } else {
    %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %t = relay.add(%s, %n) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %c = func.call @main(%m, %t) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %c : tensor<i64>
  }
  func.return %r : tensor<i64>
"""
"""n + … + 1 + s, by tail recursion."""

# The inner branch, the order of branches, and both parameters affect the result.
NESTED = """
  %k = relay.multiply(%n, %three) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %go = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> U
  %r = relay.if %go : U -> tensor<i64> {
    %odd = relay.greater(%s, %n) : (tensor<i64>, tensor<i64>) -> U
    %q = relay.if %odd : U -> tensor<i64> {
      %b = relay.add(%k, %s) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      relay.yield %b : tensor<i64>
    } else {
      %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %t = relay.add(%s, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %c = func.call @main(%m, %t) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      relay.yield %c : tensor<i64>
    }
    relay.yield %q : tensor<i64>
  } else {
    relay.yield %three : tensor<i64>
  }
  func.return %r : tensor<i64>
"""

# The call is before the branch that uses it; s = 100 is never met.
BEFORE_BRANCH = """
  %hundred = relay.constant dense<100> : tensor<i64>
  %stop = relay.equal(%s, %hundred) : (tensor<i64>, tensor<i64>) -> U
  %r = relay.if %stop : U -> tensor<i64> {
    relay.yield %n : tensor<i64>
  } else {
    %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %c = func.call @main(%m, %s) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %go = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> U
    %q = relay.if %go : U -> tensor<i64> {
      relay.yield %c : tensor<i64>
    } else {
      relay.yield %s : tensor<i64>
    }
    relay.yield %q : tensor<i64>
  }
  func.return %r : tensor<i64>
"""

FUNCTIONS = {"before branch": BEFORE_BRANCH, "sum": SUM, "nested": NESTED}


def module_of(body: str) -> ModuleOp:
    text = f"func.func @main(%n: tensor<i64>, %s: tensor<i64>) -> tensor<i64> {{{CONSTANTS}{body}}}"
    module = parse_module(full_context(), text.replace("U", UNKNOWN), "recursion.mlir")
    infer_types(module)
    return module


def looped(module: ModuleOp) -> ModuleOp:
    changed = module.clone()
    RelayRecursionToLoopPass().apply(Context(), changed)
    changed.verify()
    assert not any(isinstance(op, CallOp) for op in changed.walk())
    return changed


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_stay_the_same(name: str) -> None:
    module = module_of(FUNCTIONS[name])
    changed = looped(module)
    for n in (-1, 0, 1, 2, 7):
        for s in (-4, 0, 3, 9):
            inputs = [np.array(n), np.array(s)]
            expected, found = (run_relay(each, inputs) for each in (module, changed))
            assert [int(value) for value in found] == [int(value) for value in expected], (n, s)


def test_a_call_without_uses_becomes_no_loop() -> None:
    module = module_of(BEFORE_BRANCH.replace("relay.yield %c", "relay.yield %n"))
    inputs = [np.array(3), np.array(4)]
    assert [int(value) for value in run_relay(looped(module), inputs)] == [3]


def test_calls_are_limited_as_calls_and_as_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_CALL_LIMIT", "2000")
    module, inputs = module_of(SUM), [np.array(3_000), np.array(0)]
    for each in (module, looped(module)):
        with pytest.raises(InterpreterError, match="@main: more than 2000"):
            run_relay(each, inputs)
