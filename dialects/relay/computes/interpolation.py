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


def taps_around(b: Body, place: SSAValue, extent: Dim, *, nearest: bool) -> tuple[list[AffineExpr], SSAValue | None]:
    """Returns the index of the nearest element; or the surrounding two, and the weight of the second."""
    floor = b.add(math.FloorOp(place))
    after, number = b.minus(place, floor), b.add(arith.FPToSIOp(floor, i64))
    following = b.minimum(b.plus(number, b.constant(1, i64)), b.size(extent - 1, i64))
    if nearest:
        is_far = b.add(arith.CmpfOp(after, b.constant(0.5, place.type), "oge"))
        numbers, weight = [b.add(SelectOp(is_far, following, number))], None
    else:
        numbers, weight = [number, following], after
    return [b.as_index(b.add(arith.IndexCastOp(each, IndexType()))) for each in numbers], weight


def between_taps(b: Body, values: Sequence[SSAValue], weight: SSAValue | None) -> SSAValue:
    """Returns the only value, or the interpolation of both."""
    if weight is None:
        return values[0]
    rest = b.minus(b.constant(1, weight.type), weight)
    return b.plus(b.times(values[0], rest), b.times(values[1], weight))
