"""How small and how great the numbers of a float type are."""

from __future__ import annotations

import numpy as np

_GREATEST_BFLOAT16 = (2 - 2.0**-7) * 2.0**127


def float_range(dtype: np.dtype) -> tuple[float, float]:
    """The least positive number of a float type that has all digits, and the greatest number."""
    if dtype.kind != "f":  # bfloat16, which numpy does not know, has the exponents of an f32
        return float(np.finfo(np.float32).tiny), _GREATEST_BFLOAT16
    limits = np.finfo(dtype)
    return float(limits.tiny), float(limits.max)
