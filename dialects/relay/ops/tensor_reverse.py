"""`relay.reverse`: reversal along an axis."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import AxisOf, Constraints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.relay.core.registry import register_relay_op


@register_relay_op
@irdl_op_definition
class ReverseOp(RelayOp):
    """The data with the elements along `axis` in reverse order.

    Example:
    ```mlir
    %y = relay.reverse(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.reverse"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf()}

    data = operand_def()

    axis = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)
