"""Continuation-passing style and the way back preserve results, in native code and the interpreter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.choices import Choices, Drawn
from support.evaluation_order import run_in_order
from support.examples import examples
from support.random_control import Writer
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code
from xrelay.relay.passes.partial_eval import partially_evaluate
from xrelay.relay.passes.to_cps import to_cps
from xrelay.relay.passes.un_cps import RelayUnCpsPass

POWERS = """
!t = tensor<3xf32>
!n = tensor<i64>
!f = (!t) -> !t
!p = tuple<!t, !t>

func.func @main(%x: !t, %n: !n) -> (!t, !t) {
  %f = relay.fn(%a : !t) -> !t {
    %m = relay.multiply(%a, %x) : (!t, !t) -> !t
    relay.yield %m : !t
  }
  %y, %z = func.call @times(%f, %x, %n) : (!f, !t, !n) -> (!t, !t)
  %s = relay.add(%y, %z) : (!t, !t) -> !t
  func.return %s, %z : !t, !t
}
func.func private @times(%f: !f, %x: !t, %n: !n) -> (!t, !t) {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %r = relay.if %c : tensor<i1> -> !p {
    %t = relay.tuple(%x, %x) : (!t, !t) -> !p
    relay.yield %t : !p
  } else {
    %m = relay.subtract(%n, %one) : (!n, !n) -> !n
    %y, %z = func.call @times(%f, %x, %m) : (!f, !t, !n) -> (!t, !t)
    %v = relay.invoke %f(%y) : (!t) -> !t
    %t = relay.tuple(%v, %z) : (!t, !t) -> !p
    relay.yield %t : !p
  }
  %p = relay.tuple_get_item(%r) {index = 0} : (!p) -> !t
  %q = relay.tuple_get_item(%r) {index = 1} : (!p) -> !t
  func.return %p, %q : !t, !t
}
"""


def there_and_back(module: ModuleOp) -> None:
    to_cps(module)
    verify_module(module)
    RelayUnCpsPass().apply(full_context(), module)
    verify_module(module)


def test_a_recursion_that_hands_continuations_over_runs_natively() -> None:
    before = parse_module(full_context(), POWERS, "powers.mlir")
    after = before.clone()
    there_and_back(after)
    model = xrelay.compile(after, cache=False, threads=1)
    for n in (0, 1, 4):
        inputs = [np.array([1.0, -0.5, 2.0], np.float32), np.array(n)]
        expected = run_relay(before, inputs)
        np.testing.assert_array_equal(run_relay(after, inputs), expected)
        np.testing.assert_allclose(model.run(inputs), expected, rtol=1e-6)


def check_random_program(choices: Choices, change: Callable[[ModuleOp], None], *, loops: bool) -> None:
    writer = Writer(choices)
    before = writer.module()
    eliminate_dead_code(before)
    if not loops and any(isinstance(op, LoopOp) for op in before.walk()):
        return
    after = before.clone()
    change(after)
    rng = np.random.default_rng(choices.below(4))
    shape = writer.type.get_shape()
    inputs = [np.asarray(rng.integers(0, 4, shape) - 1, writer.dtype) for _ in range(2)]
    try:
        expected = run_in_order(before, inputs)
    except InterpreterError:
        return  # An op outside of a branch may report its error or not.
    np.testing.assert_array_equal(run_relay(before, inputs), expected)
    np.testing.assert_array_equal(run_relay(after, inputs), expected)
    np.testing.assert_array_equal(run_in_order(after, inputs), expected)


@settings(max_examples=examples(36, more=2), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_random_programs_compute_as_before(data: st.DataObject) -> None:
    """Without loops, whose bodies may not make calls."""
    check_random_program(Drawn(data.draw), there_and_back, loops=False)


def evaluated(module: ModuleOp) -> None:
    partially_evaluate(module)
    verify_module(module)


@settings(max_examples=examples(35, more=4), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_known_is_computed_as_before(data: st.DataObject) -> None:
    check_random_program(Drawn(data.draw), evaluated, loops=True)


def evaluated_in_style(module: ModuleOp) -> None:
    there_and_back(module)
    evaluated(module)


@settings(max_examples=examples(36, more=2), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_continuations_are_followed_as_before(data: st.DataObject) -> None:
    check_random_program(Drawn(data.draw), evaluated_in_style, loops=False)
