"""Casts of arrays with a single rounding.

numpy's casts between its own types round once. ml_dtypes casts to bfloat16 through float32, which rounds other values
twice.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
EXACT_IN_FLOAT64 = 1 << 53


def cast_once(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts `array` to `dtype`: floats are rounded to nearest even, integers wrap, fractions are truncated."""
    if dtype != BFLOAT16 or array.dtype.itemsize < 4 or array.dtype.kind not in "iuf":
        return array.astype(dtype)
    exact = array.astype(np.float64) if array.dtype.kind == "f" else _integers_to_odd(array)
    return _floats_to_odd(exact).astype(dtype)


def _integers_to_odd(array: NDArray[Any]) -> NDArray[np.float64]:
    """Converts integers to float64: exact up to 2⁵³, else rounded to an odd multiple of 2¹¹ if bits are lost."""
    if array.dtype.itemsize < 8:
        return array.astype(np.float64)
    lost: NDArray[Any] = array & array.dtype.type(0x7FF)
    last: NDArray[Any] = (lost != 0).astype(array.dtype) << array.dtype.type(11)
    odd: NDArray[Any] = np.bitwise_or(array - lost, last)
    large = (array > EXACT_IN_FLOAT64) | (array < -EXACT_IN_FLOAT64)
    return np.where(large, odd, array).astype(np.float64)


def _floats_to_odd(exact: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rounds inexact numbers to the neighbouring float32 with an odd last bit, so that another rounding is correct."""
    with np.errstate(all="ignore"):
        near = np.asarray(exact.astype(np.float32))
        back = near.astype(np.float64)
    bits = near.view(np.int32)
    step = np.where(np.abs(back) > np.abs(exact), np.int32(-1), np.int32(1))
    moves = (bits & 1 == 0) & (back != exact) & ~np.isnan(exact)
    return np.where(moves, bits + step, bits).view(np.float32)
