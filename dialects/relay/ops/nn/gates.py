"""Smooth activations and gates: `relay.nn.softplus`, `mish`, `softsign`, `hard_swish`, `swish`, `gelu` and others."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.constraints import Constraints, FloatElements, OneOf
from xrelay.dialects.relay.core.properties import float_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import ElementwiseCompositeOp
from xrelay.dialects.relay.structure.composite import Parts
from xrelay.dialects.relay.structure.weights import Array

_ERFC = np.frompyfunc(math.erfc, 1, 1)


@register_relay_op
@irdl_op_definition
class SoftplusOp(ElementwiseCompositeOp):
    """`log(1 + exp(x))`, computed as `max(x, 0) + log(1 + u)` for `u = exp(-|x|)`, which does not overflow.

    The sum w = 1 + u is rounded; for small u it is 1. The rounding error u - (w - 1) is compensated by the first term
    of the logarithm's series, (u - (w - 1)) / w.

    Example:
    ```mlir
    %y = relay.nn.softplus(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.softplus"

    def decompose(self, parts: Parts) -> SSAValue:
        """The logarithm of a sum with compensated rounding error."""
        (x,) = parts.operands
        u = parts.op("exp", parts.op("negative", parts.op("abs", x)))
        w = parts.op("add", u, 1.0)
        lost = parts.op("subtract", u, parts.op("subtract", w, 1.0))
        logarithm = parts.op("add", parts.op("log", w), parts.op("divide", lost, w))
        return parts.op("add", parts.op("nn.relu", x), logarithm)

    def function(self, x: Array) -> Array:
        """Computes log(exp(0) + exp(x))."""
        return np.logaddexp(0.0, x)


@register_relay_op
@irdl_op_definition
class MishOp(ElementwiseCompositeOp):
    """`x * tanh(log(1 + exp(x)))`.

    Computed without a logarithm as `x * (t * t + 2 * t) / (t * t + 2 * t + 2)` with t = exp(min(x, 20)). For x > 20 the
    factor is 1 in every float type.

    Example:
    ```mlir
    %y = relay.nn.mish(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.mish"

    def decompose(self, parts: Parts) -> SSAValue:
        """The quotient of two polynomials of an exponential."""
        (x,) = parts.operands
        power = parts.op("exp", parts.op("minimum", x, 20.0))
        above = parts.op("multiply", power, parts.op("add", power, 2.0))
        return parts.op("multiply", x, parts.op("divide", above, parts.op("add", above, 2.0)))

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return x * np.tanh(np.logaddexp(0.0, x))


@register_relay_op
@irdl_op_definition
class SoftsignOp(ElementwiseCompositeOp):
    """`x / (1 + |x|)`.

    Example:
    ```mlir
    %y = relay.nn.softsign(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.softsign"

    def decompose(self, parts: Parts) -> SSAValue:
        """The parts of the formula."""
        (x,) = parts.operands
        return parts.op("divide", x, parts.op("add", parts.op("abs", x), 1.0))

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return x / (1 + np.abs(x))


@register_relay_op
@irdl_op_definition
class HardSigmoidOp(ElementwiseCompositeOp):
    """`alpha * x + beta`, clamped to [0, 1].

    Example:
    ```mlir
    %y = relay.nn.hard_sigmoid(%x) {alpha = 0.25} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.hard_sigmoid"
    alpha = float_property(0.2)
    beta = float_property(0.5)

    def decompose(self, parts: Parts) -> SSAValue:
        """The parts of the formula."""
        (x,) = parts.operands
        line = parts.op("add", parts.op("multiply", x, self.alpha.value.data), self.beta.value.data)
        return parts.op("clip", line, a_min=0.0, a_max=1.0)

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return np.clip(self.alpha.value.data * x + self.beta.value.data, 0.0, 1.0)


@register_relay_op
@irdl_op_definition
class HardSwishOp(ElementwiseCompositeOp):
    """`x * min(max(x / 6 + 1 / 2, 0), 1)`.

    Example:
    ```mlir
    %y = relay.nn.hard_swish(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.hard_swish"

    def decompose(self, parts: Parts) -> SSAValue:
        """The parts of the formula."""
        (x,) = parts.operands
        return parts.op("multiply", x, parts.op("nn.hard_sigmoid", x, alpha=1 / 6, beta=0.5))

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return x * np.clip(x / 6 + 0.5, 0.0, 1.0)


@register_relay_op
@irdl_op_definition
class SwishOp(ElementwiseCompositeOp):
    """`x * sigmoid(alpha * x)`; SiLU if `alpha` is 1.

    Example:
    ```mlir
    %y = relay.nn.swish(%x) {alpha = 1.702} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.swish"
    alpha = float_property(1.0)

    def decompose(self, parts: Parts) -> SSAValue:
        """The parts of the formula."""
        (x,) = parts.operands
        alpha = self.alpha.value.data
        return parts.op("multiply", x, parts.op("sigmoid", x if alpha == 1.0 else parts.op("multiply", x, alpha)))

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return x / (1 + np.exp(-self.alpha.value.data * x))


@register_relay_op
@irdl_op_definition
class GeluOp(ElementwiseCompositeOp):
    """`x / 2 * (1 + erf(x / √2))`, or with `approximate = "tanh"` `x / 2 * (1 + tanh(√(2/π) * (x + 0.044715 * x³)))`.

    Example:
    ```mlir
    %y = relay.nn.gelu(%x) {approximate = "tanh"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.gelu"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": FloatElements(), "C2": OneOf("approximate", ("none", "tanh"))}

    approximate = string_property("none")

    def decompose(self, parts: Parts) -> SSAValue:
        """The parts of the formulas."""
        (x,) = parts.operands
        if self.approximate.data == "tanh":
            cube = parts.op("multiply", parts.op("multiply", x, x), x)
            inner = parts.op("add", x, parts.op("multiply", cube, 0.044715))
            bend = parts.op("tanh", parts.op("multiply", inner, math.sqrt(2 / math.pi)))
        else:
            bend = parts.op("erf", parts.op("multiply", x, math.sqrt(0.5)))
        return parts.op("multiply", parts.op("multiply", x, 0.5), parts.op("add", bend, 1.0))

    def function(self, x: Array) -> Array:
        """Computes the formulas; 1 + erf(z) as erfc(-z), to avoid cancellation for negative x."""
        if self.approximate.data == "tanh":
            return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
        return x / 2 * np.asarray(_ERFC(-x * np.sqrt(0.5)), np.float64)
