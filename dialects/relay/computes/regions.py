"""Regions of images, and the samples of `vision.roi_align` in their bins: tables of coordinates and weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from xdsl.dialects.builtin import Float64Type, IndexType, f32, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import Body, IndexLike, TopiBuilder, element_of
from xrelay.dialects.relay.computes.interpolation import taps_around
from xrelay.dialects.relay.computes.layouts import arrange
from xrelay.dialects.relay.computes.scalars import COORDINATE_LIMIT, clamp
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
        number = b.convert(b.read(self.rois, b.spatial[0], 0), f64)
        # NaN is not a valid image index.
        number = clamp(b, number, b.constant(-1, f64), b.constant(COORDINATE_LIMIT, f64))
        return b.checked_index(b.convert(number, i64), shape_of(self.data)[0])

    def corner(self, b: Body, region: AffineExpr, number: int) -> SSAValue:
        """Returns a number of a region times the scale."""
        value = b.convert(b.read(self.rois, region, number), self.real)
        return b.times(value, self.build.number("spatial_scale"))

    def read(self, b: Body, region: AffineExpr, channel: IndexLike, row: IndexLike, column: IndexLike) -> SSAValue:
        """Reads an element of a region's image in the type of the sums."""
        at = b.read_index(self.images, region), channel, row, column
        return b.convert(b.read(self.data, *arrange((0, *self.image_axes), at)), self.real)

    def of_point(self, b: Body) -> tuple[AffineExpr, AffineExpr, AffineExpr, AffineExpr]:
        """Returns region, channel, row and column of the current point."""
        channel, row, column = (b.spatial[axis] for axis in self.image_axes)
        return b.spatial[0], channel, row, column


MAX_NEIGHBOURS = 8
"""An upper bound for the number of samples between an element's neighbours: samples are over 1/2 element apart."""
OUTSIDE, NO_PLACE = -2, -3
"""The table entries for samples outside of the image, which count as 0, and after the last sample."""


class RoiAxis:
    """The bins of the regions along one spatial axis."""

    def __init__(self, regions: Regions, axis: int):
        self.regions, self.axis, self.real = regions, axis, regions.real
        self.extent, self.bins = regions.extents[axis], regions.size[axis]
        self.ratio, self.aligned = regions.build.integer("sample_ratio"), regions.build.flag("aligned")
        self.most: Dim = self.ratio if self.ratio > 0 else self.extent * 2 + 7

    def bin_size(self, b: Body, region: AffineExpr) -> SSAValue:
        """Returns the length of a bin."""
        low, high = (self.regions.corner(b, region, place - self.axis) for place in (2, 4))
        length = b.minus(high, low)
        if not self.aligned:
            length = b.maximum(length, 1)
        return b.divide(length, self.bins)

    def number(self, b: Body, size: SSAValue) -> SSAValue:
        """Returns the number of samples of a bin."""
        return b.constant(self.ratio, self.real) if self.ratio > 0 else b.ceil(size)

    def place(self, b: Body, step: AffineExpr, low: SSAValue) -> SSAValue:
        """Returns the coordinate of sample `step`, counted from the first that may reach `low`, or a marker."""
        region, size = b.spatial[0], self.bin_size(b, b.spatial[0])
        count, first = self.number(b, size), self.regions.corner(b, region, 2 - self.axis)
        start = b.plus(first, b.times(b.number(b.spatial[1], self.real), size))
        number = b.number(step, f64)
        if self.ratio <= 0:
            number = b.plus(number, self._first(b, start, size, count, low))
        # f32 does not represent large sample numbers exactly.
        is_place = b.compare(number, "lt", b.convert(count, f64))
        number = b.convert(number, self.real)
        shift = b.divide(b.times(b.plus(number, 0.5), size), count)
        place = b.plus(start, shift)
        outside = b.select(self._is_inside(b, place), place, OUTSIDE)
        return b.select(is_place, outside, NO_PLACE)

    def _first(self, b: Body, start: SSAValue, size: SSAValue, count: SSAValue, low: SSAValue) -> SSAValue:
        """Returns the number of a sample that is not after `low`, with at most two samples in between."""
        start, size, count = (b.convert(value, f64) for value in (start, size, count))
        steps = b.divide(b.minus(low, start), b.divide(size, count))
        number = b.minus(b.floor(b.minus(steps, 0.5)), 1)
        last = b.minimum(b.minus(count, 1), COORDINATE_LIMIT)
        number = b.select(b.compare(number, "lt", last), number, last)
        return b.select(b.compare(number, "gt", 0), number, 0)

    def _is_inside(self, b: Body, place: SSAValue) -> SSAValue:
        low, high = b.constant(-1, self.real), b.size(self.extent, self.real)
        return b.logical_and(b.compare(place, "ge", low), b.compare(place, "le", high))

    def places(self) -> SSAValue:
        """Returns the table of coordinates: (regions, bins, samples)."""
        spatial = {"r": self.regions.count, "p": self.bins, "s": self.most}
        return self.regions.build.compute(
            "roi_places", spatial, self.real, lambda b: self.place(b, b.spatial[2], b.constant(-1, f64))
        )

    def weights(self) -> SSAValue:
        """Returns the table of the weights of elements in the mean of a bin: (regions, bins, extent)."""

        def add(b: Body) -> SSAValue:
            row = b.number(b.spatial[2], self.real)
            below = b.minus(b.convert(row, f64), 1)
            place = self.place(b, b.reduction[0], below)
            near = b.absolute(b.minus(clipped(b, place, self.extent), row))
            one, zero = b.constant(1, self.real), b.constant(0, self.real)
            weight = b.maximum(b.minus(one, near), zero)
            is_inside = b.compare(place, "ge", -1)
            return b.accumulate(b.accumulators[0], b.select(is_inside, weight, zero))

        spatial = {"r": self.regions.count, "p": self.bins, "y": self.extent}
        build = self.regions.build
        sums = build.compute("roi_sums", spatial, self.real, add, reduce={"s": MAX_NEIGHBOURS}, init=[0.0])

        def divide(b: Body) -> SSAValue:
            count = self.number(b, self.bin_size(b, b.spatial[0]))
            return b.divide(b.read(sums, *b.spatial), b.maximum(count, 1))

        return build.compute("roi_weights", spatial, self.real, divide)

    def taps(self, b: Body, place: SSAValue) -> list[tuple[AffineExpr, SSAValue]]:
        """Returns the indices of the elements below and above a coordinate, and their weights."""
        indices, above = taps_around(b, clipped(b, place, self.extent), self.extent)
        return list(zip(indices, (b.minus(1, above), above), strict=True))

    def has_places(self, b: Body, region: AffineExpr) -> SSAValue:
        """Returns whether the bins of a region have samples."""
        return b.compare(self.number(b, self.bin_size(b, region)), "gt", 0)


