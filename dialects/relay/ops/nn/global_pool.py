"""Pools over whole images: `relay.nn.global_avg_pool2d`, `relay.nn.global_max_pool2d` and others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.pool import PoolOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.dims import Dim, maximum, product

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body, Number


class GlobalPoolOp(PoolOp):
    """Base of the pools over whole spatial axes."""

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns an extent of 1 for each spatial axis."""
        return dict.fromkeys(self.AXES, 1)

    @property
    def axes_of_data(self) -> list[int]:
        """The spatial axes in the layout of the data."""
        return [self.layouts[0].index(axis) for axis in self.AXES]

    def folded(
        self,
        build: TopiBuilder,
        label: str,
        first: Number,
        fold: Callable[[Body, SSAValue, SSAValue], SSAValue],
    ) -> SSAValue:
        """Folds all elements of each image, in the layout of the data."""
        from xrelay.dialects.topi.named.window import TAPS

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

    QUANTIZATION: ClassVar[Quantization | None] = Quantization.MEAN
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    def evaluate(self, data: Array) -> Array:
        """Sums in double precision; integer means are truncated, and 0 if there are no elements."""
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        plain = self.plain(data)
        axes, count = tuple(range(2, plain.ndim)), math.prod(plain.shape[2:])
        if data.dtype.kind in "iu":
            total = np.asarray(np.sum(plain, axis=axes, keepdims=True, dtype=np.int64))
            mean = truncated_quotient(total, np.full(total.shape, max(count, 1), np.int64))
        else:
            mean = np.sum(plain, axis=axes, keepdims=True, dtype=np.float64) / np.float64(count)
        return self.laid_out(mean.astype(data.dtype))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Sums and divides by the number of elements."""
        from xrelay.dialects.relay.computes.means import for_any_width

        return for_any_width(self._mean)(build)

    def _mean(self, build: TopiBuilder) -> Sequence[SSAValue]:
        data = build.operand(0)
        element, count = build.element(data), product([build.shape(data)[axis] for axis in self.axes_of_data])
        sums = self.folded(build, "global_pool_sum", 0, lambda b, total, x: b.accumulate(total, x))

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

        return self.in_out_layout(build, build.compute(build.label, build.shape(sums), element, mean))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of each image, divided by its number of elements, for each element."""
        of = self.in_layout_of_data(of, build)
        return [build.broadcast_like(build.divided_by_count(of, self.data, self.axes_of_data), self.data)]


class GlobalMaxPoolOp(GlobalPoolOp):
    """Base of the maxima over whole spatial axes."""

    QUANTIZATION: ClassVar[Quantization | None] = Quantization.CHOICE

    def evaluate(self, data: Array) -> Array:
        """Takes numpy's maximum, of no elements the least value."""
        from xrelay.dialects.relay.meaning.element_types import value_range

        plain, least = self.plain(data), value_range(data.dtype)[0]
        return self.laid_out(np.max(plain, axis=tuple(range(2, plain.ndim)), keepdims=True, initial=least))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds the maximum over the spatial axes."""
        from xrelay.dialects.topi.named.pool import lowest

        first = lowest(build.element(build.operand(0)))
        return self.in_out_layout(build, self.folded(build, build.label, first, lambda b, best, x: b.largest(best, x)))

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
@irdl_op_definition
class GlobalAvgPool1DOp(GlobalAvgPoolOp):
    """The mean over the whole width.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool1d(%x) : (tensor<1x8x16xf32>) -> tensor<1x8x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool1d"
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class GlobalAvgPool2DOp(GlobalAvgPoolOp):
    """The mean over the whole height and width, which are kept with extent 1.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool2d(%x) : (tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool2d"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class GlobalAvgPool3DOp(GlobalAvgPoolOp):
    """The mean over the whole depth, height and width.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool3d(%x) : (tensor<1x8x3x4x4xf32>) -> tensor<1x8x1x1x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool3d"
    AXES: ClassVar[str] = "DHW"


@register_relay_op
@irdl_op_definition
class GlobalMaxPool1DOp(GlobalMaxPoolOp):
    """The greatest element over the whole width.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool1d(%x) : (tensor<1x8x16xf32>) -> tensor<1x8x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool1d"
    AXES: ClassVar[str] = "W"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of `nn.global_max_pool2d` of images of height 1."""
        return self.gradient_of_twin(GlobalMaxPool2DOp, of, build)


@register_relay_op
@irdl_op_definition
class GlobalMaxPool2DOp(GlobalMaxPoolOp):
    """The greatest element over the whole height and width, which are kept with extent 1.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool2d(%x) : (tensor<1x512x7x7xf32>) -> tensor<1x512x1x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool2d"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class GlobalMaxPool3DOp(GlobalMaxPoolOp):
    """The greatest element over the whole depth, height and width.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool3d(%x) : (tensor<1x8x3x4x4xf32>) -> tensor<1x8x1x1x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool3d"
    AXES: ClassVar[str] = "DHW"
