"""Positions and extents as floats, which Relay's operators return if `dtype` is a float."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_op import applied, check, program

DATA = np.random.default_rng(3).permutation(24).reshape(4, 6).astype(np.float32)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_places_in_order(dtype: str) -> None:
    order = np.argsort(-DATA, 1)
    found = applied("argsort", DATA, is_ascend=False, dtype=dtype)
    np.testing.assert_array_equal(found, order.astype(dtype), strict=True)
    _, places = check(program("topk", DATA, k=2, dtype=dtype), [DATA])
    np.testing.assert_array_equal(places, order[:, :2].astype(dtype), strict=True)


def test_extents() -> None:
    np.testing.assert_array_equal(applied("shape_of", DATA, dtype="float32"), np.float32([4, 6]), strict=True)
    np.testing.assert_array_equal(applied("ndarray_size", DATA, dtype="float64"), np.array(24.0), strict=True)
    np.testing.assert_array_equal(applied("ndarray_size", DATA, dtype="uint8"), np.array(24, np.uint8), strict=True)
