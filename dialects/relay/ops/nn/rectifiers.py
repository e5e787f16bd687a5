"""Linear units: `relay.nn.leaky_relu`, `prelu`, `elu`, `celu`, `selu` and others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.along_axis import AlongAxisOp
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.core.constraints import Constraints, SameElements
from xrelay.dialects.relay.core.extent_constraints import VectorsAlong
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import float_property, int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import ElementwiseCompositeOp
from xrelay.dialects.relay.structure.composite import CompositeOp, Parts
from xrelay.dialects.relay.structure.weights import Array


def below_zero(parts: Parts, x: SSAValue, value: SSAValue) -> SSAValue:
    """Selects `value` if x is negative, else x. A selection avoids products such as 0 * infinity."""
    return parts.op("where", parts.op("less", x, 0.0), value, x)


def exponential(parts: Parts, x: SSAValue, alpha: float) -> SSAValue:
    """Computes `alpha * (exp(min(x, 0)) - 1)`, which does not overflow."""
    grown = parts.op("exp", parts.op("minimum", x, 0.0))
    return parts.op("multiply", parts.op("subtract", grown, 1.0), alpha)


@register_relay_op
@irdl_op_definition
class LeakyReluOp(ElementwiseCompositeOp):
    """`x` if x ≥ 0, else `alpha * x`.

    Example:
    ```mlir
    %y = relay.nn.leaky_relu(%x) {alpha = 0.1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.leaky_relu"
    alpha = float_property(0.01)

    def decompose(self, parts: Parts) -> SSAValue:
        """A selection by sign."""
        (x,) = parts.operands
        return below_zero(parts, x, parts.op("multiply", x, self.alpha.value.data))

    def function(self, x: Array) -> Array:
        """Selects by sign."""
        return np.where(x < 0, self.alpha.value.data * x, x)


@register_relay_op
@irdl_op_definition
class PReluOp(AlongAxisOp, CompositeOp):
    """`x` if x ≥ 0, else `alpha[c] * x`, with c the index along `axis`.

    Example:
    ```mlir
    %y = relay.nn.prelu(%x, %alpha) : (tensor<2x8x4xf32>, tensor<8xf32>) -> tensor<2x8x4xf32>
    ```

    """

    name = "relay.nn.prelu"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.BROADCAST
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {**AlongAxisOp.CONSTRAINTS, "C3": SameElements(), "C4": VectorsAlong()}

    data = operand_def()
    alpha = operand_def()

    axis = int_property(1)

    def decompose(self, parts: Parts) -> SSAValue:
        """A selection by sign."""
        x, alpha = parts.operands
        behind = parts.rank(x) - axis_index(self.axis.value.data, parts.rank(x)) - 1
        slope = parts.op("expand_dims", alpha, axis=1, num_newaxis=behind) if behind else alpha
        return below_zero(parts, x, parts.op("multiply", x, slope))

    def evaluate(self, data: Array, alpha: Array) -> Array:
        """Selects by sign in double precision."""
        from xrelay.dialects.shared.numerics.rounding import cast_once

        wide, axis = data.astype(np.float64), self.axis.value.data % data.ndim
        slope = alpha.reshape([-1 if each == axis else 1 for each in range(data.ndim)])
        return cast_once(np.where(wide < 0, slope * wide, wide), data.dtype)


@register_relay_op
@irdl_op_definition
class EluOp(ElementwiseCompositeOp):
    """`x` if x ≥ 0, else `alpha * (exp(x) - 1)`.

    Example:
    ```mlir
    %y = relay.nn.elu(%x) {alpha = 2.0} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.elu"
    alpha = float_property(1.0)

    def decompose(self, parts: Parts) -> SSAValue:
        """A selection by sign."""
        (x,) = parts.operands
        return below_zero(parts, x, exponential(parts, x, self.alpha.value.data))

    def function(self, x: Array) -> Array:
        """Selects by sign."""
        return np.where(x < 0, self.alpha.value.data * np.expm1(x), x)


@register_relay_op
@irdl_op_definition
class CeluOp(ElementwiseCompositeOp):
    """`x` if x ≥ 0, else `alpha * (exp(x / alpha) - 1)`.

    Constraints:
    - C2: `alpha` is not 0.

    Example:
    ```mlir
    %y = relay.nn.celu(%x) {alpha = 2.0} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.celu"
    alpha = float_property(1.0)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type; checks C2."""
        facts.require(self.alpha.value.data != 0, "C2", "alpha must not be 0")
        return super().infer_type(facts)

    def decompose(self, parts: Parts) -> SSAValue:
        """A selection by sign."""
        (x,) = parts.operands
        alpha = self.alpha.value.data
        below = parts.op("divide", parts.op("minimum", x, 0.0), alpha)
        grown = parts.op("subtract", parts.op("exp", below), 1.0)
        return below_zero(parts, x, parts.op("multiply", grown, alpha))

    def function(self, x: Array) -> Array:
        """Selects by sign."""
        alpha = self.alpha.value.data
        return np.where(x < 0, alpha * np.expm1(x / alpha), x)


@register_relay_op
@irdl_op_definition
class SeluOp(ElementwiseCompositeOp):
    """`gamma * x` if x ≥ 0, else `gamma * alpha * (exp(x) - 1)`.

    Example:
    ```mlir
    %y = relay.nn.selu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.selu"
    alpha = float_property(1.6732632423543772)
    gamma = float_property(1.0507009873554805)

    def decompose(self, parts: Parts) -> SSAValue:
        """`gamma` times the exponential linear unit."""
        (x,) = parts.operands
        return parts.op("multiply", parts.op("nn.elu", x, alpha=self.alpha.value.data), self.gamma.value.data)

    def function(self, x: Array) -> Array:
        """Selects by sign."""
        return self.gamma.value.data * np.where(x < 0, self.alpha.value.data * np.expm1(x), x)


@register_relay_op
@irdl_op_definition
class ThresholdedReluOp(ElementwiseCompositeOp):
    """`x` if x > `theta`, else 0.

    Example:
    ```mlir
    %y = relay.nn.thresholded_relu(%x) {theta = 0.5} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.thresholded_relu"
    theta = float_property(1.0)

    def decompose(self, parts: Parts) -> SSAValue:
        """A selection."""
        (x,) = parts.operands
        return parts.op("where", parts.op("greater", x, self.theta.value.data), x, parts.scalar(0.0, x))

    def function(self, x: Array) -> Array:
        """Selects by comparison."""
        return np.where(x > self.theta.value.data, x, 0.0)
