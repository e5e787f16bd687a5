"""Pools over a given number of windows or whole images: `relay.nn.adaptive_avg_pool2d`, `global_max_pool2d`, …."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    Layout,
    MixedPrecision,
    Number,
    Quantization,
    Tensors,
    TopiBuilder,
    ints,
    ints_property,
    maximum,
    not_differentiable,
    product,
    register_relay_op,
)
from xrelay.dialects.relay.ops.nn.pool import PoolOp
from xrelay.errors import InterpreterError
from xrelay.index_algebra.windows import each

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.windows import AdaptiveWindows


class AdaptivePoolOp(PoolOp):
    """Base of the pools that divide each spatial axis into `output_size` windows.

    Window i of m over n elements begins at element `floor(i * n / m)` and ends before `ceil((i + 1) * n / m)`, so
    neighbouring windows may share an element. A single number applies to all axes; without numbers the result has the
    data's extents.

    Constraints shared by all, in addition to C1 and C2 of pools:
    - C3: `output_size` has no number, one, or one for each spatial axis, and none is negative.
    - C4: an axis that is divided into windows has elements.
    """

    ARGUMENTS = ("output_size", *PoolOp.ARGUMENTS)

    output_size = ints_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts a single number as size."""
        size = attributes.get("output_size")
        if isinstance(size, int):
            attributes["output_size"] = (size,)
        return attributes

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the numbers of windows; checks C3 and C4."""
        sizes, count = ints(self.output_size), len(self.AXES)
        message = f"output_size must have {count} non-negative numbers, found {list(sizes)}"
        facts.require(len(sizes) in (0, 1, count) and all(size >= 0 for size in sizes), "C3", message)
        if not sizes:
            return {axis: extents[axis] for axis in self.AXES}
        wanted = sizes * count if len(sizes) == 1 else sizes
        for axis, size in zip(self.AXES, wanted, strict=True):
            if size:
                facts.require_at_least(extents[axis], 1, "C4", f"axis {axis} of {size} windows:")
        return dict(zip(self.AXES, wanted, strict=True))

    def fold_windows(self, data: Array, fold: Callable[[Array, tuple[int, ...]], Array]) -> Array:
        """Applies `fold` to each window, and the axes along which it is reduced."""
        plain = self.to_plain_layout(data)
        extents, sizes = plain.shape[2:], ints(self.output_size)
        counts = each(sizes, len(extents)) if sizes else extents
        for axis, extent, count in zip(self.AXES, extents, counts, strict=True):
            if count and not extent:
                raise InterpreterError(f"axis {axis} of {count} windows: 0 is less than 1")
        result, axes = np.empty((*plain.shape[:2], *counts), data.dtype), tuple(range(2, plain.ndim))
        for place in np.ndindex(*counts):
            rows = zip(place, extents, counts, strict=True)
            window = [slice(i * extent // count, -(-(i + 1) * extent // count)) for i, extent, count in rows]
            result[(..., *place)] = fold(plain[(..., *window)], axes)
        return self.to_layout(result)

    def windows(self, build: TopiBuilder) -> AdaptiveWindows:
        """Returns the windows of the index space."""
        from xrelay.dialects.relay.computes.windows import AdaptiveWindows

        return AdaptiveWindows(build, self.AXES, *self.layouts)

    def divided_axes(self, of: SSAValue, build: GradientBuilder) -> Iterator[tuple[int, int, int]]:
        """Yields the axes that are divided into windows, with their numbers of windows and elements."""
        for axis in map(self.layouts[0].index, self.AXES):
            count, extent = build.shape(of)[axis], build.shape(self.data)[axis]
            if count != extent:
                if not isinstance(count, int) or not isinstance(extent, int):
                    raise not_differentiable(self, f"the extent {extent} of its data is not known")
                yield axis, count, extent


class AdaptiveAvgPoolOp(AdaptivePoolOp):
    """Base of the means of windows; means of integers are truncated."""

    QUANTIZATION = Quantization.MEAN
    MIXED_PRECISION = MixedPrecision.NEVER

    def evaluate(self, data: Array) -> Array:
        """Sums in double precision."""
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        def mean(window: Array, axes: tuple[int, ...]) -> Array:
            if data.dtype.kind not in "iu":
                return np.asarray(np.mean(window, axis=axes, dtype=np.float64))
            total = np.asarray(np.sum(window, axis=axes, dtype=np.int64))
            return truncated_quotient(total, prod(window.shape[axis] for axis in axes))

        return self.fold_windows(data, mean)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sums each window and divides by its size."""
        from xrelay.dialects.relay.computes.widening import for_any_width

        return for_any_width(self._means)(build)

    def _means(self, build: TopiBuilder) -> Tensors:
        windows, element = self.windows(build), build.element(build.operand(0))
        sums = windows.build_fold("adaptive_pool_sum", 0, lambda b, total, x: b.accumulate(total, x))

        def mean(b: Body) -> SSAValue:
            return b.divide(b.read(sums, *b.spatial), windows.size(b))

        return self.to_out_layout(build, build.compute("adaptive_avg_pool", windows.shape, element, mean))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Sums the shares of the windows that contain an element, along each spatial axis."""
        of = self.to_data_layout(of, build)
        for axis, count, extent in self.divided_axes(of, build):
            if count and extent % count == 0:
                share = build.op("multiply", of, count / extent)
                of = build.op("repeat", share, repeats=extent // count, axis=axis)
            else:
                of = build.multiply_axis(of, axis, build.constant(_shares(count, extent), of))
        return [of]


class AdaptiveMaxPoolOp(AdaptivePoolOp):
    """Base of the greatest elements of windows."""

    QUANTIZATION = Quantization.CHOICE

    def evaluate(self, data: Array) -> Array:
        """Takes numpy's maximum."""
        return self.fold_windows(data, lambda window, axes: np.asarray(np.maximum.reduce(window, axis=axes)))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Folds the maximum over each window."""
        from xrelay.dialects.topi.build import lowest

        first = lowest(build.element(build.operand(0)))
        best = self.windows(build).build_fold("adaptive_max_pool", first, lambda b, best, x: b.largest(best, x))
        return self.to_out_layout(build, best)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of a pool over disjoint windows; elements of overlapping windows are repeated first.

        Shorter windows repeat their last element, which does not change the first greatest element.
        """
        of, data, layout = self.to_data_layout(of, build), self.data, self.layouts[0]
        sizes, spread = dict.fromkeys(map(layout.index, self.AXES), 1), dict[int, Array]()
        for axis, count, extent in self.divided_axes(of, build):
            if not count:
                return [build.zeros_like(self.data)]
            sizes[axis] = extent // count
            if extent % count:
                places = _window_elements(count, extent)
                sizes[axis], spread[axis] = places.shape[1], np.eye(extent)[places.ravel()]
                data = build.op("take", data, build.constant(places.ravel()), axis=axis)
        size = tuple(sizes.values())
        name = f"nn.max_pool{len(self.AXES)}d_grad"
        found = build.op(name, of, data, pool_size=size, strides=size, layout=str(layout))
        for axis, matrix in spread.items():
            found = build.multiply_axis(found, axis, build.constant(matrix, found))
        return [found]


