"""`relay.where`: each element from one of two tensors, as a third says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.broadcast import broadcast_layouts, broadcast_shapes
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.types import shape_of, tensor_type
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.index_algebra.dims import Shape, shape_text


@register_relay_op
@irdl_op_definition
class WhereOp(RelayOp):
    """The element of `x` where the condition holds and of `y` elsewhere, with numpy's broadcasting.

    Constraints:
    - C1: the condition has element type i1, and x and y have one element type.
    - C2: the shapes broadcast: from the last dimension on, equal or one of them 1.

    Example:
    ```mlir
    %z = relay.where(%c, %x, %y) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.where"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.BROADCAST

    condition = operand_def()
    x = operand_def()
    y = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        """The broadcast shape with the element type of x and y."""
        operands = [facts.operand(index) for index in range(3)]
        condition, x, y = (element for _, element in operands)
        facts.require(condition == i1, "C1", lambda: f"the condition must be of i1, found {condition}")
        facts.require(x == y, "C1", lambda: f"element types {x} != {y}", help="cast one operand")
        common: Shape = ()
        for shape, _ in operands:
            broadcast = broadcast_shapes(common, shape)
            if broadcast is None:
                texts = ", ".join(shape_text(shape) for shape, _ in operands)
                facts.require(False, "C2", f"shapes {texts} do not broadcast")
                break
            common = broadcast
        return tensor_type(common, x)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follow the operand that has a layout, where the others broadcast along with it."""
        return broadcast_layouts(layouts, [shape_of(operand.type) for operand in self.operands])
