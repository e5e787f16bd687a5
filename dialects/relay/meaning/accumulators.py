"""The element types in which sums are evaluated."""

from __future__ import annotations

import numpy as np


def accumulator(dtype: np.dtype) -> np.dtype:
    """Returns the dtype of products and sums: f32 for floats of 16 bits, else `dtype`."""
    if dtype.kind in "iub" or dtype.itemsize >= 4:
        return dtype
    return np.dtype(np.float32)


def widest(dtype: np.dtype) -> np.dtype:
    """Returns int64 for signed integers and booleans, uint64 for unsigned integers, float64 for floats."""
    kinds: dict[str, np.dtype] = {"i": np.dtype(np.int64), "b": np.dtype(np.int64), "u": np.dtype(np.uint64)}
    return kinds.get(dtype.kind, np.dtype(np.float64))
