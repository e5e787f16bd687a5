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

# The ops after the branches run after the recursive call; the inner branch, the order of branches, and both parameters
# affect the result.
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
      %d = relay.subtract(%k, %c) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      relay.yield %d : tensor<i64>
    }
    %e = relay.add(%q, %s) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %e : tensor<i64>
  } else {
    relay.yield %three : tensor<i64>
  }
  %f = relay.multiply(%r, %three) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  func.return %f : tensor<i64>
"""

# After the call, the recursive branch has another branch.
CHOOSING = """
  %go = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> U
  %r = relay.if %go : U -> tensor<i64> {
    %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %c = func.call @main(%m, %s) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %big = relay.greater(%c, %s) : (tensor<i64>, tensor<i64>) -> U
    %d = relay.if %big : U -> tensor<i64> {
      %u = relay.subtract(%c, %n) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      relay.yield %u : tensor<i64>
    } else {
      %v = relay.add(%c, %three) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      relay.yield %v : tensor<i64>
    }
    relay.yield %d : tensor<i64>
  } else {
    relay.yield %s : tensor<i64>
  }
  func.return %r : tensor<i64>
"""

SWAPPED = """
  %go = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> U
  %r = relay.if %go : U -> tuple<tensor<i64>, tensor<i64>> {
    %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %c, %d = func.call @main(%m, %s) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    %a = relay.add(%c, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %t = relay.tuple(%d, %a) : (tensor<i64>, tensor<i64>) -> tuple<tensor<i64>, tensor<i64>>
    relay.yield %t : tuple<tensor<i64>, tensor<i64>>
  } else {
    %t = relay.tuple(%n, %s) : (tensor<i64>, tensor<i64>) -> tuple<tensor<i64>, tensor<i64>>
    relay.yield %t : tuple<tensor<i64>, tensor<i64>>
  }
  %x = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<i64>, tensor<i64>>) -> tensor<i64>
  %y = relay.tuple_get_item(%r) {index = 1} : (tuple<tensor<i64>, tensor<i64>>) -> tensor<i64>
  func.return %x, %y : tensor<i64>, tensor<i64>
"""

# The call is before the branch that uses it, by way of an op; s = 100 is never met.
BEFORE_BRANCH = """
  %hundred = relay.constant dense<100> : tensor<i64>
  %stop = relay.equal(%s, %hundred) : (tensor<i64>, tensor<i64>) -> U
  %r = relay.if %stop : U -> tensor<i64> {
    relay.yield %n : tensor<i64>
  } else {
    %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %c = func.call @main(%m, %s) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %d = relay.add(%c, %n) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %go = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> U
    %q = relay.if %go : U -> tensor<i64> {
      relay.yield %d : tensor<i64>
    } else {
      relay.yield %s : tensor<i64>
    }
    relay.yield %q : tensor<i64>
  }
  func.return %r : tensor<i64>
"""

FUNCTIONS = {"before branch": BEFORE_BRANCH, "sum": SUM, "nested": NESTED, "choosing": CHOOSING, "swapped": SWAPPED}


def module_of(body: str) -> ModuleOp:
    results = ", ".join(["tensor<i64>"] * (2 if body is SWAPPED else 1))
    text = f"func.func @main(%n: tensor<i64>, %s: tensor<i64>) -> ({results}) {{{CONSTANTS}{body}}}"
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
    module = module_of(BEFORE_BRANCH.replace("relay.yield %d", "relay.yield %n"))
    inputs = [np.array(3), np.array(4)]
    assert [int(value) for value in run_relay(looped(module), inputs)] == [3]


def test_calls_are_limited_as_calls_and_as_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_CALL_LIMIT", "2000")
    module, inputs = module_of(SUM), [np.array(3_000), np.array(0)]
    for each in (module, looped(module)):
        with pytest.raises(InterpreterError, match="@main: more than 2000"):
            run_relay(each, inputs)
