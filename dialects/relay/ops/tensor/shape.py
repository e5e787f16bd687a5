"""Changes of shape, and shapes as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xrelay.dialects.relay.core.attribute_values import bool_attribute
from xrelay.dialects.relay.core.element_rules import wrapped
from xrelay.dialects.relay.core.reshape_runs import divides_by_names
from xrelay.dialects.relay.core.shape_rules import reshaped
from xrelay.dialects.relay.layout.rank_changes import keeps_order, positions, with_new_axes, without_axes
from xrelay.dialects.relay.op_definition import (
    ANY,
    Array,
    AttributeValue,
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
    Quantization,
    RelayOp,
    Shape,
    TopiBuilder,
    bool_property,
    int_array,
    int_attribute,
    int_property,
    ints,
    known_shape,
    letter_of_axis,
    no_gradients,
    numpy_dtype,
    optional_ints_property,
    product,
    register_relay_op,
    require_axes,
    required_ints_property,
    tensor_type,
)

MAX_AXES: Final = 64
"""The maximum rank of a numpy array."""


class ReshapingOp(RelayOp):
    """Base of the ops that only change the shape; the elements and their order are the same."""

    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    RESHAPE_ONLY = True

    data = operand_def()

    @property
    def fusion_pattern(self) -> OpPatternKind:
        """Opaque if a fused kernel would divide by named dimensions; alone, the op shares the memory of its data."""
        data, result = known_shape(self.operands[0].type), known_shape(self.results[0].type)
        if data is None or result is None or ANY in (*data, *result) or not divides_by_names(result, data):
            return self.PATTERN
        return OpPatternKind.OPAQUE

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the result's shape for data of `shape`."""
        raise NotImplementedError(f"{self.name} has no shape rule")

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the data's elements."""
        return facts.elements(0)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the new shape with the data's element type."""
        shape, element = facts.operand(0)
        return tensor_type(self.result_shape(facts, shape), element)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Reads the data in a layout that preserves the order of elements; the result keeps its original layout."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        data, result = known_shape(self.data.type), known_shape(self.result.type)
        if data is None or result is None or not keeps_order(layout, data):
            return LayoutRefusal(f"{self.name} preserves the order of the elements, which layout {layout} changes")
        extents = [extent for extent in result if isinstance(extent, int)]
        if len(extents) != len(result):
            return LayoutRefusal(f"the extents of the result of {self.name} are unknown")
        properties = {"newshape": int_array(extents), "allowzero": bool_attribute(0 in extents)}
        return LayoutDecision((layout,), None, properties, op=ReshapeOp)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the element at the same row-major index."""
        from xrelay.dialects.relay.computes.movement import reshaped

        return [reshaped(build)]


class UnaryReshapingOp(ReshapingOp):
    """Base of the ops whose new shape follows from the data's shape and properties."""

    def evaluate(self, data: Array) -> Array:
        """Reshapes to the shape that the shape rule computes for this array."""
        shape = self.result_shape(Facts(self.name, self.operand_types), data.shape)
        return data.reshape(cast("tuple[int, ...]", shape))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient in the data's shape."""
        return [build.reshape_like(of, self.data)]


@register_relay_op
@irdl_op_definition
class ReshapeOp(UnaryReshapingOp):
    """The same elements in another shape, given by Relay's codes.

    A positive number is an extent. `0` copies the extent at the same position, `-1` is inferred from the number of
    elements, `-2` copies all remaining extents, `-3` is the product of the next two, and `-4` splits the next extent
    into the two codes after it, and either may be -1. With `allowzero`, `0` is an extent of 0.

    Constraints:
    - C1: the codes are well-formed: known codes, at most one -1, -4 followed by two extents.
    - C2: the codes do not use more extents than the data has.
    - C3: the element counts are equal, and divisible if there is a -1 or -4.

    Example:
    ```mlir
    %y = relay.reshape(%x) {newshape = [0, -1]} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```

    """

    name = "relay.reshape"
    QUANTIZATION = Quantization.MOVEMENT

    newshape = required_ints_property()
    allowzero = bool_property(False)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts a single number as shape."""
        shape = attributes.get("newshape")
        if isinstance(shape, int):
            attributes["newshape"] = (shape,)
        return attributes

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the shape that the codes specify; checks C1 to C3."""
        return reshaped(facts, shape, ints(self.newshape), allow_zero=bool(self.allowzero.value.data))


