"""Regions of images."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float64Type, IndexType, f32, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.layouts import arranged
from xrelay.dialects.relay.computes.scalars import FAR, clamped
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim


class Regions:
    """The regions of an op, and their images.

    The op has images and regions as operands, and the properties `pooled_size` and `spatial_scale`. `image_axes` are
    the axes of channels, rows and columns.
    """

    def __init__(self, build: TopiBuilder, image_axes: tuple[int, int, int]):
        self.build, self.image_axes = build, image_axes
        self.data, self.rois = build.operand(0), build.operand(1)
        self.element, self.size = element_of(self.data), build.ints("pooled_size")
        self.real: Attribute = f64 if Float64Type() in (self.element, element_of(self.rois)) else f32
        self.count, shape = shape_of(self.rois)[0], shape_of(self.data)
        self.channels: Dim
        self.channels, *extents = (shape[axis] for axis in image_axes)
        self.extents: tuple[Dim, Dim] = extents[0], extents[1]
        self.images = build.compute("roi_images", {"r": self.count}, IndexType(), self._image)

    def _image(self, b: Body) -> SSAValue:
        number = convert_scalar(b, b.read(self.rois, b.spatial[0], 0), f64)
        # NaN is not a valid image index.
        number = clamped(b, number, b.constant(-1, f64), b.constant(FAR, f64))
        return b.checked_index(b.add(arith.FPToSIOp(number, i64)), shape_of(self.data)[0])

    def corner(self, b: Body, region: AffineExpr, number: int) -> SSAValue:
        """Returns a number of a region times the scale."""
        value = convert_scalar(b, b.read(self.rois, region, number), self.real)
        return b.times(value, b.constant(self.build.number("spatial_scale"), self.real))

    def read(self, b: Body, region: AffineExpr, channel: IndexLike, row: IndexLike, column: IndexLike) -> SSAValue:
        """Reads an element of a region's image in the type of the sums."""
        at = b.read_index(self.images, region), channel, row, column
        return convert_scalar(b, b.read(self.data, *arranged((0, *self.image_axes), at)), self.real)

    def of_point(self, b: Body) -> tuple[AffineExpr, AffineExpr, AffineExpr, AffineExpr]:
        """Returns region, channel, row and column of the current point."""
        channel, row, column = (b.spatial[axis] for axis in self.image_axes)
        return b.spatial[0], channel, row, column
