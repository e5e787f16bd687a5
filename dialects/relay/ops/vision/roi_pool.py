"""`relay.vision.roi_pool`: maxima of bins of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.constraints import Constraints, OneOf
from xrelay.dialects.relay.core.properties import (
    float_property,
    required_ints_property,
    string_property,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.vision.region_op import FAR, RegionOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.dims import Dim

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr

    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.relay.computes.regions import Regions
    from xrelay.dialects.topi.build import Body


@register_relay_op
@irdl_op_definition
class RoiPoolOp(RegionOp):
    """Regions of images pooled to `pooled_size`: each element is the maximum over a bin of the region.

    Corners are multiplied by `spatial_scale` and rounded, halves away from zero. Both are inclusive; a region has at
    least one element. Along each axis it is divided into one bin for each element of the result. The bins have equal
    size and include elements that they contain partially. A bin without elements of the image yields 0.

    Constraints:
    - C5: `layout` is "NCHW".

    Example:
    ```mlir
    %y = relay.vision.roi_pool(%x, %rois) {pooled_size = [3, 2], spatial_scale = 1.0}
        : (tensor<2x3x6x7xf32>, tensor<4x5xf32>) -> tensor<4x3x3x2xf32>
    ```

    """

    name = "relay.vision.roi_pool"
    CONSTRAINTS: ClassVar[Constraints] = {**RegionOp.CONSTRAINTS, "C5": OneOf("layout", ("NCHW",))}

    data = operand_def()
    rois = operand_def()

    pooled_size = required_ints_property()
    spatial_scale = float_property()
    layout = string_property("NCHW")

    def evaluate(self, data: Array, rois: Array) -> Array:
        """Computes the maximum of each bin."""
        numbers = self.image_numbers(rois, len(data))
        result = np.zeros((len(rois), data.shape[1], *ints(self.pooled_size)), data.dtype)
        for number, region in enumerate(self.wide_regions(data, rois)):
            rows, columns = (self._bins(region, axis, data.shape[2 + axis]) for axis in (0, 1))
            for i, (top, bottom) in enumerate(rows):
                for j, (left, right) in enumerate(columns):
                    if top < bottom and left < right:
                        result[number, :, i, j] = data[numbers[number], :, top:bottom, left:right].max((1, 2))
        return result

    def _bins(self, region: Array, axis: int, extent: int) -> list[tuple[int, int]]:
        """Returns the half-open range of elements of each bin along an axis."""
        real, count = region.dtype.type, ints(self.pooled_size)[axis]
        low, high = (_nearest(region[place - axis] * real(self.spatial_scale.value.data)) for place in (2, 4))
        size = real(max(high - low + 1, 1)) / real(count)
        starts = [int(np.floor(real(i) * size)) + low for i in range(count)]
        stops = [int(np.ceil(real(i + 1) * size)) + low for i in range(count)]
        rows = zip(starts, stops, strict=True)
        return [(min(max(start, 0), extent), min(max(stop, 0), extent)) for start, stop in rows]

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds the maxima over the rows of each bin, and the maxima of these over its columns."""
        from xdsl.dialects import arith

        from xrelay.dialects.relay.computes.regions import Regions

        regions = Regions(build, self.image_axes)
        (rows, columns), (height, width) = (_bounds(build, regions, axis) for axis in (0, 1)), regions.extents
        element, lowest = regions.element, float("-inf")

        def fold_rows(b: Body) -> SSAValue:
            region, channel, row, x = b.spatial
            image = b.read_index(regions.images, region)
            is_in_bin = _is_in_bin(b, rows, row)

            def inside() -> SSAValue:
                return b.read(regions.data, image, channel, b.reduction[0], x)

            return b.largest(
                b.accumulators[0], b.guard(is_in_bin, element, inside, lambda: b.constant(lowest, element))
            )

        spatial: dict[str, Dim] = {"r": regions.count, "c": regions.channels, "p": regions.size[0], "x": width}
        of_rows = build.compute("roi_rows", spatial, element, fold_rows, reduce={"y": height}, init=[lowest])

        def fold_columns(b: Body) -> SSAValue:
            region, channel, row, column = b.spatial
            is_in_bin = _is_in_bin(b, columns, column)
            value = b.read(of_rows, region, channel, row, b.reduction[0])
            return b.largest(b.accumulators[0], b.select(is_in_bin, value, b.constant(lowest, element)))

        shape = build.result_shape
        best = build.compute("roi_columns", shape, element, fold_columns, reduce={"x": width}, init=[lowest])

        def choose(b: Body) -> SSAValue:
            region, _, row, column = b.spatial
            has_rows, has_columns = _has_elements(b, rows, region, row), _has_elements(b, columns, region, column)
            has_both = b.add(arith.AndIOp(has_rows, has_columns))
            return b.select(has_both, b.read(best, *b.spatial), b.constant(0, element))

        return [build.compute("roi_pool", shape, element, choose)]


