"""Powers of floats, as IEEE 754 and C have them, and of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def float_power(base: NDArray[Any], exponent: NDArray[Any] | float) -> NDArray[Any]:
    """`base` to the power of `exponent`, of numpy's floats and arrays of them.

    numpy takes a square root where every exponent is one half. That of -0.0 is -0.0, and -infinity has none, but their
    powers are 0.0 and infinity.
    """
    rooted = (exponent == 0.5) & ((base == 0) | (base == -np.inf))
    return np.power(np.where(rooted, np.abs(base), base), exponent)


def integer_power(base: NDArray[Any], exponent: NDArray[Any]) -> NDArray[Any]:
    """`base` to the power of `exponent`, of integers of one dtype; wraps around, as products do.

    With a negative exponent it is the truncated reciprocal: 1 or -1 for a base of 1 or -1, else 0.
    """
    negative = exponent < 0
    # Powers of 1, -1 and 0 depend on whether the exponent is odd; no other integer has a reciprocal.
    kept = np.where(negative & (base != 1) & (base != -1), base.dtype.type(0), base)
    return np.power(kept, np.where(negative, 2 - (exponent & 1), exponent))
