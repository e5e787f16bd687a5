"""Scalars of an index space: indices as numbers, selections by an index, clamped and rounded numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IndexType, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.scalars import convert_scalar, value_range
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp
from xrelay.index_algebra.dims import Dim

FAR: Final = 1 << 40
"""A bound of coordinates that is beyond any axis."""


def as_number(b: Body, index: IndexLike, type: Attribute) -> SSAValue:
    """Converts an index to a scalar type."""
    return convert_scalar(b, b.add(IndexCastOp(b.index(index), i64)), type)


def row_major(b: Body, indices: Sequence[AffineExpr], sizes: Sequence[Dim]) -> AffineExpr:
    """Returns the row-major number of an element of a tensor of `sizes`."""
    number: AffineExpr = AffineConstantExpr(0)
    for index, size in zip(indices, sizes, strict=True):
        number = b.scaled(number, size) + index
    return number


def chosen(b: Body, number: AffineExpr, values: Sequence[SSAValue]) -> SSAValue:
    """Selects value `number`."""
    result, index = values[-1], b.index(number)
    for place, value in reversed(list(enumerate(values[:-1]))):
        is_it = b.add(CmpiOp(index, b.constant(place, IndexType()), "eq"))
        result = b.add(SelectOp(is_it, value, result))
    return result


def clamped(b: Body, value: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """Clamps a float; NaN becomes the lower bound."""
    value = b.select(b.add(arith.CmpfOp(value, low, "ogt")), value, low)
    return b.select(b.add(arith.CmpfOp(value, high, "olt")), value, high)


def rounded(b: Body, value: SSAValue, target: Attribute) -> SSAValue:
    """Converts a number to another type; floats are rounded half to even and clipped to integers, NaN becomes 0."""
    if not isinstance(value.type, AnyFloat) or isinstance(target, AnyFloat) or value.type == target:
        return convert_scalar(b, value, target)
    wide = b.add(math.RoundEvenOp(convert_scalar(b, value, f64)))
    least, most = value_range(target)
    low, high = b.constant(least, f64), b.constant(most, f64)
    is_number = b.add(arith.CmpfOp(wide, wide, "ord"))
    is_high = b.add(arith.CmpfOp(wide, high, "oge"))
    inside = b.select(b.add(arith.CmpfOp(wide, low, "olt")), low, wide)
    fits = b.add(arith.AndIOp(is_number, b.add(arith.CmpfOp(wide, high, "olt"))))
    number = convert_scalar(b, b.select(fits, inside, b.constant(0, f64)), target)
    return b.select(is_high, b.constant(most, target), number)
