"""`relay.annotation.stop_fusion`: a wall that fusion does not cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.tensor_elementwise import UnaryElementwiseOp


@register_relay_op
@irdl_op_definition
class StopFusionOp(UnaryElementwiseOp):
    """The operand itself; `relay-fuse-ops` puts nothing before it and nothing after it into one group, and removes it.

    The operand may be a tuple: then it keeps what makes each field from what uses the tuple.

    Constraints:
    - C0: one operand, a tensor or a tuple; the result has its type.

    Example:
    ```mlir
    %y = relay.annotation.stop_fusion(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.stop_fusion"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE

    def infer_type(self, facts: Facts) -> Attribute:
        """The operand's type."""
        return facts[0] if isinstance(facts[0], TupleType) else facts.tensor(0)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Any layout of a tensor goes through unchanged; the fields of a tuple stay as the text says."""
        if isinstance(self.data.type, TupleType):
            return LayoutDecision((None,), None)
        return super().propagate_layouts(layouts)