def _nearest(value: float) -> int:
    """Rounds to the nearest integer, halves away from zero; clamps to ±`FAR`."""
    near = min(value, float(FAR)) if value > -FAR else -float(FAR)
    whole = int(near)
    return whole + (1 if near > 0 else -1) * (abs(near - whole) >= 0.5)


def _bounds(build: TopiBuilder, regions: Regions, axis: int) -> SSAValue:
    """Returns the table of the half-open ranges of elements of bins along an axis: (regions, bins, 2)."""
    from xdsl.dialects import arith, math

    from xrelay.dialects.relay.computes.scalars import as_number
    from xrelay.dialects.topi.scalars import convert_scalar
    from xrelay.dialects.upstream.arith_extras import CmpiOp

    extent, bins, real = regions.extents[axis], regions.size[axis], regions.real

    def bound(b: Body) -> SSAValue:
        region, number, end = b.spatial
        low, high = (_rounded(b, regions.corner(b, region, place - axis)) for place in (2, 4))
        length = b.maximum(b.plus(b.minus(high, low), b.constant(1, i64)), b.constant(1, i64))
        size = b.divide(convert_scalar(b, length, real), b.constant(bins, real))
        place = b.times(as_number(b, number + end, real), size)
        is_end = b.add(CmpiOp(b.index(end), b.constant(1, IndexType()), "eq"))
        whole = b.select(is_end, b.add(math.CeilOp(place)), b.add(math.FloorOp(place)))
        found = b.plus(b.add(arith.FPToSIOp(whole, i64)), low)
        return b.minimum(b.maximum(found, b.constant(0, i64)), b.size(extent, i64))

    spatial: dict[str, Dim] = {"r": regions.count, "p": bins, "e": 2}
    return build.compute("roi_bounds", spatial, i64, bound)


def _rounded(b: Body, value: SSAValue) -> SSAValue:
    """Rounds to the nearest integer, halves away from zero; clamps to ±`FAR`."""
    from xdsl.dialects import arith, math

    from xrelay.dialects.relay.computes.scalars import FAR, clamped

    near = clamped(b, value, b.constant(-FAR, value.type), b.constant(FAR, value.type))
    whole = b.add(math.TruncOp(near))
    half, one = b.constant(0.5, value.type), b.constant(1, value.type)
    is_far = b.add(arith.CmpfOp(b.absolute(b.minus(near, whole)), half, "oge"))
    step = b.add(math.CopySignOp(one, near))
    return b.add(arith.FPToSIOp(b.select(is_far, b.plus(whole, step), whole), i64))


def _is_in_bin(b: Body, bounds: SSAValue, number: AffineExpr) -> SSAValue:
    """Returns whether the current element of the reduction is in a bin."""
    from xdsl.dialects import arith

    from xrelay.dialects.relay.computes.scalars import as_number
    from xrelay.dialects.upstream.arith_extras import CmpiOp

    place = as_number(b, b.reduction[0], i64)
    first, end = (b.read(bounds, b.spatial[0], number, side) for side in (0, 1))
    return b.add(arith.AndIOp(b.add(CmpiOp(place, first, "sge")), b.add(CmpiOp(place, end, "slt"))))


def _has_elements(b: Body, bounds: SSAValue, region: AffineExpr, number: AffineExpr) -> SSAValue:
    """Returns whether a bin has elements."""
    from xrelay.dialects.upstream.arith_extras import CmpiOp

    first, end = (b.read(bounds, region, number, side) for side in (0, 1))
    return b.add(CmpiOp(first, end, "slt"))
