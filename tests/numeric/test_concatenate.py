"""Concatenation of many operands: as many as a model has, however many."""

from __future__ import annotations

import numpy as np

import xrelay
from xrelay import relay
from xrelay.interpreters.relay import run_relay


def test_nothing_recurses_over_the_operands() -> None:
    data = [np.full((2, 1 + number % 2), number, np.float32) for number in range(500)]
    operands = [relay.var(f"x{number}", shape=array.shape) for number, array in enumerate(data)]
    module = relay.Module.from_expr(relay.Function(operands, relay.concatenate(relay.Tuple(operands), axis=1)))
    expected = np.concatenate(data, axis=1)
    np.testing.assert_array_equal(run_relay(module, data)[0], expected)
    np.testing.assert_array_equal(xrelay.compile(module, threads=1, cache=False).run(data)[0], expected)
