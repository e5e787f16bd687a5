"""Pools over regions of images: `relay.vision.roi_align` and `relay.vision.roi_pool`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    AttributeValue,
    Body,
    Facts,
    FloatElements,
    HalfPrecision,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RankOf,
    RelayOp,
    Tensors,
    TopiBuilder,
    bool_property,
    cast_once,
    float_property,
    image_axes,
    int_property,
    ints,
    register_relay_op,
    required_ints_property,
    shape_text,
    string_property,
    tensor_type,
)

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr

    from xrelay.dialects.relay.computes.regions import Regions, RoiAxis


COORDINATE_LIMIT = 1 << 40
"""Coordinates farther outside are clamped to this when arrays are evaluated."""


class RegionOp(RelayOp):
    """Base of the ops that pool regions of a batch of images. A region is a row `image, x, y, x, y` of corners.

    Image indices are checked at run time.

    Constraints shared by both:
    - C1: the elements of images and regions are floats.
    - C2: `pooled_size` has two numbers, each 1 or more.
    - C3: the images have four axes, with at least one element along each spatial axis.
    - C4: the regions are rows of 5 numbers.
    """

    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.NEVER
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": AtLeast("pooled_size"),
        "C3": RankOf(0, 4, 4),
        "C4": RankOf(1, 2, 2),
    }

    data = operand_def()
    rois = operand_def()

    pooled_size = required_ints_property()
    spatial_scale = float_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts one number for both extents."""
        size = attributes.get("pooled_size")
        if isinstance(size, int):
            attributes["pooled_size"] = (size, size)
        return attributes

    @property
    def image_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns."""
        return (1, 2, 3)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of one pooled image for each region; checks C2 to C4."""
        (shape, element), (count, numbers) = facts.operand(0), facts.shape(1)
        FloatElements(1).check("C1", facts, self.properties)
        size = ints(self.pooled_size)
        facts.require(len(size) == 2, "C2", f"pooled_size must have two numbers, found {list(size)}")
        for axis in self.image_axes[1:]:
            facts.require_at_least(shape[axis], 1, "C3", f"spatial extent of {shape_text(shape)}:")
        facts.require_equal(numbers, 5, "C4", "numbers of a region")
        result = [count, *shape[1:]]
        result[self.image_axes[1]], result[self.image_axes[2]] = size
        return tensor_type(result, element)

    def image_numbers(self, rois: Array, count: int) -> Array:
        """Returns the index of the image of each region. Raises `InterpreterError` for an index out of range."""
        from xrelay.dialects.relay.meaning.checked_indices import checked

        numbers = rois[:, 0].astype(np.float64)
        is_near = (numbers > -1) & (numbers < COORDINATE_LIMIT)  # NaN is not a valid index
        return checked(np.where(is_near, numbers, -1).astype(np.int64), count, from_end=False)

    def wide_regions(self, data: Array, rois: Array) -> Array:
        """Returns the regions in the type in which coordinates are computed."""
        return rois.astype(np.float64 if np.float64 in (data.dtype, rois.dtype) else np.float32)


ROI_MODES = ("avg", "max", "max_of_terms")


