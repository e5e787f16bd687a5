"""Rounding of products of integers, as parts of ops: what is behind the point is cut off by a shift.

A factor is an integer times a power of two, so a product is one multiplication of 64 bits, one addition that decides
how halves round, and one shift. For what goes in see `factor_of`: nothing here overflows.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.composite import Parts

PLACES = 31
"""How many bits of a factor are behind the point where nothing is shifted."""

MOST_PLACES = 62
"""Of a product of 62 bits nothing is left beyond: it is less than a half."""

_BIAS = 1022
"""What is added to the exponent of an f64 whose significand is at least ½."""


def cut(parts: Parts, product: SSAValue, places: SSAValue, *, away: bool) -> SSAValue:
    """`product`, an i64 of 62 bits, divided by 2 to the power `places`, rounded to the nearest integer.

    Halves are rounded up, or `away` from zero. `places` is between 0 and 62, and broadcasts.
    """
    # A shift by -1, of no places, leaves nothing.
    half = parts.op("left_shift", parts.scalar(1, places), parts.op("subtract", places, 1))
    if away:
        less = parts.op("subtract", half, parts.op("minimum", places, 1))
        half = parts.op("where", parts.op("less", product, 0), less, half)
    return parts.op("right_shift", parts.op("add", product, half), places)


def factor_of(parts: Parts, ratio: SSAValue) -> tuple[SSAValue, SSAValue]:
    """A factor and places, both i64, for a `ratio` of f64: the factor is rounded to 31 bits, halves away from zero.

    Times an i32 and `cut`, a ratio of 2³¹ or more gives what no 32 bits hold, for any number but 0, and one below 2⁻³²
    gives 0. Infinity counts among the former, and so does what is not a number, as if positive: it has no sign.
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
    """`value`, of wider integers or whole floats, as the nearest number of an integer type."""
    limits = np.iinfo(dtype)
    return parts.op("cast", parts.op("clip", value, a_min=float(limits.min), a_max=float(limits.max)), dtype=dtype)
