"""Powers of floats, as in IEEE 754 and C, and of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def float_power(base: NDArray[Any], exponent: NDArray[Any] | float) -> NDArray[Any]:
    """Returns `base` to the power of `exponent`, for numpy floats and arrays of floats.

    numpy computes square roots if every exponent is one half. The square roots of -0.0 and -infinity are -0.0 and NaN,
    but their powers are 0.0 and infinity.
    """
    rooted = (exponent == 0.5) & ((base == 0) | (base == -np.inf))
    return np.power(np.where(rooted, np.abs(base), base), exponent)


def integer_power(base: NDArray[Any], exponent: NDArray[Any]) -> NDArray[Any]:
    """Returns `base` to the power of `exponent`, for integers of the same dtype, modulo the width.

    A negative exponent yields the truncated reciprocal: 1 or -1 for a base of 1 or -1, else 0.
    """
    negative = exponent < 0
    # Negative powers of 1 and -1 depend only on the parity of the exponent; those of other integers are 0.
    kept = np.where(negative & (base != 1) & (base != -1), base.dtype.type(0), base)
    return np.power(kept, np.where(negative, 2 - (exponent & 1), exponent))
