"""`relay.vision.roi_pool`: the maxima of the bins of regions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.scalars import as_number
from xrelay.dialects.relay.ops.vision_roi import RoiPoolOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.relay_to_topi.vision_regions import FAR, Regions, between


@implements(RoiPoolOp, "vision.roi_pool.generic")
def build_roi_pool(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the maxima over the rows of each bin, and the maxima of these over its columns."""
    regions = Regions(emitter)
    count, channels = regions.count, shape_of(regions.data)[1]
    (rows, columns), (height, width) = (_bounds(regions, axis) for axis in (0, 1)), regions.extents
    element, lowest = regions.element, float("-inf")

    def fold_rows(b: Body) -> SSAValue:
        region, channel, row, x = b.spatial
        image = b.as_index(b.read(regions.images, region))
        is_in_bin = _is_in_bin(b, rows, row)
        value = b.guard(
            is_in_bin,
            element,
            lambda: b.read(regions.data, image, channel, b.reduction[0], x),
            lambda: b.constant(lowest, element),
        )
        return b.largest(b.accumulators[0], value)

    spatial: dict[str, Dim] = {"r": count, "c": channels, "p": regions.size[0], "x": width}
    of_rows = emitter.compute("roi_rows", spatial, element, fold_rows, reduce={"y": height}, init=[lowest])

    def fold_columns(b: Body) -> SSAValue:
        region, channel, row, column = b.spatial
        is_in_bin = _is_in_bin(b, columns, column)
        value = b.read(of_rows, region, channel, row, b.reduction[0])
        return b.largest(b.accumulators[0], b.add(SelectOp(is_in_bin, value, b.constant(lowest, element))))

    names = variables("i", emitter.result_shape)
    best = emitter.compute("roi_columns", names, element, fold_columns, reduce={"x": width}, init=[lowest])

    def choose(b: Body) -> SSAValue:
        region, _, row, column = b.spatial
        has_elements = b.add(
            arith.AndIOp(_has_elements(b, rows, region, row), _has_elements(b, columns, region, column))
        )
        return b.add(SelectOp(has_elements, b.read(best, *b.spatial), b.constant(0, element)))

    return [emitter.compute("roi_pool", names, element, choose)]


def _bounds(regions: Regions, axis: int) -> SSAValue:
    """Returns the table of the half-open ranges of elements of bins along an axis: (regions, bins, 2)."""
    extent, bins, real = regions.extents[axis], regions.size[axis], regions.real

    def bound(b: Body) -> SSAValue:
        region, number, end = b.spatial
        low, high = (_rounded(b, regions.corner(b, region, place - axis)) for place in (2, 4))
        length = b.maximum(b.plus(b.minus(high, low), b.constant(1, i64)), b.constant(1, i64))
        size = b.divide(convert_scalar(b, length, real), b.constant(bins, real))
        place = b.times(as_number(b, number + end, real), size)
        is_end = b.add(CmpiOp(b.index(end), b.constant(1, IndexType()), "eq"))
        whole = b.add(SelectOp(is_end, b.add(math.CeilOp(place)), b.add(math.FloorOp(place))))
        found = b.plus(b.add(arith.FPToSIOp(whole, i64)), low)
        return b.minimum(b.maximum(found, b.constant(0, i64)), b.size(extent, i64))

    spatial: dict[str, Dim] = {"r": regions.count, "p": bins, "e": 2}
    return regions.emitter.compute("roi_bounds", spatial, i64, bound)


def _rounded(b: Body, value: SSAValue) -> SSAValue:
    """Rounds to the nearest integer, halves away from zero; clamps to ±`FAR`."""
    near = between(b, value, b.constant(-FAR, value.type), b.constant(FAR, value.type))
    whole = b.add(math.TruncOp(near))
    half, one = b.constant(0.5, value.type), b.constant(1, value.type)
    is_far = b.add(arith.CmpfOp(b.add(math.AbsFOp(b.minus(near, whole))), half, "oge"))
    step = b.add(math.CopySignOp(one, near))
    return b.add(arith.FPToSIOp(b.add(SelectOp(is_far, b.plus(whole, step), whole)), i64))


def _is_in_bin(b: Body, bounds: SSAValue, number: AffineExpr) -> SSAValue:
    """Returns whether the current element of the reduction is in a bin."""
    place = as_number(b, b.reduction[0], i64)
    first, behind = (b.read(bounds, b.spatial[0], number, end) for end in (0, 1))
    return b.add(arith.AndIOp(b.add(CmpiOp(place, first, "sge")), b.add(CmpiOp(place, behind, "slt"))))


def _has_elements(b: Body, bounds: SSAValue, region: AffineExpr, number: AffineExpr) -> SSAValue:
    """Returns whether a bin has elements."""
    first, behind = (b.read(bounds, region, number, end) for end in (0, 1))
    return b.add(CmpiOp(first, behind, "slt"))
