"""Scalars of an index space: row-major numbers of elements, clamped and rounded numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, f64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.topi.build import Body, value_range
from xrelay.index_algebra.dims import Dim

COORDINATE_LIMIT: Final = 1 << 40
"""A bound of coordinates that is beyond any axis."""


def row_major(b: Body, indices: Sequence[AffineExpr], sizes: Sequence[Dim]) -> AffineExpr:
    """Returns the row-major number of an element of a tensor of `sizes`."""
    number: AffineExpr = AffineConstantExpr(0)
    for index, size in zip(indices, sizes, strict=True):
        number = b.scaled(number, size) + index
    return number


def clamp(b: Body, value: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """Clamps a float; NaN becomes the lower bound."""
    value = b.select(b.compare(value, "gt", low), value, low)
    return b.select(b.compare(value, "lt", high), value, high)


def rounded(b: Body, value: SSAValue, target: Attribute) -> SSAValue:
    """Converts a number to another type; floats are rounded half to even and clipped to integers, NaN becomes 0."""
    if not isinstance(value.type, AnyFloat) or isinstance(target, AnyFloat) or value.type == target:
        return b.convert(value, target)
    wide = b.add(math.RoundEvenOp(b.convert(value, f64)))
    least, most = value_range(target)
    low, high = b.constant(least, f64), b.constant(most, f64)
    is_number = b.add(arith.CmpfOp(wide, wide, "ord"))
    is_high = b.compare(wide, "ge", high)
    inside = b.select(b.compare(wide, "lt", low), low, wide)
    fits = b.logical_and(is_number, b.compare(wide, "lt", high))
    number = b.convert(b.select(fits, inside, 0), target)
    return b.select(is_high, most, number)
