"""Pools over windows, with one to three spatial axes: `relay.nn.max_pool2d`, `relay.nn.avg_pool2d` and others.

`nn.max_pool2d_indices` and related ops return the indices of maxima, the second output of ONNX's MaxPool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.sliding_window import ImageOp, InLayouts, Layouts, Numbers, WindowedOp
from xrelay.dialects.relay.gradients.windows import (
    gradients_of_twin,
    layout_with_height,
    window_with_height,
    with_height,
)
from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    Body,
    Constraints,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    Tensors,
    TopiBuilder,
    bool_property,
    ints,
    ints_property,
    no_gradients,
    register_relay_op,
    shape_of,
    string_attribute,
    string_property,
    tensor_type,
    transform_shape,
)
from xrelay.index_algebra.windows import WindowAxis, each, sides_of

if TYPE_CHECKING:
    from xrelay.dialects.topi.named.pool import Kind


class PoolOp(ImageOp):
    """Base of the ops that pool over spatial axes and preserve batch and channels."""

    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    ARGUMENTS = ("layout", "out_layout")

    data = operand_def()

    layout = string_property("")
    out_layout = string_property("")

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C1, C2 and the inherited constraints."""
        image = f"NC{axes}"
        fit = {
            "C1": Layouts((("layout", image), ("out_layout", image)), whole=axes),
            "C2": InLayouts((("layout", image),)),
        }
        return {**super().constraints_over(axes), **fit}

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the result's spatial extents for those of the data."""
        raise NotImplementedError(f"{self.name} does not define the extents of its result")

    @property
    def layouts(self) -> tuple[Layout, Layout]:
        """The layouts of data and result."""
        data, out = self.layout_over(self.layout.data, self.image_axes), self.out_layout.data
        return data, self.layout_over(out, self.image_axes) if out else data

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the data's batch and channels and new spatial extents."""
        shape, element = facts.operand(0)
        layout, out_layout = self.layouts
        extents = self.extents_in(layout, shape)
        return tensor_type(out_layout.shape_from(extents | self.spatial_extents(facts, extents)), element)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if it does not split spatial axes."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        if sorted(layout.primal) != sorted(self.image_axes) or any(layout.factor(axis) for axis in self.AXES):
            return LayoutRefusal(f"pooling does not support layout {layout}")
        own = [str(known) for known in self.layouts]
        if own != [str(layout.text)] * 2:
            return LayoutRefusal(f"it supports {' and '.join(own)}, its data has layout {layout.text}")
        properties: dict[str, Attribute] = {"layout": string_attribute(str(layout)), "out_layout": string_attribute("")}
        return LayoutDecision((layout,), layout, properties)

    def to_plain_layout(self, data: Array) -> Array:
        """Converts the data to the plain order of axes."""
        from xrelay.dialects.relay.meaning.layouts import to_plain

        return to_plain(data, self.layouts[0], self.image_axes)

    def to_layout(self, result: Array) -> Array:
        """Converts a result in the plain order of axes to its layout."""
        from xrelay.dialects.relay.meaning.layouts import from_plain

        return from_plain(result, self.image_axes, self.layouts[1])

    def to_out_layout(self, build: TopiBuilder, result: SSAValue) -> Tensors:
        """Converts the result of an index space from the data's layout to the result's layout."""
        from xrelay.dialects.relay.computes.layouts import in_layout

        return [in_layout(build, result, *self.layouts)]

    def to_data_layout(self, of: SSAValue, build: GradientBuilder) -> SSAValue:
        """Converts the gradient to the layout of the data."""
        layout, out_layout = self.layouts
        return build.in_layout(of, out_layout, layout)

    def gradient_of_twin(
        self, twin: type[PoolOp], of: SSAValue, build: GradientBuilder, **attributes: AttributeValue
    ) -> Gradients:
        """Returns the gradient of a pool over the width: that of the op `twin`, applied to an image of height 1."""
        layout, out_layout = self.layouts
        layouts = {"layout": layout_with_height(layout), "out_layout": layout_with_height(out_layout)}
        other = twin.call(with_height(self.data, layout, build), **layouts, **attributes)
        return gradients_of_twin(other, of, out_layout, [layout], build)


