"""The operator: text form, shape rule, constraints and fusion pattern."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.extend.ops import Facts, OpPatternKind, RelayOp, register_relay_op


@register_relay_op
@irdl_op_definition
class HardSwishOp(RelayOp):
    """`x * min(max(x / 6 + 0.5, 0), 1)`, elementwise.

    Constraints:
    - C1: the element type is a float.

    Example:
    ```mlir
    %y = relay.contrib.hard_swish(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    Source: Howard et al. 2019, "Searching for MobileNetV3"; ONNX HardSwish of opset 14.
    """

    name = "relay.contrib.hard_swish"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE

    data = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        """The operand's type; C1."""
        type_ = facts.tensor(0)
        facts.require(
            isinstance(type_.element_type, AnyFloat),
            "C1",
            f"the element type must be a float, found {type_.element_type}",
        )
        return type_
