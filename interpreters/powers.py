"""Powers of floats, as IEEE 754 and C have them."""

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
