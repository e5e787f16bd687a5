"""Loops that divide by a run-time value, at all levels: LLVM's vectoriser crashed on one of them."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay.interpreters.relay import run_relay
from xrelay.passes.types.infer_type import infer_types

TEXT = """
func.func @main(%i: tensor<5x7xi64>, %s: tensor<7xi64>, %t: tensor<13xi64>) -> tensor<5x13xi64> {
  %p = relay.sparse_reshape(%i, %s, %t)
      : (tensor<5x7xi64>, tensor<7xi64>, tensor<13xi64>) -> tuple<tensor<5x13xi64>, tensor<13xi64>>
  %r = relay.tuple_get_item(%p) {index = 0} : (tuple<tensor<5x13xi64>, tensor<13xi64>>) -> tensor<5x13xi64>
  func.return %r : tensor<5x13xi64>
}
"""


@pytest.mark.grid(2)
@pytest.mark.parametrize("opt_level", range(4))
@pytest.mark.parametrize("target", ["cpu", "cpu -mcpu=x86-64"])
def test_places_in_another_shape(target: str, opt_level: int) -> None:
    old, new = [2, 3, 1, 2, 1, 5, 1], [1, 5, 1, 1, 2, 1, 3, 1, 1, 2, 1, 1, 1]
    rng = np.random.default_rng(1)
    places = np.stack([rng.integers(0, extent, 5) for extent in old], axis=1)
    inputs = [places, np.array(old), np.array(new)]
    module = xrelay.parse(TEXT)
    infer_types(module)
    model = xrelay.compile(module, target=target, opt_level=opt_level, cache=False)
    np.testing.assert_array_equal(model.run(inputs)[0], run_relay(module, inputs)[0])
