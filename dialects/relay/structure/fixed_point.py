"""Fixed-point multiplication of integers with rounding, as parts of composite ops.

A factor is an integer times a power of two. So a product is one 64-bit multiplication, one addition that determines the
rounding of halves, and one shift. With the factors of `factor_of`, nothing overflows.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.composite import Parts

PLACES = 31
"""The number of fractional bits of a factor with exponent 0."""

MOST_PLACES = 62
"""The maximum number of places. With more, a product of 62 bits is less than a half, which rounds to 0."""

_BIAS = 1022
"""The exponent bias of f64 for significands in [½, 1)."""


def cut(parts: Parts, product: SSAValue, places: SSAValue, *, away: bool) -> SSAValue:
    """Returns `product`, an i64 of 62 bits, divided by 2 to the power `places`, rounded to the nearest integer.

    Halves are rounded up, or `away` from zero. `places` is between 0 and 62, and broadcasts.
    """
    # For 0 places the shift by -1 yields 0.
    half = parts.op("left_shift", parts.scalar(1, places), parts.op("subtract", places, 1))
    if away:
        less = parts.op("subtract", half, parts.op("minimum", places, 1))
        half = parts.op("where", parts.op("less", product, 0), less, half)
    return parts.op("right_shift", parts.op("add", product, half), places)


def factor_of(parts: Parts, ratio: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Returns a factor and a number of places, both i64, for an f64 `ratio`; the factor is rounded to 31 bits.

    Halves are rounded away from zero. For a nonzero i32 times the factor and `cut`, a ratio of 2³¹ or more exceeds 32
    bits, and one below 2⁻³² yields 0. Infinities, and NaN as if positive, are ratios of 2³¹ or more.
    """
    bits = parts.op("reinterpret", ratio, dtype="int64")
    exponent = parts.op("bitwise_and", parts.op("right_shift", bits, 52), 0x7FF)
    whole = parts.op("bitwise_or", parts.op("bitwise_and", bits, (1 << 52) - 1), 1 << 52)
    factor = parts.op("right_shift", parts.op("add", whole, 1 << 21), 22)
    places = parts.op("subtract", parts.scalar(_BIAS + PLACES, bits), exponent)
    factor = parts.op("where", parts.op("less", places, 0), parts.scalar(1 << PLACES, bits), factor)
    factor = parts.op("where", parts.op("greater", places, MOST_PLACES), parts.scalar(0, bits), factor)
    factor = parts.op("where", parts.op("less", ratio, 0.0), parts.op("negative", factor), factor)
    return factor, parts.op("clip", places, a_min=0.0, a_max=float(MOST_PLACES))


def saturated(parts: Parts, value: SSAValue, dtype: np.dtype) -> SSAValue:
    """Returns `value`, a tensor of wider integers or integral floats, clamped and cast to an integer type."""
    limits = np.iinfo(dtype)
    return parts.op("cast", parts.op("clip", value, a_min=float(limits.min), a_max=float(limits.max)), dtype=dtype)