class WindowPoolOp(WindowedOp, PoolOp):
    """Base of the pools with a sliding window; `sliding_window.py` documents the constraints.

    `ceil_mode` rounds the number of windows up, so that the last one may extend beyond the padded data.
    """

    KIND: ClassVar[Kind]
    """The kind of topi's pool."""

    SIZE = "pool_size"
    ARGUMENTS = (
        "pool_size",
        "strides",
        "dilation",
        "padding",
        "layout",
        "out_layout",
        "ceil_mode",
    )

    pool_size = ints_property(1)
    ceil_mode = bool_property(False)

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C6 and the constraints on all windows."""
        return {**super().constraints_over(axes), "C6": Numbers(("pool_size",), (1, len(axes)))}

    @property
    def sizes(self) -> tuple[int, ...]:
        """The window's extent along each spatial axis."""
        return each(ints(self.pool_size), len(self.AXES))

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the number of windows along each spatial axis."""
        window = self.checked_window(facts, ints(self.pool_size))
        return self.window_counts(facts, window, extents, partial=bool(self.ceil_mode.value.data))

    def counts(self, extents: Sequence[int]) -> list[int]:
        """Returns the number of windows along each spatial axis of an array."""
        window, partial = self.window(self.sizes), bool(self.ceil_mode.value.data)
        return [axis.count(extent, partial=partial) for axis, extent in zip(window, extents, strict=True)]

    def fold_taps(self, plain: Array, neutral: float, combine: Callable[[Array, Array], Array]) -> Array:
        """Combines the elements of each window, tap by tap."""
        from xrelay.dialects.relay.meaning.windows import taps

        counts = self.counts(plain.shape[2:])
        result = np.full((*plain.shape[:2], *counts), neutral, plain.dtype)
        return reduce(combine, taps(plain, self.window(self.sizes), counts, neutral), result)

    def build_pool(
        self, build: TopiBuilder, data: SSAValue, type: Attribute, window: Sequence[WindowAxis[int]] | None = None
    ) -> SSAValue:
        """Builds topi's pool of `data` in a channels-first layout, with the op's window unless another is given."""
        from xrelay.dialects.topi.named import Pool1dOp, Pool2dOp, Pool3dOp

        window = self.window(self.sizes) if window is None else window
        pool = (Pool1dOp, Pool2dOp, Pool3dOp)[len(self.AXES) - 1](
            data,
            type,
            self.KIND,
            [axis.size for axis in window],
            strides=[axis.stride for axis in window],
            padding=sides_of(window),
            dilation=[axis.dilation for axis in window],
            count_include_pad=self.KIND == "avg" and build.flag("count_include_pad"),
        )
        return build.insert(pool).results[0]

    def build_in_plain_layout(self, build: TopiBuilder) -> Tensors:
        """Builds topi's pool in the plain layout, between conversions from and to the op's layouts."""
        from xrelay.dialects.relay.computes.layouts import in_layout

        (layout, out_layout), plain = self.layouts, Layout.parse(self.image_axes)
        data = in_layout(build, build.operand(0), layout, plain)
        type = tensor_type(transform_shape(build.result_shape, out_layout, plain), build.element(data))
        return [in_layout(build, self.build_pool(build, data, type), plain, out_layout)]

    @property
    def high_attributes(self) -> dict[str, AttributeValue]:
        """The attributes of the pool of images of height 1 that is equivalent to a pool over the width."""
        (axis,) = self.window(self.sizes)
        return {"pool_size": (1, *self.sizes), "ceil_mode": bool(self.ceil_mode.value.data), **window_with_height(axis)}


class MaxPoolOp(WindowPoolOp):
    """Base of the pools that select the greatest element."""

    QUANTIZATION = Quantization.CHOICE
    KIND = "max"

    def evaluate(self, data: Array) -> Array:
        """Combines the elements of each window."""
        from xrelay.dialects.relay.meaning.element_types import value_range

        return self.to_layout(self.fold_taps(self.to_plain_layout(data), value_range(data.dtype)[0], np.maximum))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds topi's pool, for any layouts. The strategies do not convert channels-first layouts."""
        return self.build_in_plain_layout(build)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns `nn.max_pool2d_grad` or `nn.max_pool3d_grad`."""
        return [build.op(f"{self.relay_name()}_grad", of, self.data, **self.properties)]


class AvgPoolOp(WindowPoolOp):
    """Base of the mean pools."""

    ARGUMENTS = (*WindowPoolOp.ARGUMENTS, "count_include_pad")

    count_include_pad = bool_property(False)

    def sums_and_counts(self, data: Array) -> tuple[Array, Array]:
        """Returns the sum of each window in the plain order of axes, and its divisor, which broadcasts."""
        from xrelay.dialects.relay.meaning.windows import counted_places

        plain = self.to_plain_layout(data)
        total = self.fold_taps(plain, 0, np.add)
        padded = bool(self.count_include_pad.value.data)
        rows = zip(self.window(self.sizes), plain.shape[2:], total.shape[2:], strict=True)
        return total, np.maximum(reduce(np.multiply.outer, [counted_places(*row, padded=padded) for row in rows]), 1)


class DirectAvgPoolOp(AvgPoolOp):
    """Base of the mean pools of tensors that are not quantised."""

    QUANTIZATION = Quantization.MEAN
    KIND = "avg"

    def evaluate(self, data: Array) -> Array:
        """Sums in double precision; means of integers are truncated."""
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        whole = data.dtype.kind in "iu"
        total, count = self.sums_and_counts(data.astype(np.int64 if whole else np.float64))
        mean = truncated_quotient(total, np.broadcast_to(count, total.shape)) if whole else total / count
        return self.to_layout(mean.astype(data.dtype))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds topi's pool, for any layouts. The strategies do not convert channels-first layouts."""
        from xrelay.dialects.relay.computes.widening import for_any_width

        return for_any_width(self.build_in_plain_layout)(build)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns `nn.avg_pool2d_grad` or `nn.avg_pool3d_grad`."""
        return [build.op(f"{self.relay_name()}_grad", of, self.data, **self.properties)]


@register_relay_op
class MaxPool1DOp(MaxPoolOp):
    """The greatest element of each window over the width.

    `nn.max_pool2d` documents C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool1d(%x) {pool_size = [3], strides = [2], padding = [1, 1]}
        : (tensor<1x8x16xf32>) -> tensor<1x8x8xf32>
    ```

    """

    name = "relay.nn.max_pool1d"
    AXES = "W"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of `nn.max_pool2d` with windows of height 1."""
        return self.gradient_of_twin(MaxPool2DOp, of, build, **self.high_attributes)


@register_relay_op
class MaxPool2DOp(MaxPoolOp):
    """The greatest element of each window over height and width; padding is ignored.

    `ceil_mode` rounds the number of windows up, so that the last one may extend beyond the padded data.

    Constraints:
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.max_pool2d(%x) {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]}
        : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>
    ```

    """

    name = "relay.nn.max_pool2d"
    AXES = "HW"


@register_relay_op
class MaxPool3DOp(MaxPoolOp):
    """The greatest element of each window over depth, height and width.

    `nn.max_pool2d` documents C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool3d(%x) {pool_size = [2, 2, 2], strides = [2, 2, 2]}
        : (tensor<1x8x4x6x6xf32>) -> tensor<1x8x2x3x3xf32>
    ```

    """

    name = "relay.nn.max_pool3d"
    AXES = "DHW"


@register_relay_op
class AvgPool1DOp(DirectAvgPoolOp):
    """The mean of each window over the width.

    `nn.avg_pool2d` documents C9.

    Example:
    ```mlir
    %y = relay.nn.avg_pool1d(%x) {pool_size = [2], strides = [2]} : (tensor<1x8x16xf32>) -> tensor<1x8x8xf32>
    ```

    """

    name = "relay.nn.avg_pool1d"
    AXES = "W"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of `nn.avg_pool2d` with windows of height 1."""
        include = bool(self.count_include_pad.value.data)
        return self.gradient_of_twin(AvgPool2DOp, of, build, **self.high_attributes, count_include_pad=include)


@register_relay_op
class AvgPool2DOp(DirectAvgPoolOp):
    """The mean of each window over height and width.

    The divisor is the number of elements of the window inside the data. With `count_include_pad` it includes the
    explicit padding, but not elements beyond it, which `ceil_mode` allows. It is at least 1.

    Constraints:
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], strides = [2, 2]}
        : (tensor<1x64x56x56xf32>) -> tensor<1x64x28x28xf32>
    ```

    """

    name = "relay.nn.avg_pool2d"
    AXES = "HW"


@register_relay_op
class AvgPool3DOp(DirectAvgPoolOp):
    """The mean of each window over depth, height and width.

    `nn.avg_pool2d` documents C9.

    Example:
    ```mlir
    %y = relay.nn.avg_pool3d(%x) {pool_size = [2, 2, 2], count_include_pad = true}
        : (tensor<1x8x4x6x6xf32>) -> tensor<1x8x3x5x5xf32>
    ```

    """

    name = "relay.nn.avg_pool3d"
    AXES = "DHW"


MAX_POOLS = (MaxPool1DOp, MaxPool2DOp, MaxPool3DOp)
AVG_POOLS = (AvgPool1DOp, AvgPool2DOp, AvgPool3DOp)


class MaxPoolIndicesOp(WindowPoolOp):
    """Base of the indices of maxima; `nn.max_pool2d_indices` documents semantics and constraints."""

    PATTERN = OpPatternKind.OPAQUE
    ARGUMENTS = (*WindowPoolOp.ARGUMENTS, "column_major")

    column_major = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the shape of the pool's result with element type i64."""
        return tensor_type(shape_of(super().infer_type(facts)), i64)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps the original layout, in which elements are numbered."""
        return LayoutRefusal("the indices refer to the original layout")

    def evaluate(self, data: Array) -> Array:
        """Numbers the elements and selects the number of the first greatest of each window."""
        from xrelay.dialects.relay.meaning.windows import first_maxima

        plain = self.to_plain_layout(data)
        extents = plain.shape[2:]
        order = "F" if self.column_major.value.data else "C"
        numbers = np.arange(prod(extents), dtype=np.int64).reshape(extents, order=order)
        return self.to_layout(first_maxima(plain, numbers, self.window(self.sizes), self.counts(extents)))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Folds each window with two accumulators: the greatest element so far, and its index."""
        from xrelay.dialects.relay.computes.layouts import in_layout
        from xrelay.dialects.relay.computes.scalars import row_major
        from xrelay.dialects.relay.computes.windows import number_maxima, taps_of

        (layout, out_layout), plain = self.layouts, Layout.parse(self.image_axes)
        data = in_layout(build, build.operand(0), layout, plain)
        window, sizes = self.window(self.sizes), build.shape(data)[2:]
        order = -1 if self.column_major.value.data else 1
        extents = out_layout.primal_extents(build.result_shape)

        def number(b: Body) -> AffineExpr:
            return row_major(b, taps_of(b, window)[::order], sizes[::order])

        places = number_maxima(build, data, window, [extents[axis] for axis in self.AXES], number, i64)
        return [in_layout(build, places, plain, out_layout)]

    gradient = no_gradients


