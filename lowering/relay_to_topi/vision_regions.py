"""Regions of images for vision ops."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float64Type, IndexType, f32, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.vision_roi import RegionOp
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim

FAR = 1 << 40
"""Coordinates farther outside are clamped to this."""


class Regions:
    """The regions of an op, and their images."""

    def __init__(self, emitter: TopiBuilder):
        self.emitter, self.op = emitter, cast(RegionOp, emitter.op)
        self.data, self.rois = emitter.operand(0), emitter.operand(1)
        self.element, self.size = element_of(self.data), ints(self.op.pooled_size)
        self.real: Attribute = f64 if Float64Type() in (self.element, element_of(self.rois)) else f32
        self.count, shape = shape_of(self.rois)[0], shape_of(self.data)
        _, rows, columns = self.op.image_axes
        self.extents: tuple[Dim, Dim] = shape[rows], shape[columns]
        self.images = emitter.compute("roi_images", {"r": self.count}, IndexType(), self._image)

    def _image(self, b: Body) -> SSAValue:
        number = convert_scalar(b, b.read(self.rois, b.spatial[0], 0), f64)
        # NaN is not a valid image index.
        number = between(b, number, b.constant(-1, f64), b.constant(FAR, f64))
        return b.checked_index(b.add(arith.FPToSIOp(number, i64)), shape_of(self.data)[0])

    def corner(self, b: Body, region: AffineExpr, number: int) -> SSAValue:
        """Returns a number of a region times the scale."""
        value = convert_scalar(b, b.read(self.rois, region, number), self.real)
        return b.times(value, b.constant(self.emitter.number("spatial_scale"), self.real))

    def read(self, b: Body, region: AffineExpr, channel: IndexLike, row: IndexLike, column: IndexLike) -> SSAValue:
        """Reads an element of a region's image in the type of the sums."""
        at: list[IndexLike] = [b.as_index(b.read(self.images, region)), 0, 0, 0]
        for axis, index in zip(self.op.image_axes, (channel, row, column), strict=True):
            at[axis] = index
        return convert_scalar(b, b.read(self.data, *at), self.real)

    def of_point(self, b: Body) -> tuple[AffineExpr, AffineExpr, AffineExpr, AffineExpr]:
        """Returns region, channel, row and column of the current point."""
        channel, row, column = (b.spatial[axis] for axis in self.op.image_axes)
        return b.spatial[0], channel, row, column


def between(b: Body, value: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """Clamps a float; NaN becomes the lower bound."""
    value = b.add(SelectOp(b.add(arith.CmpfOp(value, low, "ogt")), value, low))
    return b.add(SelectOp(b.add(arith.CmpfOp(value, high, "olt")), value, high))