@register_relay_op
class RoiAlignOp(RegionOp):
    """Regions of images pooled to `pooled_size`: each element is the mean of interpolated samples of a bin.

    Corners are multiplied by `spatial_scale`. Unless `aligned`, a region has at least extent 1. Along each axis it is
    divided into one bin for each element of the result. A bin of size s has m samples at `(i + 0.5) * s / m` from its
    start, where m is `sample_ratio`, or s rounded up if `sample_ratio` is not positive. A sample more than 1 before the
    first element, or beyond the extent, is 0; other samples are clamped to the outermost elements and interpolated
    bilinearly. `mode` "max" takes the greatest sample, and "max_of_terms" the greatest of all weighted elements (as
    ONNX does). A bin without samples yields 0. Sums are computed in f32, or in f64 if an operand is f64.

    Example:
    ```mlir
    %y = relay.vision.roi_align(%x, %rois) {pooled_size = [3, 2], spatial_scale = 1.0, sample_ratio = 2}
        : (tensor<2x3x6x7xf32>, tensor<4x5xf32>) -> tensor<4x3x3x2xf32>
    ```

    """

    name = "relay.vision.roi_align"
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        **RegionOp.CONSTRAINTS,
        "C5": OneOf("layout", ("NCHW", "NHWC")),
        "C6": OneOf("mode", ROI_MODES),
    }

    data = operand_def()
    rois = operand_def()

    pooled_size = required_ints_property()
    spatial_scale = float_property()
    sample_ratio = int_property(-1)
    layout = string_property("NCHW")
    mode = string_property("avg")
    aligned = bool_property(False)

    @property
    def image_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns."""
        return image_axes(self.layout)

    def evaluate(self, data: Array, rois: Array) -> Array:
        """Samples each region, and takes the mean or maximum of each bin."""
        order = (0, *self.image_axes)
        image, numbers = data.transpose(order), self.image_numbers(rois, len(data))
        result = np.zeros((len(rois), image.shape[1], *ints(self.pooled_size)), np.float64)
        for number, region in enumerate(self.wide_regions(data, rois)):
            rows, columns = (_Places.of(self, region, axis, image.shape[2 + axis]) for axis in (0, 1))
            own = image[numbers[number]].astype(np.float64)
            if self.mode.data == "avg":
                result[number] = np.einsum("chw,ph,qw->cpq", own, rows.mean(), columns.mean())
            elif rows.inside.shape[1] and columns.inside.shape[1]:
                result[number] = _greatest(own, rows, columns, terms=self.mode.data == "max_of_terms")
        return cast_once(result.transpose(np.argsort(order)), data.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds a fold over all samples.

        The mean of a number of samples that depends on the region is computed by two products with tables of the
        weights of rows and columns.
        """
        from xrelay.dialects.relay.computes.regions import Regions, RoiAxis

        regions = Regions(build, self.image_axes)
        axes = RoiAxis(regions, 0), RoiAxis(regions, 1)
        if self.mode.data != "avg":
            value = self._maximum(build, regions, axes)
        elif self.sample_ratio.value.data > 0:
            value = self._mean(build, regions, axes)
        else:
            value = self._product(build, regions, axes)
        return [build.converted("roi_rounded", value, regions.element)]

    def _product(self, build: TopiBuilder, regions: Regions, axes: Sequence[RoiAxis]) -> SSAValue:
        """Multiplies the images by the weights of rows, then of columns."""
        (rows, columns), real, (height, width) = (axis.weights() for axis in axes), regions.real, regions.extents
        spatial = {"r": regions.count, "c": regions.channels, "p": regions.size[0], "x": width}

        def add_row(b: Body) -> SSAValue:
            region, channel, row, x = b.spatial
            value = regions.read(b, region, channel, b.reduction[0], x)
            return b.accumulate_product(b.accumulators[0], b.read(rows, region, row, b.reduction[0]), value)

        of_rows = build.compute("roi_rows", spatial, real, add_row, reduce={"y": height}, init=[0.0])

        def add_column(b: Body) -> SSAValue:
            region, channel, row, column = regions.of_point(b)
            weight = b.read(columns, region, column, b.reduction[0])
            value = b.read(of_rows, region, channel, row, b.reduction[0])
            return b.accumulate_product(b.accumulators[0], weight, value)

        return build.compute("roi_align", build.result_shape, real, add_column, reduce={"x": width}, init=[0.0])

    def _mean(self, build: TopiBuilder, regions: Regions, axes: Sequence[RoiAxis]) -> SSAValue:
        """Sums over all samples and divides by their number."""
        from xrelay.dialects.relay.computes.regions import RoiSamples

        samples, shape, real = RoiSamples(regions, axes), build.result_shape, regions.real

        def add(b: Body) -> SSAValue:
            return b.accumulate(b.accumulators[0], samples.value(b, 0.0))

        total = build.compute("roi_sum", shape, real, add, reduce=samples.reduce, init=[0.0])
        count = self.sample_ratio.value.data**2

        def divide(b: Body) -> SSAValue:
            return b.divide(b.read(total, *b.spatial), count)

        return build.compute("roi_align", shape, real, divide)

    def _maximum(self, build: TopiBuilder, regions: Regions, axes: Sequence[RoiAxis]) -> SSAValue:
        """Folds the maximum over all samples; 0 without samples."""
        from xrelay.dialects.relay.computes.regions import RoiSamples

        samples = RoiSamples(regions, axes, terms=self.mode.data == "max_of_terms")
        shape, real, lowest = build.result_shape, regions.real, float("-inf")

        def fold(b: Body) -> SSAValue:
            return b.largest(b.accumulators[0], samples.value(b, lowest))

        best = build.compute("roi_greatest", shape, real, fold, reduce=samples.reduce, init=[lowest])

        def choose(b: Body) -> SSAValue:
            has_rows, has_columns = (axis.has_places(b, b.spatial[0]) for axis in axes)
            has_places = b.logical_and(has_rows, has_columns)
            return b.select(has_places, b.read(best, *b.spatial), 0)

        return build.compute("roi_align", shape, real, choose)