@register_relay_op
@irdl_op_definition
class ReverseReshapeOp(UnaryReshapingOp):
    """The same elements in another shape, given by Relay's codes in reverse order.

    `relay.reshape` documents the codes. Extents and codes are both processed from the last to the first: in `[-1, 0]`
    the 0 copies the last extent, whereas `reshape` copies the second. The two codes for the parts of a -4 precede it,
    with the inner part next to it.

    Constraints:
    - C1: the codes are well-formed: known codes, at most one -1, -4 preceded by two extents.
    - C2: the codes do not use more extents than the data has.
    - C3: the element counts are equal, and divisible if there is a -1 or -4.

    Example:
    ```mlir
    %y = relay.contrib_reverse_reshape(%x) {newshape = [-1, 0]} : (tensor<10x5x4xf32>) -> tensor<50x4xf32>
    ```

    """

    name = "relay.contrib_reverse_reshape"

    newshape = required_ints_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts a single number as shape."""
        return ReshapeOp.normalize(attributes)

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the shape that the reversed codes specify; checks C1 to C3."""
        return reshaped(facts, shape[::-1], ints(self.newshape)[::-1], allow_zero=False)[::-1]


@register_relay_op
@irdl_op_definition
class BatchFlattenOp(UnaryReshapingOp):
    """The data with all axes after the first merged into one.

    Constraints:
    - C1: the data has at least one axis.

    Example:
    ```mlir
    %y = relay.nn.batch_flatten(%x) : (tensor<2x3x4x5xf32>) -> tensor<2x60xf32>
    ```

    """

    name = "relay.nn.batch_flatten"
    QUANTIZATION = Quantization.MOVEMENT

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the first extent and the product of the others; checks C1."""
        facts.require(len(shape) >= 1, "C1", "data of rank 0 has no batch axis")
        return (shape[0], product(shape[1:]))


@register_relay_op
@irdl_op_definition
class SqueezeOp(UnaryReshapingOp):
    """The data without its axes of extent 1, or without the axes `axis`.

    Constraints:
    - C1: `axis` names distinct axes of the data.
    - C2: each named axis has extent 1; without `axis`, all extents are known.

    Example:
    ```mlir
    %y = relay.squeeze(%x) {axis = [2, 3]} : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
    ```

    """

    name = "relay.squeeze"
    QUANTIZATION = Quantization.MOVEMENT

    axis = optional_ints_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts a single number as axis."""
        axis = attributes.get("axis")
        if isinstance(axis, int):
            attributes["axis"] = (axis,)
        return attributes

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the remaining extents; checks C1 and C2."""
        if self.axis is None:
            facts.require(all(isinstance(dim, int) for dim in shape), "C2", "axes is required if extents are unknown")
            return tuple(dim for dim in shape if dim != 1)
        axes = require_axes(self, ints(self.axis), len(shape), "C1")
        for axis in axes:
            facts.require_equal(shape[axis], 1, "C2", f"extent of the removed axis {axis}:")
        return tuple(dim for index, dim in enumerate(shape) if index not in axes)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Reads the data in an order-preserving layout; else removes the axes from the layout."""
        answer = super().propagate_layouts(layouts)
        layout, shape = layouts[0], known_shape(self.data.type)
        if layout is None or shape is None or isinstance(answer, LayoutDecision):
            return answer
        named = [axis for axis, extent in enumerate(shape) if extent == 1] if self.axis is None else ints(self.axis)
        letters = [letter_of_axis(layout, axis) for axis in named]
        axes = sorted(position for letter in letters for position in positions(layout, letter))
        return LayoutDecision((layout,), without_axes(layout, letters), {"axis": int_array(axes)})