def _windows(count: int, extent: int) -> list[range]:
    """Returns the elements of each of `count` windows."""
    return [range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]


def _shares(count: int, extent: int) -> Array:
    """Returns the weight of each of `extent` elements in the mean of each of `count` windows."""
    shares = np.zeros((count, extent))
    for number, window in enumerate(_windows(count, extent)):
        shares[number, window] = 1 / len(window)
    return shares


def _window_elements(count: int, extent: int) -> Array:
    """Returns the elements of each window as rows; shorter rows repeat the last element."""
    windows = _windows(count, extent)
    longest = max(map(len, windows))
    return np.array([[*window, *[window[-1]] * (longest - len(window))] for window in windows], np.int64)


@register_relay_op
class AdaptiveAvgPool1DOp(AdaptiveAvgPoolOp):
    """The mean of each of `output_size` windows over the width; means of integers are truncated.

    Example:
    ```mlir
    %y = relay.nn.adaptive_avg_pool1d(%x) {output_size = [3]} : (tensor<1x8x16xf32>) -> tensor<1x8x3xf32>
    ```

    """

    name = "relay.nn.adaptive_avg_pool1d"
    AXES = "W"


@register_relay_op
class AdaptiveAvgPool2DOp(AdaptiveAvgPoolOp):
    """The mean of each of `output_size` windows over height and width; means of integers are truncated.

    Example:
    ```mlir
    %y = relay.nn.adaptive_avg_pool2d(%x) {output_size = [3, 2]} : (tensor<1x8x7x5xf32>) -> tensor<1x8x3x2xf32>
    ```

    """

    name = "relay.nn.adaptive_avg_pool2d"
    AXES = "HW"


@register_relay_op
class AdaptiveAvgPool3DOp(AdaptiveAvgPoolOp):
    """The mean of each of `output_size` windows over depth, height and width; means of integers are truncated.

    Example:
    ```mlir
    %y = relay.nn.adaptive_avg_pool3d(%x) {output_size = [2]} : (tensor<1x8x3x4x5xf32>) -> tensor<1x8x2x2x2xf32>
    ```

    """

    name = "relay.nn.adaptive_avg_pool3d"
    AXES = "DHW"


