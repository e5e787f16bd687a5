"""`relay.annotation.stop_fusion`: a wall that fusion does not cross."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_elementwise import UnaryElementwiseOp


@register_relay_op
@irdl_op_definition
class StopFusionOp(UnaryElementwiseOp):
    """The operand itself; `relay-fuse-ops` puts nothing before it and nothing after it into one group, and removes it.

    Constraints:
    - C0: one tensor operand; the result has its type.

    Example:
    ```mlir
    %y = relay.annotation.stop_fusion(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.stop_fusion"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
