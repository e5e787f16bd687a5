"""The element types in which sums are evaluated."""

from __future__ import annotations

import numpy as np


def accumulator(dtype: np.dtype) -> np.dtype:
    """Returns the dtype of products and sums: f32 for floats of 16 bits, else `dtype`."""
    if dtype.kind in "iub" or dtype.itemsize >= 4:
        return dtype
    return np.dtype(np.float32)
