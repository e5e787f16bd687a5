"""Indices of maxima: `relay.nn.max_pool1d_indices` and related ops, the second output of ONNX's MaxPool."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.gradients.builder import no_gradients
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.pool import WindowPoolOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import shape_of, tensor_type

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


class MaxPoolIndicesOp(WindowPoolOp):
    """Base of the indices of maxima; `nn.max_pool2d_indices` documents semantics and constraints."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    ARGUMENTS: ClassVar[tuple[str, ...]] = (*WindowPoolOp.ARGUMENTS, "column_major")

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

        plain = self.plain(data)
        extents = plain.shape[2:]
        order = "F" if self.column_major.value.data else "C"
        numbers = np.arange(prod(extents), dtype=np.int64).reshape(extents, order=order)
        return self.laid_out(first_maxima(plain, numbers, self.window(self.sizes), self.counts(extents)))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds each window with two accumulators: the greatest element so far, and its index."""
        from xrelay.dialects.relay.computes.layouts import in_layout
        from xrelay.dialects.relay.computes.pool_windows import number_maxima, taps_of
        from xrelay.dialects.relay.computes.scalars import row_major

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
@irdl_op_definition
class MaxPool1DIndicesOp(MaxPoolIndicesOp):
    """The indices of the greatest elements of windows over the width.

    `nn.max_pool2d_indices` documents C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool1d_indices(%x) {pool_size = [2], strides = [2]} : (tensor<1x8x16xf32>) -> tensor<1x8x8xi64>
    ```

    """

    name = "relay.nn.max_pool1d_indices"
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
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
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class MaxPool3DIndicesOp(MaxPoolIndicesOp):
    """The indices of the greatest elements of windows over depth, height and width.

    `nn.max_pool2d_indices` documents C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool3d_indices(%x) {pool_size = [2, 2, 2]} : (tensor<1x2x3x4x4xf32>) -> tensor<1x2x2x3x3xi64>
    ```

    """

    name = "relay.nn.max_pool3d_indices"
    AXES: ClassVar[str] = "DHW"
