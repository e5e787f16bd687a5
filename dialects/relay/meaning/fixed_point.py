"""Rounded quotients by powers of two, and saturation."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.weights import Array


def divided(product: Array, places: Array | np.int64, *, away: bool = False) -> Array:
    """Divides a 62-bit product by `2 ** places`; rounds halves up, or `away` from zero."""
    divisor = np.left_shift(np.int64(1), places)
    magnitude = np.abs(product) if away else product
    # Rounds half up: adds 1 to the floor if the remainder is at least half of the divisor.
    quotient, remainder = np.divmod(magnitude, divisor)
    rounded = quotient + (remainder >= divisor - remainder)
    return np.sign(product) * rounded if away else rounded


def saturated(value: Array, dtype: np.dtype) -> Array:
    """Saturates to an integer type."""
    limits = np.iinfo(dtype)
    return np.clip(value, limits.min, limits.max).astype(dtype)
