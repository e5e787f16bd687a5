"""Constant tensors: `relay.full`, `relay.zeros`, `relay.ones` and their `_like` variants; and `relay.stack`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import TupleType, f32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.axes import axis_index, require_axis
from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, RankOf
from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp, known_shape
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property, required_ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class FullOp(RelayOp):
    """A tensor of `shape` filled with the scalar `fill_value`, with its element type or `dtype`.

    Example:
    ```mlir
    %y = relay.full(%x) {shape = [2, 3]} : (tensor<f32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.full"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": RankOf(0, 0, 0), "C2": AtLeast("shape", 0)}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    RESULT_ELEMENT: ClassVar[str | None] = "dtype"

    fill_value = operand_def()

    shape = required_ints_property()
    dtype = opt_prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns `shape` with the element type."""
        return tensor_type(ints(self.shape), self.element_type_property(self.dtype, facts.element(0), "C0"))


@register_relay_op
@irdl_op_definition
class FullLikeOp(RelayOp):
    """A tensor of the type of `data` filled with the scalar `fill_value`, converted to its element type.

    Example:
    ```mlir
    %y = relay.full_like(%x, %v) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.full_like"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": RankOf(1, 0, 0)}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()
    fill_value = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)


class ConstantLikeOp(RelayOp):
    """Base of the ops that fill a tensor of the type of `data` with one number."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    NUMBER: ClassVar[int]

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)


@register_relay_op
@irdl_op_definition
class ZerosLikeOp(ConstantLikeOp):
    """A tensor of zeros with the type of `data`.

    Example:
    ```mlir
    %y = relay.zeros_like(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.zeros_like"
    NUMBER: ClassVar[int] = 0


@register_relay_op
@irdl_op_definition
class OnesLikeOp(ConstantLikeOp):
    """A tensor of ones with the type of `data`.

    Example:
    ```mlir
    %y = relay.ones_like(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.ones_like"
    NUMBER: ClassVar[int] = 1


class ConstantOfShapeOp(RelayOp):
    """Base of the ops that fill a tensor of a given type with one number."""

    CONSTRAINTS: ClassVar[Constraints] = {"C1": AtLeast("shape", 0)}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    RESULT_ELEMENT: ClassVar[str | None] = "dtype"
    NUMBER: ClassVar[int]

    shape = required_ints_property()
    dtype = opt_prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns `shape` with the element type; checks C2."""
        return tensor_type(ints(self.shape), self.element_type_property(self.dtype, f32, "C2"))


@register_relay_op
@irdl_op_definition
class ZerosOp(ConstantOfShapeOp):
    """A tensor of zeros with shape `shape` and element type `dtype`, by default f32.

    Constraints:
    - C2: `dtype` is an element type.

    Example:
    ```mlir
    %y = relay.zeros() {shape = [2, 3], dtype = i32} : () -> tensor<2x3xi32>
    ```

    """

    name = "relay.zeros"
    NUMBER: ClassVar[int] = 0


@register_relay_op
@irdl_op_definition
class OnesOp(ConstantOfShapeOp):
    """A tensor of ones with shape `shape` and element type `dtype`, by default f32.

    Constraints:
    - C2: `dtype` is an element type.

    Example:
    ```mlir
    %y = relay.ones() {shape = [2, 3]} : () -> tensor<2x3xf32>
    ```

    """

    name = "relay.ones"
    NUMBER: ClassVar[int] = 1


@register_relay_op
@irdl_op_definition
class StackOp(RelayOp):
    """The fields of a tuple, which have the same type, joined along a new axis `axis` of the result.

    Constraints:
    - C1: the operand is a tuple of at least one tensor.
    - C2: `axis` is an axis of the result.
    - C3: the fields have the same shape and element type.

    Example:
    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tuple<tensor<4x8xf32>, tensor<4x8xf32>>
    %y = relay.stack(%t) {axis = 1} : (tuple<tensor<4x8xf32>, tensor<4x8xf32>>) -> tensor<4x2x8xf32>
    ```

    """

    name = "relay.stack"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()

    axis = int_property(0)

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the fields' elements if these are scalars or vectors, interleaved if the new axis is last."""
        elements, type = facts.elements(0), facts[0]
        fields = [known_shape(field) for field in type.types] if isinstance(type, TupleType) else []
        if elements is None or any(shape is None or len(shape) > 1 for shape in fields):
            return None
        if axis_index(self.axis.value.data, len(fields[0] or ()) + 1) == 0:
            return elements
        count = len(elements) // len(fields)
        return tuple(element for place in range(count) for element in elements[place::count])

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the fields' shape with one more axis; checks C1 to C3."""
        type = facts[0]
        fields = list(type.types) if isinstance(type, TupleType) else []
        facts.require(bool(fields), "C1", lambda: f"the operand must be a tuple of tensors, found {type}")
        parts = Facts(self.name, fields)
        shape, element = parts.operand(0, "C1")
        for index in range(1, len(fields)):
            other, found = parts.operand(index, "C1")
            message = f"field {index} is {fields[index]}, field 0 {fields[0]}"
            facts.require(found == element and len(other) == len(shape), "C3", message)
            for first, extent in zip(shape, other, strict=True):
                facts.require_equal(first, extent, "C3", "extents of the fields", message=message)
        axis = require_axis(self, self.axis.value.data, len(shape) + 1, "C2")
        return tensor_type((*shape[:axis], len(fields), *shape[axis:]), element)
