"""Gradients of the window pools: `relay.nn.max_pool2d_grad`, `relay.nn.avg_pool2d_grad` and their 3D variants."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.sliding_window import Layouts, Numbers, WindowedOp
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Constraints,
    Dim,
    Facts,
    FloatElements,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    IncompleteType,
    Layout,
    MixedPrecision,
    OpPatternKind,
    SameElements,
    Shape,
    Tensors,
    TopiBuilder,
    bool_property,
    ints,
    ints_property,
    register_relay_op,
    shape_text,
    string_attribute,
    string_property,
    tensor_type,
)
from xrelay.index_algebra.windows import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from xrelay.dialects.relay.computes.windows import CoveringWindow

_FEW_TAPS: Final = 1 << 31
"""The limit below which taps have 32-bit numbers, which are as wide as most elements and vectorise well."""


class PoolGradOp(WindowedOp):
    """Base of the gradients of pools: from `out_grad`, that of the pool's result, to that of its data.

    Properties are those of the pool. `layout` is the layout of the data and the result; `out_layout`, by default
    `layout`, is the layout of `out_grad`.
    """

    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    SIZE = "pool_size"
    ARGUMENTS = (
        "pool_size",
        "strides",
        "padding",
        "layout",
        "out_layout",
        "ceil_mode",
        "dilation",
    )

    out_grad = operand_def()
    data = operand_def()

    layout = string_property("")
    out_layout = string_property("")
    pool_size = ints_property(1, 1)
    ceil_mode = bool_property(False)

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C1, C3, C4, C6 and the constraints on all windows."""
        image = f"NC{axes}"
        return {
            **super().constraints_over(axes),
            "C1": Layouts((("layout", image), ("out_layout", image)), whole=axes),
            "C3": SameElements(),
            "C4": FloatElements(),
            "C6": Numbers(("pool_size",), (1, len(axes))),
        }

    @property
    def layouts(self) -> tuple[Layout, Layout]:
        """The layouts of the pool's data and of its result."""
        data, out = self.layout_over(self.layout.data, self.image_axes), self.out_layout.data
        return data, self.layout_over(out, self.image_axes) if out else data

    @property
    def sizes(self) -> tuple[int, ...]:
        """The window's extent along each spatial axis."""
        return each(ints(self.pool_size), len(self.AXES))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C2, C5 and C9."""
        found, pooled = facts.shape(0), self.pooled_shape(facts)
        message = f"the pooled data has shape {shape_text(pooled)}, out_grad has {shape_text(found)}"
        facts.require_equal_shapes(found, pooled, "C5", "extents of out_grad and of the pool", message)
        return facts.tensor(1)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the type of the pool's result for `out_grad`."""
        out_grad, data = facts
        if not isinstance(out_grad, IncompleteType) or isinstance(data, IncompleteType):
            return facts
        return [tensor_type(self.pooled_shape(facts), facts.element(1)), data]

    def pooled_shape(self, facts: Facts) -> Shape:
        """Returns the shape of the pool's result."""
        layout, out_layout = self.layouts
        extents = self.extents_in(layout, facts.shape(1))
        window = self.checked_window(facts, ints(self.pool_size))
        counts = self.window_counts(facts, window, extents, partial=bool(self.ceil_mode.value.data))
        return out_layout.shape_from(extents | counts)

    def to_plain_layout(self, out_grad: Array, data: Array) -> tuple[Array, Array]:
        """Converts both operands to the plain order of axes."""
        from xrelay.dialects.relay.meaning.layouts import to_plain

        layout, out_layout = self.layouts
        return to_plain(out_grad, out_layout, self.image_axes), to_plain(data, layout, self.image_axes)

    def to_layout(self, result: Array) -> Array:
        """Converts a result in the plain order of axes to its layout."""
        from xrelay.dialects.relay.meaning.layouts import from_plain

        return from_plain(result, self.image_axes, self.layouts[0])

    def build_plain_operand(self, build: TopiBuilder, index: int) -> SSAValue:
        """Builds an operand in the plain layout."""
        from xrelay.dialects.relay.computes.layouts import in_layout

        return in_layout(build, build.operand(index), self.layouts[1 - index], Layout.parse(self.image_axes))

    def sum_shares(
        self,
        build: TopiBuilder,
        shape: Sequence[Dim],
        counts: Sequence[Dim],
        share: Callable[[Body, CoveringWindow], SSAValue],
    ) -> Tensors:
        """Sums the shares of all windows for each element of plain data of `shape`, in the layout of the result."""
        from xrelay.dialects.relay.computes.layouts import in_layout
        from xrelay.dialects.relay.computes.windows import summed_over_windows

        label = self.relay_name().removeprefix("nn.")
        result = summed_over_windows(build, label, shape, self.window(self.sizes), counts, share)
        return [in_layout(build, result, Layout.parse(self.image_axes), self.layouts[0])]


