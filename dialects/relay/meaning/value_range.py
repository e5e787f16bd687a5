"""The least and the greatest value of an element type."""

from __future__ import annotations

from typing import Any

import numpy as np


def value_range(dtype: np.dtype) -> tuple[Any, Any]:
    """Returns the least and the greatest value of a dtype, as scalars of it."""
    if dtype.kind == "b":
        return np.False_, np.True_
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(limits.min), dtype.type(limits.max)
    return dtype.type(-np.inf), dtype.type(np.inf)