@dataclass(frozen=True)
class _Places:
    """The samples of the bins along one axis of a region: (bins, samples)."""

    extent: int
    clipped: Array
    inside: Array
    count: float

    @staticmethod
    def of(op: RoiAlignOp, region: Array, axis: int, extent: int) -> _Places:
        """Returns the samples within the image; if there may be many, a range that includes them."""
        real, bins = region.dtype.type, ints(op.pooled_size)[axis]
        low, high = (region[place - axis] * real(op.spatial_scale.value.data) for place in (2, 4))
        length = high - low if op.aligned.value.data else np.maximum(high - low, real(1))
        size, ratio = length / real(bins), op.sample_ratio.value.data
        count = real(ratio) if ratio > 0 else np.ceil(size)
        starts = low + np.arange(bins).astype(region.dtype) * size
        most = ratio if ratio > 0 else min(int(np.nan_to_num(np.clip(count, 0, COORDINATE_LIMIT))), 2 * extent + 7)
        step: Array = np.arange(most)[None].astype(np.float64)
        if ratio <= 0:
            first = np.floor((-1 - starts.astype(np.float64)) / (float(size) / float(count or 1)) - 0.5) - 1
            step = step + np.clip(np.nan_to_num(first), 0, max(float(np.nan_to_num(count)) - most, 0))[:, None]
        places = starts[:, None] + (step.astype(region.dtype) + real(0.5)) * size / count
        inside = (places >= -1) & (places <= extent)
        return _Places(extent, np.clip(np.where(inside, places, 0), 0, extent - 1), inside, float(count))

    def taps(self) -> tuple[Array, Array]:
        """Returns the elements below and above each sample."""
        below = np.floor(self.clipped).astype(np.int64)
        return below, np.minimum(below + 1, self.extent - 1)

    def tap_weights(self) -> tuple[Array, Array]:
        """Returns the weights of the elements below and above each sample."""
        above = (self.clipped - np.floor(self.clipped)).astype(np.float64)
        return (1 - above) * self.inside, above * self.inside

    def weights(self) -> Array:
        """Returns the weight of each element for each sample: (bins, samples, extent)."""
        result = np.zeros((*self.inside.shape, self.extent))
        for at, weight in zip(self.taps(), self.tap_weights(), strict=True):
            result += weight[..., None] * (at[..., None] == np.arange(self.extent))
        return result

    def mean(self) -> Array:
        """Returns the weight of each element in the mean of a bin: (bins, extent)."""
        return self.weights().sum(1) / np.maximum(self.count, 1)


def _greatest(image: Array, rows: _Places, columns: _Places, *, terms: bool) -> Array:
    """Returns the greatest sample of each bin, or with `terms` the greatest weighted element."""
    if not terms:
        values = np.einsum("chw,psh,qtw->cpqst", image, rows.weights(), columns.weights())
        return values.max((-2, -1))
    found: list[Array] = []
    for at, weight in zip(rows.taps(), rows.tap_weights(), strict=True):
        for other, factor in zip(columns.taps(), columns.tap_weights(), strict=True):
            value = image[:, at[:, None, :, None], other[None, :, None, :]]
            found.append(value * weight[:, None, :, None] * factor[None, :, None, :])
    return np.max(np.stack(found), (0, -2, -1))


