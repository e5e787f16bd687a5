"""Ops that take a shape or an element type from another tensor: `cast_like`, `reshape_like`, `slice_like` etc."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.element_rules import converted
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Dim,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    SameElements,
    Shape,
    TopiBuilder,
    axis_index,
    cast_once,
    int_array,
    int_property,
    ints,
    ints_property,
    letter_of_axis,
    not_differentiable,
    optional_int_property,
    product,
    register_relay_op,
    require_axes,
    shape_of,
    shape_text,
    tensor_type,
)
from xrelay.dialects.relay.ops.tensor.movement import require_broadcast
from xrelay.dialects.relay.ops.tensor.shape import ReshapingOp
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder
from xrelay.errors import InterpreterError


@register_relay_op
@irdl_op_definition
class CastLikeOp(RelayOp):
    """Each element converted, as `cast` does, to the element type of `dtype_like`, whose elements are not read.

    Example:
    ```mlir
    %y = relay.cast_like(%x, %l) : (tensor<4xf32>, tensor<2x2xi32>) -> tensor<4xi32>
    ```

    """

    name = "relay.cast_like"
    PATTERN = OpPatternKind.ELEM_WISE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()
    dtype_like = operand_def()

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the known integers converted to the new type."""
        return converted(facts, facts.element(1))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the other's element type."""
        return tensor_type(facts.shape(0), facts.element(1))

    def evaluate(self, data: Array, dtype_like: Array) -> Array:
        """Converts with one rounding."""
        return cast_once(data, dtype_like.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Converts each element to the type of the result."""
        return [_converted(build)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient in the data's element type; None for the other operand."""
        return [build.cast_like(of, self.data), None]


@register_relay_op
@irdl_op_definition
class BroadcastToLikeOp(RelayOp):
    """The data broadcast to the shape of `broadcast_type`.

    Constraints:
    - C1: `broadcast_type` has at least as many axes as the data; aligned at the last axis, each extent of the data is
      equal or 1.

    Example:
    ```mlir
    %y = relay.broadcast_to_like(%x, %l) : (tensor<4x1xf32>, tensor<2x4x8xi1>) -> tensor<2x4x8xf32>
    ```

    """

    name = "relay.broadcast_to_like"
    PATTERN = OpPatternKind.BROADCAST
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()
    broadcast_type = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the other's shape with the data's element type; checks C1."""
        (shape, element), target = facts.operand(0), facts.shape(1)
        message = f"shape {shape_text(shape)} does not broadcast to {shape_text(target)}"
        require_broadcast(facts, shape, target, "C1", message)
        return tensor_type(target, element)

    def evaluate(self, data: Array, broadcast_type: Array) -> Array:
        """Broadcasts as numpy does."""
        return np.broadcast_to(data, broadcast_type.shape)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the element that is broadcast to an index."""
        return [_converted(build)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum over broadcast axes; None for the shape."""
        return [build.sum_like(of, self.data), None]


def _converted(build: TopiBuilder) -> SSAValue:
    """Broadcasts and converts each element of the first operand to the result's type."""
    from xrelay.dialects.relay.computes.builder import read_broadcast

    data, shape, element = build.operand(0), build.result_shape, build.result_type.element_type

    def fill(b: Body) -> SSAValue:
        return b.convert(read_broadcast(b, data, shape), element)

    return build.compute("like", shape, element, fill)


@register_relay_op
@irdl_op_definition
class ReshapeLikeOp(ReshapingOp):
    """The data with axes `lhs_begin` to before `lhs_end` reshaped to the shape of the other's axes `rhs_…`.

    Without an end the range includes the last axis. Negative numbers count from the end.

    Constraints:
    - C1: each range of axes is within its tensor's axes and does not end before it begins.
    - C2: both ranges have the same number of elements.

    Example:
    ```mlir
    %y = relay.reshape_like(%x, %l) {lhs_begin = 1, rhs_begin = 1}
        : (tensor<2x12xf32>, tensor<5x3x4xi32>) -> tensor<2x3x4xf32>
    ```

    """

    name = "relay.reshape_like"

    data = operand_def()
    shape_like = operand_def()

    lhs_begin = int_property(0)
    lhs_end = optional_int_property()
    rhs_begin = int_property(0)
    rhs_end = optional_int_property()

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the data's shape with the range replaced; checks C1 and C2."""
        like = facts.shape(1)
        own, new = self.exchanged(len(shape), len(like))
        for found, extents in ((own, shape), (new, like)):
            message = f"axes {found.start} to {found.stop} are out of range of {shape_text(extents)}"
            facts.require(0 <= found.start <= found.stop <= len(extents), "C1", message)
        first, second = product(shape[own]), product(like[new])
        message = f"{shape_text(shape[own])} of the data has another number of elements than {shape_text(like[new])}"
        facts.require_equal(first, second, "C2", "elements", message=message)
        return (*shape[: own.start], *like[new], *shape[own.stop :])

    def exchanged(self, rank: int, like: int) -> tuple[slice, slice]:
        """Returns the replaced axes of data of rank `rank`, and the replacing axes of a tensor of rank `like`."""
        return _axes(self.lhs_begin, self.lhs_end, rank), _axes(self.rhs_begin, self.rhs_end, like)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, to which the axes refer."""
        return LayoutRefusal(f"{self.name} refers to the original axes")

    def evaluate(self, data: Array, shape_like: Array) -> Array:
        """Replaces the extents of the range of axes."""
        own, new = self.exchanged(data.ndim, shape_like.ndim)
        return data.reshape((*data.shape[: own.start], *shape_like.shape[new], *data.shape[own.stop :]))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient in the data's shape; None for the shape."""
        return [build.reshape_like(of, self.data), None]


def _axes(begin: IntegerAttr[IntegerType], end: IntegerAttr[IntegerType] | None, rank: int) -> slice:
    """Returns the axes from `begin` to before `end`, counted from the front."""
    stop = rank if end is None else axis_index(end.value.data, rank)
    return slice(axis_index(begin.value.data, rank), stop)


@register_relay_op
@irdl_op_definition
class SliceLikeOp(RelayOp):
    """The first elements of the data along `axes`, as many as `shape_like` has; without `axes`, along all common axes.

    Constraints:
    - C1: `axes` are distinct axes of both.
    - C2: the data's extents of these axes are at least those of `shape_like`.

    Example:
    ```mlir
    %y = relay.slice_like(%x, %l) {axes = [1]} : (tensor<4x8xf32>, tensor<2x3xi32>) -> tensor<4x3xf32>
    ```

    """

    name = "relay.slice_like"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()
    shape_like = operand_def()

    axes = ints_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the other's extents along the axes, and the data's along the others; checks C1 and C2."""
        (shape, element), like = facts.operand(0), facts.shape(1)
        named = require_axes(self, ints(self.axes), len(shape), "C1")
        axes = named or tuple(range(min(len(shape), len(like))))
        facts.require(
            all(axis < len(like) for axis in axes),
            "C1",
            f"axes {list(axes)} of data {shape_text(shape)} are not all axes of {shape_text(like)}",
        )
        result: list[Dim] = list(shape)
        for axis in axes:
            facts.require_at_least(shape[axis], like[axis], "C2", "elements of the data and the result")
            result[axis] = like[axis]
        return tensor_type(result, element)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout if both operands have the same one and it does not split the sliced axes."""
        layout, other = layouts
        if layout is None or other is None or str(layout) != str(other):
            return LayoutRefusal(f"both operands of {self.name} must have the same layout")
        axes = ints(self.axes)
        letters = [letter_of_axis(layout, axis) for axis in axes] or list(layout.primal)
        split = next((letter for letter in letters if layout.factor(letter) is not None), None)
        if split is not None:
            return LayoutRefusal(f"layout {layout} splits the axis {split}, which is sliced")
        places = [layout.index(letter) for letter in letters] if axes else []
        return LayoutDecision((layout, layout), layout, {"axes": int_array(places)})

    def evaluate(self, data: Array, shape_like: Array) -> Array:
        """Slices the first elements along each axis."""
        axes = [axis % data.ndim for axis in ints(self.axes)] or range(min(data.ndim, shape_like.ndim))
        places = [slice(None)] * data.ndim
        for axis in axes:
            if shape_like.shape[axis] > data.shape[axis]:
                raise InterpreterError(
                    f"axis {axis} has {data.shape[axis]} elements, {shape_like.shape[axis]} are to be kept"
                )
            places[axis] = slice(shape_like.shape[axis])
        return data[tuple(places)]

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads at the same index."""
        from xrelay.dialects.relay.computes.movement import moved

        return moved(build, "slice_like", lambda b, axis, index: index)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient padded with zeros for the removed elements; None for the other operand."""
        widths: list[int] = []
        for own, left in zip(build.shape(self.data), build.shape(of), strict=True):
            behind = own - left
            if not isinstance(behind, int):
                raise not_differentiable(self, "how much it leaves out is known only at run time")
            widths += [0, behind]
        return [build.op("nn.pad", of, 0, pad_width=widths), None]


@register_relay_op
@irdl_op_definition
class CollapseSumLikeOp(CompositeOp):
    """The data summed along the axes that `collapse_type` lacks or in which its extent is 1, to reverse a broadcast.

    Constraints:
    - C2: the shape of `collapse_type` broadcasts to the data's for all sizes.

    Example:
    ```mlir
    %y = relay.collapse_sum_like(%x, %l) : (tensor<2x4x8xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    ```

    """

    name = "relay.collapse_sum_like"
    MIXED_PRECISION = MixedPrecision.NEVER
    CONSTRAINTS = {"C1": SameElements()}

    data = operand_def()
    collapse_type = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the other's type; checks C2."""
        shape, target = facts.shape(0), facts.shape(1)
        message = f"shape {shape_text(target)} does not broadcast to {shape_text(shape)}"
        facts.require(len(shape) >= len(target), "C2", message)
        for own, wanted in zip(reversed(shape), reversed(target), strict=False):
            if wanted != 1:
                facts.require_equal(own, wanted, "C2", "extents", message=message)
        return facts.tensor(1)

    def summed_axes(self, shape: Shape, target: Shape) -> tuple[int, ...]:
        """Returns the axes of data of `shape` that are summed to get `target`."""
        lacking = len(shape) - len(target)
        return tuple(axis for axis, _ in enumerate(shape) if axis < lacking or target[axis - lacking] == 1)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A sum that keeps its axes, followed by a squeeze of the axes that `collapse_type` lacks."""
        data, like = build.operands
        shape, target = shape_of(data.type), shape_of(like.type)
        axes, lacking = self.summed_axes(shape, target), len(shape) - len(target)
        total = build.op("sum", data, axis=axes, keepdims=True) if axes else build.op("copy", data)
        return build.op("squeeze", total, axis=tuple(range(lacking))) if lacking else total

    def evaluate(self, data: Array, collapse_type: Array) -> Array:
        """Sums over the broadcast axes."""
        from xrelay.dialects.relay.meaning.element_types import accumulator

        shape = (*(1,) * (data.ndim - collapse_type.ndim), *collapse_type.shape)
        axes = tuple(axis for axis, extent in enumerate(shape) if extent == 1)
        total = np.sum(data.astype(accumulator(data.dtype), copy=False), axis=axes, keepdims=True)
        return np.asarray(total, data.dtype).reshape(collapse_type.shape)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient broadcast to all elements of a sum; None for the shape."""
        return [build.broadcast_like(of, self.data), None]
