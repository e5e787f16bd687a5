"""Comparisons, whose results are tensors of i1, and the choice of elements by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.broadcast import broadcast_layouts
from xrelay.dialects.relay.core.constraints import Broadcasting
from xrelay.dialects.relay.core.element_rules import (
    chosen_elements,
    compared_elements,
    equality,
    greater,
    greater_equal,
    inequality,
    less,
    less_equal,
)
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    BooleanElements,
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
    TopiBuilder,
    no_gradients,
    register_relay_op,
    shape_of,
    tensor_type,
)
from xrelay.dialects.relay.ops.tensor.elementwise import ScalarBinaryOp


class CompareOp(ScalarBinaryOp):
    """Base of the comparisons (Relay's BroadcastCompRel): the result is a tensor of i1."""

    RELATION: ClassVar[str]
    """The relation that `Body.compare` checks."""

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Compares element by element: 1 or 0 if the result is certain."""
        combine = type(self).ON_ELEMENTS
        return None if combine is None else compared_elements(facts, combine)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the broadcast shape with element type i1."""
        return tensor_type(shape_of(super().infer_type(facts)), i1)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the operand types unchanged, because the boolean result does not determine them."""
        return facts

    def evaluate(self, lhs: Array, rhs: Array) -> Array:
        """Compares the arrays."""
        return np.asarray(self.function(lhs, rhs), np.bool_)

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Compares two elements."""
        return b.compare(x, self.RELATION, y)

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class EqualOp(CompareOp):
    """`lhs == rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.equal"
    ON_ELEMENTS = equality
    RELATION = "eq"
    ON_ARRAYS = np.equal


@register_relay_op
@irdl_op_definition
class NotEqualOp(CompareOp):
    """`lhs != rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.not_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.not_equal"
    ON_ELEMENTS = inequality
    RELATION = "ne"
    ON_ARRAYS = np.not_equal


@register_relay_op
@irdl_op_definition
class LessOp(CompareOp):
    """`lhs < rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.less(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.less"
    ON_ELEMENTS = less
    RELATION = "lt"
    ON_ARRAYS = np.less


@register_relay_op
@irdl_op_definition
class LessEqualOp(CompareOp):
    """`lhs <= rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.less_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.less_equal"
    ON_ELEMENTS = less_equal
    RELATION = "le"
    ON_ARRAYS = np.less_equal


@register_relay_op
@irdl_op_definition
class GreaterOp(CompareOp):
    """`lhs > rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.greater(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.greater"
    ON_ELEMENTS = greater
    RELATION = "gt"
    ON_ARRAYS = np.greater


@register_relay_op
@irdl_op_definition
class GreaterEqualOp(CompareOp):
    """`lhs >= rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.greater_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.greater_equal"
    ON_ELEMENTS = greater_equal
    RELATION = "ge"
    ON_ARRAYS = np.greater_equal


@register_relay_op
@irdl_op_definition
class WhereOp(RelayOp):
    """The element of `x` if the condition is true, else of `y`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.where(%c, %x, %y) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.where"
    CONSTRAINTS = {
        "C1": BooleanElements(0),
        "C2": Broadcasting(),
        "C3": SameElements((1, 2)),
    }
    PATTERN = OpPatternKind.BROADCAST
    MIXED_PRECISION = MixedPrecision.FOLLOW

    condition = operand_def()
    x = operand_def()
    y = operand_def()

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements selected by the condition."""
        return chosen_elements(facts)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the broadcast shape with the element type of x and y."""
        return tensor_type(facts.broadcast("C2"), facts.element(1))

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the operand with a layout if the others broadcast to it."""
        return broadcast_layouts(layouts, [shape_of(operand.type) for operand in self.operands])

    def evaluate(self, condition: Array, x: Array, y: Array) -> Array:
        """Calls numpy."""
        return np.where(condition, x, y)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Emits a select."""
        return build.map_elements("where", lambda b, values: b.select(*values))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient for the selected elements, None for the condition."""
        zeros = build.zeros_like(of)
        x, y = build.op("where", self.condition, of, zeros), build.op("where", self.condition, zeros, of)
        return [None, build.sum_like(x, self.x), build.sum_like(y, self.y)]
