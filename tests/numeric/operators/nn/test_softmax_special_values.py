"""Softmax and its logarithm of rows with NaNs, infinities, and elements far below the maximum, as native code."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.one_op import applied

ROWS = {
    "numbers": {},
    "a NaN": {2: np.nan},
    "a NaN at the end": {-1: np.nan},
    "minus infinity": {0: -np.inf, 3: -np.inf},
    "infinity": {1: np.inf},
    "a mask": {0: -1e9, 4: -3e38},
    "a large maximum": {2: 3e38},
}


def special_rows(width: int, dtype: str) -> NDArray[np.floating]:
    """A row for each kind of special values, then one of minus infinity alone."""
    rows = np.random.default_rng(width).normal(0, 3, (len(ROWS) + 1, width))
    for row, values in zip(rows, ROWS.values(), strict=False):
        row[list(values)] = list(values.values())
    rows[-1] = -np.inf
    return rows.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [5, 16, 50, 128])
def test_special_values(width: int, dtype: str) -> None:
    data = special_rows(width, dtype)
    with np.errstate(all="ignore"):
        below = data.astype(np.float64) - data.max(axis=1, keepdims=True)
        total = np.exp(below).sum(axis=1, keepdims=True)
        expected = np.exp(below) / total, below - np.log(total)
    found = [applied(op, data, axis=1, rtol=2e-6, atol=2e-6) for op in ("nn.softmax", "nn.log_softmax")]
    assert np.isnan(found[0]).all(axis=1).tolist() == [False, True, True, False, True, False, False, True]
    for own, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, wanted, rtol=2e-6, atol=2e-6)
