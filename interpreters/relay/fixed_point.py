"""Products with factors of 31 fraction bits, and their rounding."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.fixed_point import FixedPointMultiplyOp, FixedPointMultiplyPerAxisOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(FixedPointMultiplyOp)
def evaluate_fixed_point_multiply(op: FixedPointMultiplyOp, x: Array) -> Array:
    """Shifts the 64-bit product right."""
    product = x.astype(np.int64) * op.multiplier.value.data
    return saturated(divided(product, np.int64(31 - op.shift.value.data)), np.dtype(np.int32))


@evaluates(FixedPointMultiplyPerAxisOp)
def evaluate_fixed_point_multiply_per_axis(
    op: FixedPointMultiplyPerAxisOp, x: Array, m: Array, lshift: Array, rshift: Array
) -> Array:
    """Like `fixed_point_multiply`, with the axes of the factors moved to the front of x."""
    axes = ints(op.axes)
    first = np.moveaxis(x, axes, range(len(axes))).astype(np.int64)
    behind = (...,) + (None,) * (x.ndim - len(axes))
    left = lshift.astype(np.int64) if op.is_lshift_required.value.data else np.zeros_like(lshift, np.int64)
    right = rshift.astype(np.int64) if op.is_rshift_required.value.data else np.zeros_like(rshift, np.int64)
    places = (31 + right - left)[behind]
    product = first * m.astype(np.int64)[behind]
    small = np.where(places > 62, 0, divided(product, np.clip(places, 0, 62)))
    # Clipping is exact: numbers beyond 32 bits are saturated after the shift anyway.
    large = np.clip(product, -(1 << 31), 1 << 31) * (np.int64(1) << np.clip(-places, 0, 31))
    result = saturated(np.where(places < 0, large, small), np.dtype(np.int32))
    return np.moveaxis(result, range(len(axes)), axes)


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