@register_relay_op
class RoiPoolOp(RegionOp):
    """Regions of images pooled to `pooled_size`: each element is the maximum over a bin of the region.

    Corners are multiplied by `spatial_scale` and rounded, halves away from zero. Both are inclusive; a region has at
    least one element. Along each axis it is divided into one bin for each element of the result. The bins have equal
    size and include elements that they contain partially. A bin without elements of the image yields 0.

    Example:
    ```mlir
    %y = relay.vision.roi_pool(%x, %rois) {pooled_size = [3, 2], spatial_scale = 1.0}
        : (tensor<2x3x6x7xf32>, tensor<4x5xf32>) -> tensor<4x3x3x2xf32>
    ```

    """

    name = "relay.vision.roi_pool"
    CONSTRAINTS = {**RegionOp.CONSTRAINTS, "C5": OneOf("layout", ("NCHW",))}

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

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds the maxima over the rows of each bin, and the maxima of these over its columns."""
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

            return b.largest(b.accumulators[0], b.guard(is_in_bin, element, inside, lowest))

        spatial = {"r": regions.count, "c": regions.channels, "p": regions.size[0], "x": width}
        of_rows = build.compute("roi_rows", spatial, element, fold_rows, reduce={"y": height}, init=[lowest])

        def fold_columns(b: Body) -> SSAValue:
            region, channel, row, column = b.spatial
            is_in_bin = _is_in_bin(b, columns, column)
            value = b.read(of_rows, region, channel, row, b.reduction[0])
            return b.largest(b.accumulators[0], b.select(is_in_bin, value, lowest))

        shape = build.result_shape
        best = build.compute("roi_columns", shape, element, fold_columns, reduce={"x": width}, init=[lowest])

        def choose(b: Body) -> SSAValue:
            region, _, row, column = b.spatial
            has_rows, has_columns = _has_elements(b, rows, region, row), _has_elements(b, columns, region, column)
            has_both = b.logical_and(has_rows, has_columns)
            return b.select(has_both, b.read(best, *b.spatial), 0)

        return [build.compute("roi_pool", shape, element, choose)]


def _nearest(value: float) -> int:
    """Rounds to the nearest integer, halves away from zero; clamps to ±`COORDINATE_LIMIT`."""
    near = min(value, float(COORDINATE_LIMIT)) if value > -COORDINATE_LIMIT else -float(COORDINATE_LIMIT)
    whole = int(near)
    return whole + (1 if near > 0 else -1) * (abs(near - whole) >= 0.5)


def _bounds(build: TopiBuilder, regions: Regions, axis: int) -> SSAValue:
    """Returns the table of the half-open ranges of elements of bins along an axis: (regions, bins, 2)."""
    extent, bins, real = regions.extents[axis], regions.size[axis], regions.real

    def bound(b: Body) -> SSAValue:
        region, number, end = b.spatial
        low, high = (_rounded(b, regions.corner(b, region, place - axis)) for place in (2, 4))
        length = b.maximum(b.plus(b.minus(high, low), 1), 1)
        size = b.divide(b.convert(length, real), bins)
        place = b.times(b.number(number + end, real), size)
        is_end = b.compare(b.index(end), "eq", 1)
        whole = b.select(is_end, b.ceil(place), b.floor(place))
        found = b.plus(b.convert(whole, i64), low)
        return b.minimum(b.maximum(found, 0), b.size(extent, i64))

    spatial = {"r": regions.count, "p": bins, "e": 2}
    return build.compute("roi_bounds", spatial, i64, bound)


def _rounded(b: Body, value: SSAValue) -> SSAValue:
    """Rounds to the nearest integer, halves away from zero; clamps to ±`COORDINATE_LIMIT`."""
    from xdsl.dialects import math

    from xrelay.dialects.relay.computes.scalars import COORDINATE_LIMIT, clamp

    near = clamp(b, value, b.constant(-COORDINATE_LIMIT, value.type), b.constant(COORDINATE_LIMIT, value.type))
    whole = b.add(math.TruncOp(near))
    half, one = b.constant(0.5, value.type), b.constant(1, value.type)
    is_far = b.compare(b.absolute(b.minus(near, whole)), "ge", half)
    step = b.add(math.CopySignOp(one, near))
    return b.convert(b.select(is_far, b.plus(whole, step), whole), i64)


def _is_in_bin(b: Body, bounds: SSAValue, number: AffineExpr) -> SSAValue:
    """Returns whether the current element of the reduction is in a bin."""
    place = b.number(b.reduction[0], i64)
    first, end = (b.read(bounds, b.spatial[0], number, side) for side in (0, 1))
    return b.logical_and(b.compare(place, "ge", first), b.compare(place, "lt", end))


def _has_elements(b: Body, bounds: SSAValue, region: AffineExpr, number: AffineExpr) -> SSAValue:
    """Returns whether a bin has elements."""
    first, end = (b.read(bounds, region, number, side) for side in (0, 1))
    return b.compare(first, "lt", end)