def clipped(b: Body, place: SSAValue, extent: Dim) -> SSAValue:
    """Clamps a coordinate to the outermost elements."""
    return clamp(b, place, b.constant(0, place.type), b.size(extent - 1, place.type))


class RoiSamples:
    """The values of the samples of bins; with `terms`, the greatest of the weighted elements instead of their sum."""

    def __init__(self, regions: Regions, axes: Sequence[RoiAxis], *, terms: bool = False):
        self.regions, self.axes, self.terms = regions, axes, terms
        self.tables = [axis.places() for axis in axes]
        self.reduce: dict[str, Dim] = {name: axis.most for name, axis in zip("yx", axes, strict=True)}

    def value(self, b: Body, otherwise: float) -> SSAValue:
        """Returns the value of the current sample, 0 outside of the image, `otherwise` if there is no such sample."""
        real = self.regions.real
        region, channel, *bins = self.regions.of_point(b)
        rows = zip(self.tables, bins, b.reduction, strict=True)
        places = [b.read(table, region, bin_, step) for table, bin_, step in rows]
        zero, least = b.constant(0, real), b.minimum(*places)
        is_inside = b.compare(least, "ge", -1)
        value = b.guard(is_inside, real, lambda: self._inside(b, region, channel, places), lambda: zero)
        is_place = b.compare(least, "gt", NO_PLACE)
        return b.select(is_place, value, otherwise)

    def _inside(self, b: Body, region: AffineExpr, channel: AffineExpr, places: Sequence[SSAValue]) -> SSAValue:
        rows, columns = (axis.taps(b, place) for axis, place in zip(self.axes, places, strict=True))

        def term(row: tuple[AffineExpr, SSAValue], column: tuple[AffineExpr, SSAValue]) -> SSAValue:
            value = self.regions.read(b, region, channel, row[0], column[0])
            return b.times(b.times(row[1], column[1]), value)

        combine = b.maximum if self.terms else b.plus
        return reduce(combine, (term(row, column) for row in rows for column in columns))
