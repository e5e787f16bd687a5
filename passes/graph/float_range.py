"""The range of the numbers of a float type."""

from __future__ import annotations

import numpy as np

_GREATEST_BFLOAT16 = (2 - 2.0**-7) * 2.0**127


def float_range(dtype: np.dtype) -> tuple[float, float]:
    """Returns the least positive normal number and the greatest finite number of a float type."""
    if dtype.kind != "f":  # bfloat16, which numpy lacks, has the exponents of f32
        return float(np.finfo(np.float32).tiny), _GREATEST_BFLOAT16
    limits = np.finfo(dtype)
    return float(limits.tiny), float(limits.max)
