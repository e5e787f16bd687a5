"""`relay.where`: selection between the elements of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.broadcast import broadcast_layouts
from xrelay.dialects.relay.core.constraints import Broadcasting
from xrelay.dialects.relay.core.element_rules import chosen_elements
from xrelay.dialects.relay.op_definition import (
    Array,
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
    register_relay_op,
)
from xrelay.dialects.shared.types import shape_of, tensor_type

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder


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
