"""`relay.contrib.hard_swish`, an elementwise operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.extend.ops import Facts, OpPatternKind, RelayOp, register_relay_op

if TYPE_CHECKING:
    from xrelay.extend.interpreter import Array
    from xrelay.extend.strategies import Body, TopiBuilder


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
        """Returns the operand's type; checks C1."""
        type_ = facts.tensor(0)
        facts.require(
            isinstance(type_.element_type, AnyFloat),
            "C1",
            f"the element type must be a float, found {type_.element_type}",
        )
        return type_

    def evaluate(self, data: Array) -> Array:
        """Computes in f64, and rounds once."""
        x = data.astype(np.float64)
        return (x * np.clip(x / 6 + 0.5, 0, 1)).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """One compute without reduction, which fuses like any elementwise op."""
        return build.map_elements("contrib_hard_swish", lambda b, values: _hard_swish(b, values[0]))


def _hard_swish(b: Body, x: SSAValue) -> SSAValue:
    def number(value: float) -> SSAValue:
        return b.constant(value, x.type)

    gate = b.plus(b.times(x, number(1 / 6)), number(0.5))
    bounded = b.add(arith.MinimumfOp(b.maximum(gate, number(0.0)), number(1.0)))
    return b.times(x, bounded)
