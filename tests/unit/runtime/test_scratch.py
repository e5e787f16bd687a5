"""Allocations of kernels count towards the limit of a run, in any thread, and are freed on errors."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.heap import COUNTED, REASON, kept_bytes

import xrelay
from xrelay.api.model import CompiledModel
from xrelay.errors import ExecutionError

ROWS = """
func.func @main(%x: tensor<?x?xf32, #relay.dims<n, m>>) -> !relay.incomplete {
  %y = relay.nn.softmax(%x) : (tensor<?x?xf32, #relay.dims<n, m>>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""
X = np.linspace(-1, 1, 80_000, dtype=np.float32).reshape(8, 10_000)
ROW = 4 * X.shape[1]


@pytest.fixture(scope="module", params=[1, 2], ids="threads{}".format)
def model(request: pytest.FixtureRequest) -> CompiledModel:
    return xrelay.compile(xrelay.parse(ROWS), cache=False, threads=request.param)


def softmax(x: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_a_row_that_is_too_long(model: CompiledModel) -> None:
    message = r"^model: kernel '\w+' failed: out of memory: the run needs (\d+) bytes, memory_limit is (\d+)$"
    try:
        for limit in (0, 1, ROW - 1, 3 * ROW, ROW, None):
            model.memory_limit = limit
            if limit is not None and limit <= ROW:
                with pytest.raises(ExecutionError, match=message) as caught:
                    model.run([X])
                needed = re.search(r"needs (\d+)", str(caught.value))
                assert needed is not None
                assert ROW < int(needed[1]) <= 2 * (ROW + 256)
            else:
                np.testing.assert_allclose(model.run([X])[0], softmax(X), rtol=1e-5, atol=1e-8)
    finally:
        model.memory_limit = None


@pytest.mark.skipif(not COUNTED, reason=REASON)
def test_failing_runs_keep_nothing(model: CompiledModel) -> None:
    rng = np.random.default_rng(0)

    def runs() -> None:
        for _ in range(100):
            model.memory_limit = ROW // 2
            with pytest.raises(ExecutionError, match="out of memory"):
                model.run([X])
            model.memory_limit = 3 * ROW
            rows, columns = rng.integers(1, 8), rng.integers(1, 10_000)
            assert model.run([np.ascontiguousarray(X[:rows, :columns])])[0].shape == (rows, columns)

    try:
        assert kept_bytes(runs) < ROW
    finally:
        model.memory_limit = None
