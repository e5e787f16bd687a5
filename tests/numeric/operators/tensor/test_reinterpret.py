"""`reinterpret` keeps the bits, between any two types of equal size, at all levels."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.one_op import applied

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SAME_BITS = [
    ["int8", "uint8"],
    ["float16", BFLOAT16.name, "int16", "uint16"],
    ["float32", "int32", "uint32"],
    ["float64", "int64", "uint64"],
]
PAIRS = [(source, target) for names in SAME_BITS for source in names for target in names]


@pytest.mark.grid(3)
@pytest.mark.parametrize(("source", "target"), [*PAIRS, ("bool", "bool")])
def test_bits_stay(source: str, target: str) -> None:
    """Infinities, zeros of both signs, NaNs with payloads, extremes of integers."""
    own, new = (BFLOAT16 if name == BFLOAT16.name else np.dtype(name) for name in (source, target))
    bits = 8 * own.itemsize
    unsigned = np.dtype(f"uint{bits}")
    patterns = [0, 1, 1 << (bits - 1), (1 << bits) - 1, (1 << (bits - 1)) - 1, (1 << bits) // 3, (3 << bits) // 8]
    data = np.array([pattern % (2 if source == "bool" else 1 << bits) for pattern in patterns], unsigned)
    found = applied("reinterpret", data.view(own), dtype=target)
    assert found.dtype == new
    np.testing.assert_array_equal(found.view(unsigned), data)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (7, 13)])
def test_any_shape(shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    np.testing.assert_array_equal(applied("reinterpret", data, dtype="int32"), data.view(np.int32), strict=True)