@register_relay_op
class MaxPool1DIndicesOp(MaxPoolIndicesOp):
    """The indices of the greatest elements of windows over the width.

    `nn.max_pool2d_indices` documents C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool1d_indices(%x) {pool_size = [2], strides = [2]} : (tensor<1x8x16xf32>) -> tensor<1x8x8xi64>
    ```

    """

    name = "relay.nn.max_pool1d_indices"
    AXES = "W"


@register_relay_op
class MaxPool2DIndicesOp(MaxPoolIndicesOp):
    """The indices of the elements that `nn.max_pool2d` selects, within one channel of one image.

    Elements are numbered in row-major order, or with `column_major` in column-major order (the last axis slowest). Of
    several greatest elements the first in row-major order is selected; the first NaN is greater than all others. The
    index of a window without elements of the data is -1. Source: the second output of ONNX's MaxPool, which numbers
    elements across channels and batch.

    Constraints:
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.max_pool2d_indices(%x) {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]}
        : (tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xi64>
    ```

    """

    name = "relay.nn.max_pool2d_indices"
    AXES = "HW"


@register_relay_op
class MaxPool3DIndicesOp(MaxPoolIndicesOp):
    """The indices of the greatest elements of windows over depth, height and width.

    `nn.max_pool2d_indices` documents C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool3d_indices(%x) {pool_size = [2, 2, 2]} : (tensor<1x2x3x4x4xf32>) -> tensor<1x2x2x3x3xi64>
    ```

    """

    name = "relay.nn.max_pool3d_indices"
    AXES = "DHW"