@register_relay_op
class AdaptiveMaxPool1DOp(AdaptiveMaxPoolOp):
    """The greatest element of each of `output_size` windows over the width.

    Example:
    ```mlir
    %y = relay.nn.adaptive_max_pool1d(%x) {output_size = [3]} : (tensor<1x8x16xf32>) -> tensor<1x8x3xf32>
    ```

    """

    name = "relay.nn.adaptive_max_pool1d"
    AXES = "W"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of `nn.adaptive_max_pool2d` of images of height 1."""
        sizes = ints(self.output_size)
        return self.gradient_of_twin(AdaptiveMaxPool2DOp, of, build, output_size=(1, *sizes) if sizes else ())


@register_relay_op
class AdaptiveMaxPool2DOp(AdaptiveMaxPoolOp):
    """The greatest element of each of `output_size` windows over height and width.

    Example:
    ```mlir
    %y = relay.nn.adaptive_max_pool2d(%x) {output_size = [3, 2]} : (tensor<1x8x7x5xf32>) -> tensor<1x8x3x2xf32>
    ```

    """

    name = "relay.nn.adaptive_max_pool2d"
    AXES = "HW"


@register_relay_op
class AdaptiveMaxPool3DOp(AdaptiveMaxPoolOp):
    """The greatest element of each of `output_size` windows over depth, height and width.

    Example:
    ```mlir
    %y = relay.nn.adaptive_max_pool3d(%x) {output_size = [2]} : (tensor<1x8x3x4x5xf32>) -> tensor<1x8x2x2x2xf32>
    ```

    """

    name = "relay.nn.adaptive_max_pool3d"
    AXES = "DHW"


class GlobalPoolOp(PoolOp):
    """Base of the pools over whole spatial axes."""

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns an extent of 1 for each spatial axis."""
        return dict.fromkeys(self.AXES, 1)

    @property
    def axes_of_data(self) -> list[int]:
        """The spatial axes in the layout of the data."""
        return [self.layouts[0].index(axis) for axis in self.AXES]

    def build_fold(
        self,
        build: TopiBuilder,
        label: str,
        first: Number,
        fold: Callable[[Body, SSAValue, SSAValue], SSAValue],
    ) -> SSAValue:
        """Folds all elements of each image, in the layout of the data."""
        from xrelay.dialects.topi.named.base import TAPS

        data, layout, axes = build.operand(0), self.layouts[0], self.axes_of_data
        shape = build.shape(data)

        def body(b: Body) -> SSAValue:
            taps = dict(zip(axes, b.reduction, strict=True))
            at = [taps.get(axis, index) for axis, index in enumerate(b.spatial)]
            return fold(b, b.accumulators[0], b.read(data, *at))

        # Blocks have the size of the layout, even if the extent of the data is symbolic.
        kept = [extent if axis.factor is None else axis.factor for extent, axis in zip(shape, layout.axes, strict=True)]
        spatial: list[Dim] = [1 if axis in axes else extent for axis, extent in enumerate(kept)]
        reduce = {TAPS[letter]: shape[axis] for letter, axis in zip(self.AXES, axes, strict=True)}
        return build.compute(label, spatial, build.element(data), body, reduce=reduce, init=[first])


class GlobalAvgPoolOp(GlobalPoolOp):
    """Base of the means over whole spatial axes."""

    QUANTIZATION = Quantization.MEAN
    MIXED_PRECISION = MixedPrecision.NEVER

    def evaluate(self, data: Array) -> Array:
        """Sums in double precision; integer means are truncated, and 0 if there are no elements."""
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        plain = self.to_plain_layout(data)
        axes, count = tuple(range(2, plain.ndim)), math.prod(plain.shape[2:])
        if data.dtype.kind in "iu":
            total = np.asarray(np.sum(plain, axis=axes, keepdims=True, dtype=np.int64))
            mean = truncated_quotient(total, np.full(total.shape, max(count, 1), np.int64))
        else:
            mean = np.sum(plain, axis=axes, keepdims=True, dtype=np.float64) / np.float64(count)
        return self.to_layout(mean.astype(data.dtype))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sums and divides by the number of elements."""
        from xrelay.dialects.relay.computes.widening import for_any_width

        return for_any_width(self._mean)(build)

    def _mean(self, build: TopiBuilder) -> Tensors:
        data = build.operand(0)
        element, count = build.element(data), product([build.shape(data)[axis] for axis in self.axes_of_data])
        sums = self.build_fold(build, "global_pool_sum", 0, lambda b, total, x: b.accumulate(total, x))

        # The mean of no elements is NaN: zero times infinity.
        def scale(b: Body) -> SSAValue:
            if isinstance(count, int):
                return b.constant(1 / count if count else float("inf"), element)
            return b.divide(b.constant(1, element), b.size(count, element))

        def mean(b: Body) -> SSAValue:
            total = b.read(sums, *b.spatial)
            if isinstance(element, AnyFloat):
                return b.times(total, scale(b))
            return b.divide(total, b.size(maximum(1, count), element))

        return self.to_out_layout(build, build.compute(build.label, build.shape(sums), element, mean))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of each image, divided by its number of elements, for each element."""
        of = self.to_data_layout(of, build)
        return [build.broadcast_like(build.divided_by_count(of, self.data, self.axes_of_data), self.data)]


