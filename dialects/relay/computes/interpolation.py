"""Interpolation between the elements on both sides of a coordinate."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.topi.build import Body
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim


def taps_around(b: Body, place: SSAValue, extent: Dim) -> tuple[list[AffineExpr], SSAValue]:
    """Returns the indices of the elements below and above a coordinate within an axis, and the weight of the second."""
    numbers, above = _around(b, place, extent)
    return [_as_index(b, each) for each in numbers], above


def nearest_tap(b: Body, place: SSAValue, extent: Dim) -> AffineExpr:
    """Returns the index of the element nearest to a coordinate, the later of two equally near ones."""
    (number, following), above = _around(b, place, extent)
    is_far = b.add(arith.CmpfOp(above, b.constant(0.5, place.type), "oge"))
    return _as_index(b, b.add(SelectOp(is_far, following, number)))


def between_taps(b: Body, values: Sequence[SSAValue], weight: SSAValue) -> SSAValue:
    """Interpolates two values; `weight` is that of the second."""
    rest = b.minus(b.constant(1, weight.type), weight)
    return b.plus(b.times(values[0], rest), b.times(values[1], weight))


def _around(b: Body, place: SSAValue, extent: Dim) -> tuple[list[SSAValue], SSAValue]:
    floor = b.add(math.FloorOp(place))
    above, number = b.minus(place, floor), b.add(arith.FPToSIOp(floor, i64))
    return [number, b.minimum(b.plus(number, b.constant(1, i64)), b.size(extent - 1, i64))], above


def _as_index(b: Body, number: SSAValue) -> AffineExpr:
    return b.as_index(b.add(arith.IndexCastOp(number, IndexType())))
