"""The functions of the articles on Relay in native code: calls, recursion, `log` in and before a branch, closures."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

PROGRAM = """
!f = tensor<f32>
!b = tensor<i1>
func.func private @muladd(%x: !f, %y: !f, %z: !f) -> !f {
  %1 = relay.multiply(%x, %y) : (!f, !f) -> !f
  %2 = relay.add(%1, %z) : (!f, !f) -> !f
  func.return %2 : !f
}
func.func private @twice(%x: !f) -> !f {
  %one = relay.constant dense<1.0> : !f
  %two = relay.constant dense<2.0> : !f
  %three = relay.constant dense<3.0> : !f
  %1 = func.call @muladd(%x, %one, %two) : (!f, !f, !f) -> !f
  %2 = func.call @muladd(%1, %two, %three) : (!f, !f, !f) -> !f
  func.return %2 : !f
}
func.func private @myfunc(%x: !f) -> !f {
  %one = relay.constant dense<1.0> : !f
  %1 = relay.equal(%x, %one) : (!f, !f) -> !b
  %r = relay.if %1 : !b -> !f {
    relay.yield %x : !f
  } else {
    %2 = relay.subtract(%x, %one) : (!f, !f) -> !f
    %3 = func.call @myfunc(%2) : (!f) -> !f
    %4 = relay.add(%3, %3) : (!f, !f) -> !f
    relay.yield %4 : !f
  }
  func.return %r : !f
}
func.func @main(%c: !b, %x: !f, %y: !f) -> (!f, !f, !f, !f, !f, !f) {
  %0 = func.call @twice(%x) : (!f) -> !f
  %1 = func.call @myfunc(%x) : (!f) -> !f
  %log = relay.log(%x) : (!f) -> !f
  // log inside of the branches, by demand, and in front of them, by a let.
  %2 = relay.if %c : !b -> !f {
    %s = relay.add(%log, %y) : (!f, !f) -> !f
    relay.yield %s : !f
  } else {
    %s = relay.multiply(%log, %y) : (!f, !f) -> !f
    relay.yield %s : !f
  }
  %v1 = relay.let "v1" = %log : !f
  %3 = relay.if %c : !b -> !f {
    %s = relay.subtract(%v1, %y) : (!f, !f) -> !f
    relay.yield %s : !f
  } else {
    relay.yield %v1 : !f
  }
  // A closure over log(x), and one that the run chooses.
  %f = relay.fn(%a : !f) -> !f {
    %s = relay.add(%a, %v1) : (!f, !f) -> !f
    relay.yield %s : !f
  }
  %4 = relay.invoke %f(%y) : (!f) -> !f
  %g = relay.if %c : !b -> (!f) -> !f {
    relay.yield %f : (!f) -> !f
  } else {
    %e = relay.exp(%x) : (!f) -> !f
    %h = relay.fn(%a : !f) -> !f {
      %s = relay.subtract(%a, %e) : (!f, !f) -> !f
      relay.yield %s : !f
    }
    relay.yield %h : (!f) -> !f
  }
  %v2 = relay.let "v2" = %g : (!f) -> !f
  %i = relay.invoke %v2(%y) : (!f) -> !f
  %5 = relay.invoke %g(%i) : (!f) -> !f
  func.return %0, %1, %2, %3, %4, %5 : !f, !f, !f, !f, !f, !f
}
"""


def program() -> ModuleOp:
    module = parse_module(full_context(), PROGRAM, "seeds.mlir")
    infer_types(module)
    return module


def test_the_functions_of_the_articles_run_natively() -> None:
    module = program()
    model = xrelay.compile(module, cache=False, threads=1)
    for c, x, y in ((True, 3.0, 0.5), (False, 4.0, -2.0), (True, 1.0, 7.0)):
        inputs = [np.array(c), np.array(x, np.float32), np.array(y, np.float32)]
        log = np.log(x)
        chosen = y + 2 * log if c else y - 2 * np.exp(x)
        formula = [2 * (x + 2) + 3, x_doubled(x), log + y if c else log * y, log - y if c else log, y + log, chosen]
        found = model.run(inputs)
        np.testing.assert_allclose(found, run_relay(module, inputs), rtol=1e-5)
        np.testing.assert_allclose(found, formula, rtol=1e-5)


def x_doubled(x: float) -> float:
    """The result of `@myfunc`: 1 at the end, doubled for each recursive step."""
    return 2.0 ** (x - 1)