@register_relay_op
@irdl_op_definition
class ExpandDimsOp(UnaryReshapingOp):
    """The data with `num_newaxis` axes of extent 1 inserted at position `axis` of the result.

    Constraints:
    - C1: `axis` is between -rank - 1 and rank.
    - C2: `num_newaxis` is 0 to 64, the maximum rank of a numpy array.

    Example:
    ```mlir
    %y = relay.expand_dims(%x) {axis = 1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
    ```

    """

    name = "relay.expand_dims"
    QUANTIZATION = Quantization.MOVEMENT
    PATTERN = OpPatternKind.BROADCAST

    axis = int_property()
    num_newaxis = int_property(1)

    @property
    def new_axes(self) -> int:
        """The number of inserted axes."""
        return self.num_newaxis.value.data

    def position(self, rank: int) -> int:
        """Returns the position of the inserted axes, counted from the front; checks C1."""
        axis = self.axis.value.data
        self.require(-rank - 1 <= axis <= rank, "C1", f"axis {axis} is out of range for rank {rank}")
        return axis + rank + 1 if axis < 0 else axis

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the data's extents with the inserted ones; checks C1 and C2."""
        fits = 0 <= self.new_axes <= MAX_AXES
        facts.require(fits, "C2", f"num_newaxis must be 0 to {MAX_AXES}, found {self.new_axes}")
        position = self.position(len(shape))
        ones: tuple[Dim, ...] = (1,) * self.new_axes
        return (*shape[:position], *ones, *shape[position:])

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Reads the data in an order-preserving layout; else inserts axes with new letters into the layout."""
        answer = super().propagate_layouts(layouts)
        layout = layouts[0]
        if layout is None or isinstance(answer, LayoutDecision) or self.new_axes == 0:
            return answer
        position = self.position(len(layout.primal))
        result = with_new_axes(layout, position, self.new_axes)
        first = result.index(result.text.axes[position].letter)
        return LayoutDecision((layout,), result, {"axis": int_attribute(first)})


class ShapeValueOp(RelayOp):
    """Base of the ops whose result depends only on the shape of the data."""

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    dtype = prop_def(IntegerType | AnyFloat, default_value=i64)

    def values(self, shape: Shape) -> tuple[Dim, ...]:
        """Returns the elements of the result for data of `shape`."""
        raise NotImplementedError(f"{self.name} does not define a shape")

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements of the result, None if they are floats."""
        if not isinstance(self.dtype, IntegerType):
            return None
        return tuple(wrapped(value, numpy_dtype(self.dtype)) for value in self.values(facts.shape(0)))

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class ShapeOfOp(ShapeValueOp):
    """The extents of the data, outermost first.

    Example:
    ```mlir
    %y = relay.shape_of(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
    ```

    """

    name = "relay.shape_of"

    def values(self, shape: Shape) -> tuple[Dim, ...]:
        """Returns the extents."""
        return shape

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a vector with one number for each axis of the data."""
        return tensor_type((len(facts.shape(0)),), self.dtype)

    def evaluate(self, data: Array) -> Array:
        """Returns the extents of the array."""
        return np.array(data.shape, np.int64).astype(numpy_dtype(self.dtype))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Selects among the extents by index."""
        extents, element = build.shape(build.operand(0)), build.result_type.element_type

        def fill(b: Body) -> SSAValue:
            (place,) = b.spatial
            chosen = b.size(extents[-1], element) if extents else b.constant(0, element)
            for axis, extent in enumerate(extents[:-1]):
                is_here = b.compare(b.index(place), "eq", axis)
                chosen = b.select(is_here, b.size(extent, element), chosen)
            return chosen

        return [build.compute("shape_of", {"i": len(extents)}, element, fill)]


@register_relay_op
@irdl_op_definition
class NdarraySizeOp(ShapeValueOp):
    """The number of elements of the data.

    Example:
    ```mlir
    %y = relay.ndarray_size(%x) : (tensor<2x3xf32>) -> tensor<i64>
    ```

    """

    name = "relay.ndarray_size"

    def values(self, shape: Shape) -> tuple[Dim, ...]:
        """Returns the product of the extents."""
        return (product(shape),)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a scalar type."""
        facts.tensor(0)
        return tensor_type((), self.dtype)

    def evaluate(self, data: Array) -> Array:
        """Returns the size of the array."""
        return np.array(data.size, np.int64).astype(numpy_dtype(self.dtype))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds a scalar."""
        count, element = product(build.shape(build.operand(0))), build.result_type.element_type
        return [build.compute("ndarray_size", (), element, lambda b: b.size(count, element))]