class MaxPoolGradOp(PoolGradOp):
    """Base of the gradients of maximum pools."""

    def evaluate(self, out_grad: Array, data: Array) -> Array:
        """Adds the gradient of each window at its first greatest element, in double precision."""
        from xrelay.dialects.relay.meaning.windows import first_maxima

        grads, plain = self.to_plain_layout(out_grad, data)
        size = prod(plain.shape[2:])
        numbers = np.arange(size, dtype=np.int64).reshape(plain.shape[2:])
        found = first_maxima(plain, numbers, self.window(self.sizes), grads.shape[2:])
        found = found.reshape(prod(plain.shape[:2]), prod(grads.shape[2:]))
        # Windows without data add to an additional element, which is dropped.
        result = np.zeros((len(found), size + 1), np.float64)
        rows = np.broadcast_to(np.arange(len(found))[:, None], found.shape)
        np.add.at(result, (rows, np.where(found < 0, size, found)), grads.reshape(found.shape))
        return self.to_layout(result[:, :size].reshape(plain.shape)).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Numbers the greatest tap of each window; an element sums the windows whose greatest tap it is."""
        from xdsl.dialects import arith

        from xrelay.dialects.relay.computes.scalars import row_major
        from xrelay.dialects.relay.computes.windows import number_maxima

        out_grad, data, sizes = self.build_plain_operand(build, 0), self.build_plain_operand(build, 1), self.sizes
        counts, type = build.shape(out_grad)[2:], i32 if prod(sizes) < _FEW_TAPS else i64
        window = self.window(sizes)
        winners = number_maxima(build, data, window, counts, lambda b: row_major(b, b.reduction, sizes), type)

        def share(b: Body, covering: CoveringWindow) -> SSAValue:
            own = b.add(arith.IndexCastOp(b.index(row_major(b, covering.taps, sizes)), type))
            wins = b.compare(covering.read(winners, -1), "eq", own)
            return b.select(wins, covering.read(out_grad, 0), 0)

        return self.sum_shares(build, build.shape(data), counts, share)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient at each window's greatest element, because the op is linear in `out_grad`.

        The derivative by the data is 0 almost everywhere.
        """
        (layout, out_layout), plain = self.layouts, Layout.parse(self.image_axes)
        data, of = build.in_layout(self.data, layout, plain), build.in_layout(of, layout, plain)
        layouts: dict[str, Attribute] = {"layout": string_attribute(str(plain)), "out_layout": string_attribute("")}
        places = build.op(f"nn.max_pool{len(self.AXES)}d_indices", data, **{**self.properties, **layouts})
        # The index of windows within the padding is -1.
        rows, chosen = self._in_rows(of, build), self._in_rows(build.op("maximum", places, 0), build)
        found = build.reshape_like(build.op("gather", rows, chosen, axis=2), places)
        found = build.op("where", build.op("less", places, 0), build.zeros_like(found), found)
        return [build.in_layout(found, plain, out_layout), None]

    def _in_rows(self, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Merges the spatial axes."""
        for _ in self.AXES[1:]:
            # 0 keeps an extent, -3 merges two, -2 keeps all others.
            value = build.op("reshape", value, newshape=(0, 0, -3, -2))
        return value


class AvgPoolGradOp(PoolGradOp):
    """Base of the gradients of mean pools."""

    ARGUMENTS = (*PoolGradOp.ARGUMENTS[:-1], "count_include_pad", "dilation")

    count_include_pad = bool_property(False)

    def evaluate(self, out_grad: Array, data: Array) -> Array:
        """Adds the shares of windows to their elements, tap by tap, in double precision."""
        from xrelay.dialects.relay.meaning.windows import counted_places, seen_by

        grads, plain = self.to_plain_layout(out_grad, data)
        window, counts, extents = self.window(self.sizes), grads.shape[2:], plain.shape[2:]
        padded = bool(self.count_include_pad.value.data)
        rows = zip(window, extents, counts, strict=True)
        divisors = reduce(np.multiply.outer, [counted_places(*row, padded=padded) for row in rows])
        shares = grads.astype(np.float64) / np.maximum(divisors, 1)
        # Elements outside of the data add to an additional element at the end of each axis, which is dropped.
        whole = np.zeros((*plain.shape[:2], *(extent + 1 for extent in extents)), np.float64)
        for tap in np.ndindex(*(axis.size for axis in window)):
            whole[seen_by(tap, window, counts, extents)] += shares
        return self.to_layout(whole[(..., *map(slice, extents))]).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Divides the gradient of each window into shares; each element sums the shares of its windows."""
        from xrelay.dialects.topi.named.pool import Taps, divided_by_taps

        out_grad, padded = self.build_plain_operand(build, 0), build.flag("count_include_pad")
        extents = self.layouts[0].primal_extents(build.result_shape)
        shape, counts = [extents[axis] for axis in self.image_axes], build.shape(out_grad)[2:]
        window = self.window(self.sizes)

        def divide(b: Body) -> SSAValue:
            rows = zip(window, shape[2:], counts, b.spatial[2:], strict=True)
            return divided_by_taps(b, b.read(out_grad, *b.spatial), [Taps(*row, padded=padded) for row in rows])

        shares = build.compute("pool_shares", build.shape(out_grad), build.element(out_grad), divide)
        return self.sum_shares(build, shape, counts, lambda b, covering: covering.read(shares, 0))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the pool of the gradient, because the op is linear in `out_grad`; None for the data."""
        return [build.op(f"nn.avg_pool{len(self.AXES)}d", of, **self.properties), None]


@register_relay_op
class MaxPool2DGradOp(MaxPoolGradOp):
    """The gradient of `nn.max_pool2d`: `out_grad` of each window is added to the window's greatest element.

    Of several greatest elements this is the first in row-major order; the first NaN is greater than all others. An
    element that is the greatest of several windows gets their sum; elements that are the greatest of no window get 0.
    Windows within the padding are ignored.

    Constraints:
    - C2: the data has the rank of `layout`.
    - C5: `out_grad` has the shape of the pool's result, in `out_layout`.
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.max_pool2d_grad(%g, %x) {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]}
        : (tensor<1x4x4x4xf32>, tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
    ```

    """

    name = "relay.nn.max_pool2d_grad"
    AXES = "HW"


@register_relay_op
class AvgPool2DGradOp(AvgPoolGradOp):
    """The gradient of `nn.avg_pool2d`: each element gets a share of every window that contains it.

    The share is `out_grad` of the window divided by the pool's divisor. The data's elements are not read.

    Constraints:
    - C2: the data has the rank of `layout`.
    - C5: `out_grad` has the shape of the pool's result, in `out_layout`.
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.avg_pool2d_grad(%g, %x) {pool_size = [2, 2], strides = [2, 2], count_include_pad = true}
        : (tensor<1x4x3x3xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    ```

    """

    name = "relay.nn.avg_pool2d_grad"
    AXES = "HW"


@register_relay_op
class MaxPool3DGradOp(MaxPoolGradOp):
    """The gradient of `nn.max_pool3d`: `out_grad` of each window is added to the window's greatest element.

    `nn.max_pool2d_grad` documents the semantics, C2, C5 and C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool3d_grad(%g, %x) {pool_size = [2, 2, 2], strides = [2, 2, 2]}
        : (tensor<1x2x2x3x3xf32>, tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
    ```

    """

    name = "relay.nn.max_pool3d_grad"
    AXES = "DHW"


@register_relay_op
class AvgPool3DGradOp(AvgPoolGradOp):
    """The gradient of `nn.avg_pool3d`: each element gets a share of every window that contains it.

    `nn.avg_pool2d_grad` documents the semantics, C2, C5 and C9.

    Example:
    ```mlir
    %y = relay.nn.avg_pool3d_grad(%g, %x) {pool_size = [2, 2, 2], strides = [2, 2, 2]}
        : (tensor<1x2x2x3x3xf32>, tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
    ```

    """

    name = "relay.nn.avg_pool3d_grad"
    AXES = "DHW"
