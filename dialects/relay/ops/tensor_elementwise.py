"""Elementwise operators: the base of unary functions, sigmoid and exp, arithmetic with broadcasting, cast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xrelay.dialects.relay.core.broadcast import broadcast_layouts
from xrelay.dialects.relay.core.constraints import Broadcasting, Constraints, FloatElements, SameElements
from xrelay.dialects.relay.core.element_rules import (
    Combine,
    add,
    binary_elements,
    converted,
    mul,
    pair_maximum,
    pair_minimum,
    sub,
    truncated_quotient,
)
from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp, known_shape
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.types import IncompleteType, shape_of, tensor_type

FLOATS: Constraints = {"C1": FloatElements()}
"""The constraint of functions that are defined only on floats."""


class UnaryElementwiseOp(RelayOp):
    """Base of the unary elementwise ops: the result has the operand's type (Relay's IdentityRel)."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type."""
        return facts.tensor(0)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type if the operand's is not known."""
        return [result_type if isinstance(facts[0], IncompleteType) else facts[0]]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of the data."""
        return LayoutDecision((layouts[0],), layouts[0])


@register_relay_op
@irdl_op_definition
class SigmoidOp(UnaryElementwiseOp):
    """`1 / (1 + exp(-x))`, elementwise.

    Example:
    ```mlir
    %y = relay.sigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sigmoid"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class ExpOp(UnaryElementwiseOp):
    """`exp(x)`, elementwise.

    Example:
    ```mlir
    %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.exp"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


class BinaryBroadcastOp(RelayOp):
    """Base of the binary ops with numpy's broadcasting (Relay's BroadcastRel)."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.BROADCAST
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": SameElements(), "C2": Broadcasting()}

    ON_ELEMENTS: ClassVar[Combine | None] = None
    """Combines two integer elements, which may be symbolic expressions; None if elements are not inferred."""

    lhs = operand_def()
    rhs = operand_def()

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Combines the operands element by element."""
        combine = type(self).ON_ELEMENTS
        return None if combine is None else binary_elements(facts, combine)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the broadcast shape with the common element type."""
        return facts[0] if facts[0] == facts[1] else tensor_type(facts.broadcast("C2"), facts.element(0))

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type for an unknown operand if the other has rank 0; others are not determined."""
        known = [type for type in facts if not isinstance(type, IncompleteType)]
        if len(known) != 1 or known_shape(known[0]) != ():
            return facts
        return [result_type if isinstance(type, IncompleteType) else type for type in facts]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the operand with a layout if the other one broadcasts to it."""
        return broadcast_layouts(layouts, [shape_of(operand.type) for operand in self.operands])


@register_relay_op
@irdl_op_definition
class AddOp(BinaryBroadcastOp):
    """`lhs + rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.add(%x, %y) : (tensor<1x64x56x56xf32>, tensor<64x1x1xf32>) -> tensor<1x64x56x56xf32>
    ```

    """

    name = "relay.add"
    ON_ELEMENTS: ClassVar[Combine | None] = add


@register_relay_op
@irdl_op_definition
class MultiplyOp(BinaryBroadcastOp):
    """`lhs * rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.multiply(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.multiply"
    ON_ELEMENTS: ClassVar[Combine | None] = mul


@register_relay_op
@irdl_op_definition
class SubtractOp(BinaryBroadcastOp):
    """`lhs - rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.subtract(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.subtract"
    ON_ELEMENTS: ClassVar[Combine | None] = sub


@register_relay_op
@irdl_op_definition
class DivideOp(BinaryBroadcastOp):
    """`lhs / rhs`, elementwise with numpy's broadcasting; of integers, truncated towards zero.

    Example:
    ```mlir
    %z = relay.divide(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.divide"
    ON_ELEMENTS: ClassVar[Combine | None] = truncated_quotient


@register_relay_op
@irdl_op_definition
class MaximumOp(BinaryBroadcastOp):
    """The greater of `lhs` and `rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.maximum(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.maximum"
    ON_ELEMENTS: ClassVar[Combine | None] = pair_maximum


@register_relay_op
@irdl_op_definition
class MinimumOp(BinaryBroadcastOp):
    """The lesser of `lhs` and `rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.minimum(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.minimum"
    ON_ELEMENTS: ClassVar[Combine | None] = pair_minimum


@register_relay_op
@irdl_op_definition
class PowerOp(BinaryBroadcastOp):
    """`lhs` to the power `rhs`, elementwise with numpy's broadcasting.

    Integer powers are exact modulo the width, like products. A negative exponent yields the truncated reciprocal: 1 or
    -1 for a base of 1 or -1, else 0.

    Example:
    ```mlir
    %z = relay.power(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.power"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER


@register_relay_op
@irdl_op_definition
class CastOp(RelayOp):
    """Each element converted to `dtype`. Floats are truncated to integers; booleans are `x != 0`.

    The integer for NaN, or for a float out of range, depends on the machine.

    Constraints:
    - C1: `dtype` is an element type.

    Example:
    ```mlir
    %y = relay.cast(%x) {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
    ```

    """

    name = "relay.cast"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()
    dtype = prop_def()

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the known integers converted to the new type."""
        return converted(facts, self.dtype)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's shape with the new element type; checks C1."""
        shape, element = facts.operand(0)
        return tensor_type(shape, self.element_type_property(self.dtype, element, "C1"))

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of the data."""
        return LayoutDecision((layouts[0],), layouts[0])


@register_relay_op
@irdl_op_definition
class ReinterpretOp(RelayOp):
    """The bits of each element as an element of `dtype`: 1.0 in f32 is the integer 0x3F800000.

    Constraints:
    - C1: `dtype` is an element type.
    - C2: both element types have the same number of bits, and both or neither are boolean.

    Example:
    ```mlir
    %y = relay.reinterpret(%x) {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
    ```

    """

    name = "relay.reinterpret"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    data = operand_def()
    dtype = prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's shape with the new element type; checks C1 and C2."""
        shape, element = facts.operand(0)
        target = self.element_type_property(self.dtype, element, "C1")
        facts.require(_bits(element) == _bits(target), "C2", f"{element} and {target} have different widths")
        return tensor_type(shape, target)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of the data."""
        return LayoutDecision((layouts[0],), layouts[0])


def _bits(element: Attribute) -> int | None:
    """Returns the number of bits of an element."""
    return element.bitwidth if isinstance(element, FixedBitwidthType) else None
