"""Element types in which sums are evaluated, their ranges, and conversion to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from xrelay.dialects.relay.structure.weights import Array


def accumulator(dtype: np.dtype) -> np.dtype:
    """Returns the dtype of products and sums: f32 for floats of 16 bits, else `dtype`."""
    if dtype.kind in "iub" or dtype.itemsize >= 4:
        return dtype
    return np.dtype(np.float32)


def widest(dtype: np.dtype) -> np.dtype:
    """Returns int64 for signed integers and booleans, uint64 for unsigned integers, float64 for floats."""
    kinds: dict[str, np.dtype] = {"i": np.dtype(np.int64), "b": np.dtype(np.int64), "u": np.dtype(np.uint64)}
    return kinds.get(dtype.kind, np.dtype(np.float64))


def value_range(dtype: np.dtype) -> tuple[Any, Any]:
    """Returns the least and the greatest value of a dtype, as scalars of it."""
    if dtype.kind == "b":
        return np.False_, np.True_
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(limits.min), dtype.type(limits.max)
    return dtype.type(-np.inf), dtype.type(np.inf)


def round_and_clip(values: Array, target: np.dtype) -> Array:
    """Converts values to another type; floats are rounded half to even and clipped to integers, NaN becomes 0."""
    if values.dtype.kind != "f" or target.kind not in "iu":
        return values.astype(target)
    limits = np.iinfo(target)
    rounded = np.rint(values.astype(np.float64))
    inside = np.clip(rounded, float(limits.min), np.nextafter(float(limits.max) + 1, 0))
    return np.where(rounded >= float(limits.max), target.type(limits.max), np.nan_to_num(inside).astype(target))