class GlobalMaxPoolOp(GlobalPoolOp):
    """Base of the maxima over whole spatial axes."""

    QUANTIZATION = Quantization.CHOICE

    def evaluate(self, data: Array) -> Array:
        """Takes numpy's maximum, of no elements the least value."""
        from xrelay.dialects.relay.meaning.element_types import value_range

        plain, least = self.to_plain_layout(data), value_range(data.dtype)[0]
        return self.to_layout(np.max(plain, axis=tuple(range(2, plain.ndim)), keepdims=True, initial=least))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Folds the maximum over the spatial axes."""
        from xrelay.dialects.topi.build import lowest

        first = lowest(build.element(build.operand(0)))
        return self.to_out_layout(
            build, self.build_fold(build, build.label, first, lambda b, best, x: b.largest(best, x))
        )

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of a pool with one window over the whole image."""
        shape = build.shape(self.data)
        sizes = [extent for extent in (shape[axis] for axis in self.axes_of_data) if isinstance(extent, int)]
        if len(sizes) < len(self.AXES):
            return [self._at_greatest(of, build)]
        if 0 in sizes:
            return [build.zeros_like(self.data)]
        name = f"nn.max_pool{len(self.AXES)}d_grad"
        return [build.op(name, of, self.data, pool_size=sizes, **self.properties)]

    def _at_greatest(self, of: SSAValue, build: GradientBuilder) -> SSAValue:
        """Returns the gradient of each image at its first greatest element, for symbolic extents."""
        (layout, out_layout), plain = self.layouts, Layout.parse(self.image_axes)
        data, of = build.in_layout(self.data, layout, plain), build.in_layout(of, out_layout, plain)
        rows, given = (build.op("reshape", value, newshape=(0, 0, -1)) for value in (data, of))
        # The least element is appended, because an image may have no elements.
        room = build.op("nn.pad", rows, build.nearest_scalar(-math.inf, rows), pad_width=(0, 0, 0, 0, 0, 1))
        places = build.op("argmax", room, axis=[2], keepdims=True)
        found = build.op("scatter_elements", build.zeros_like(room), places, given, axis=2, reduction="update")
        return build.in_layout(build.reshape_like(build.op("slice_like", found, rows), data), plain, layout)


@register_relay_op
class GlobalAvgPool1DOp(GlobalAvgPoolOp):
    """The mean over the whole width.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool1d(%x) : (tensor<1x8x16xf32>) -> tensor<1x8x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool1d"
    AXES = "W"


@register_relay_op
class GlobalAvgPool2DOp(GlobalAvgPoolOp):
    """The mean over the whole height and width, which are kept with extent 1.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool2d(%x) : (tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool2d"
    AXES = "HW"


@register_relay_op
class GlobalAvgPool3DOp(GlobalAvgPoolOp):
    """The mean over the whole depth, height and width.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool3d(%x) : (tensor<1x8x3x4x4xf32>) -> tensor<1x8x1x1x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool3d"
    AXES = "DHW"


@register_relay_op
class GlobalMaxPool1DOp(GlobalMaxPoolOp):
    """The greatest element over the whole width.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool1d(%x) : (tensor<1x8x16xf32>) -> tensor<1x8x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool1d"
    AXES = "W"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of `nn.global_max_pool2d` of images of height 1."""
        return self.gradient_of_twin(GlobalMaxPool2DOp, of, build)


@register_relay_op
class GlobalMaxPool2DOp(GlobalMaxPoolOp):
    """The greatest element over the whole height and width, which are kept with extent 1.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool2d(%x) : (tensor<1x512x7x7xf32>) -> tensor<1x512x1x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool2d"
    AXES = "HW"


@register_relay_op
class GlobalMaxPool3DOp(GlobalMaxPoolOp):
    """The greatest element over the whole depth, height and width.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool3d(%x) : (tensor<1x8x3x4x4xf32>) -> tensor<1x8x1x1x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool3d"
    AXES = "DHW"
