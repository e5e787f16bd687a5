"""Products with factors of 31 bits behind the point, and how they round."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.fixed_point import FixedPointMultiplyOp, FixedPointMultiplyPerAxisOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(FixedPointMultiplyOp)
def evaluate_fixed_point_multiply(op: FixedPointMultiplyOp, x: Array) -> Array:
    """The product of 64 bits without those behind the point."""
    product = x.astype(np.int64) * op.multiplier.value.data
    return saturated(divided(product, np.int64(31 - op.shift.value.data)), np.dtype(np.int32))


@evaluates(FixedPointMultiplyPerAxisOp)
def evaluate_fixed_point_multiply_per_axis(
    op: FixedPointMultiplyPerAxisOp, x: Array, m: Array, lshift: Array, rshift: Array
) -> Array:
    """The same with the axes of the factors moved to the front of x."""
    axes = ints(op.axes)
    first = np.moveaxis(x, axes, range(len(axes))).astype(np.int64)
    behind = (...,) + (None,) * (x.ndim - len(axes))
    left = lshift.astype(np.int64) if op.is_lshift_required.value.data else np.zeros_like(lshift, np.int64)
    right = rshift.astype(np.int64) if op.is_rshift_required.value.data else np.zeros_like(rshift, np.int64)
    places = (31 + right - left)[behind]
    product = first * m.astype(np.int64)[behind]
    small = np.where(places > 62, 0, divided(product, np.clip(places, 0, 62)))
    # What is beyond 32 bits stays there, whatever it is doubled.
    large = np.clip(product, -(1 << 31), 1 << 31) * (np.int64(1) << np.clip(-places, 0, 31))
    result = saturated(np.where(places < 0, large, small), np.dtype(np.int32))
    return np.moveaxis(result, range(len(axes)), axes)


def divided(product: Array, places: Array | np.int64, *, away: bool = False) -> Array:
    """`product`, of 62 bits, over 2 to the power `places`, rounded; halves go up, or `away` from zero."""
    divisor = np.left_shift(np.int64(1), places)
    magnitude = np.abs(product) if away else product
    # Rounded half up: the floor of a quotient, and one more where the remainder is half of the divisor or more.
    quotient, remainder = np.divmod(magnitude, divisor)
    rounded = quotient + (remainder >= divisor - remainder)
    return np.sign(product) * rounded if away else rounded


def saturated(value: Array, dtype: np.dtype) -> Array:
    """The nearest numbers of an integer type."""
    limits = np.iinfo(dtype)
    return np.clip(value, limits.min, limits.max).astype(dtype)
