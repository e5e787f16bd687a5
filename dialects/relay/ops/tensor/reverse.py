"""`relay.reverse`: reversal along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    Facts,
    GradientBuilder,
    Gradients,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    RelayOp,
    int_property,
    register_relay_op,
)

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


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
    QUANTIZATION = Quantization.MOVEMENT
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": AxisOf()}

    data = operand_def()

    axis = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)

    def evaluate(self, data: Array) -> Array:
        """Reverses the elements along the axis."""
        return np.flip(data, self.axis.value.data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads at reversed indices along the axis."""
        data, shape = build.operand(0), build.result_shape
        axis = self.axis.value.data % len(shape)

        def fill(b: Body) -> SSAValue:
            at = list(b.spatial)
            at[axis] = at[axis] * -1 + b.expr(shape[axis] - 1)
            return b.read(data, *at)

        return [build.compute("reverse", shape, build.element(data), fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient in reverse order."""
        return [build.op("reverse", of, axis=self.axis.value.data)]
