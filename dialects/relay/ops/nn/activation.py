"""Activations: `relay.nn.relu`, `leaky_relu`, `elu`, `softplus`, `swish`, `gelu` and others, and `nn.dropout`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.along_axis import AlongAxisOp
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Constraints,
    Facts,
    FloatElements,
    GradientBuilder,
    Gradients,
    IncompleteType,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    Quantization,
    RelayOp,
    SameElements,
    Tensors,
    TopiBuilder,
    VectorsAlong,
    axis_index,
    cast_once,
    float_property,
    int_property,
    register_relay_op,
    string_property,
)
from xrelay.dialects.relay.ops.tensor.elementwise import ElementwiseCompositeOp, ScalarUnaryOp
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder


@register_relay_op
class ReluOp(ScalarUnaryOp):
    """`max(x, 0)`, elementwise.

    Example:
    ```mlir
    %y = relay.nn.relu(%x) : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
    ```

    """

    name = "relay.nn.relu"
    QUANTIZATION = Quantization.BOUND

    def function(self, data: Array) -> Array:
        """Returns the maximum with 0."""
        return np.maximum(data, data.dtype.type(0))

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits the maximum with 0."""
        return b.maximum(x, 0)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 0 if x < 0, else 1."""
        return [build.op("where", build.op("less", self.data, 0), build.zeros_like(of), of)]


@register_relay_op
class DropoutOp(RelayOp):
    """Dropout at inference time: the tuple (data, a mask of ones), as in Relay.

    `rate` is the probability that training would set an element to zero; inference ignores it.

    Constraints:
    - C1: `rate` is at least 0 and less than 1.
    - C2: the element type is a float.

    Example:
    ```mlir
    %t = relay.nn.dropout(%x) {rate = 0.2} : (tensor<4x8xf32>) -> tuple<tensor<4x8xf32>, tensor<4x8xf32>>
    ```

    """

    name = "relay.nn.dropout"
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    rate = float_property(0.5)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type twice; checks C1 and C2."""
        type = facts.tensor(0)
        rate = self.rate.value.data
        facts.require(0 <= rate < 1, "C1", f"rate must be at least 0 and less than 1, found {rate}")
        facts.require(
            isinstance(type.element_type, AnyFloat),
            "C2",
            lambda: f"the element type must be a float, found {type.element_type}",
        )
        return TupleType((type, type))

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the first type of the result for the data."""
        if isinstance(facts[0], IncompleteType) and isinstance(result_type, TupleType) and result_type.types:
            return [result_type.types.data[0]]
        return facts

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of the data."""
        return LayoutDecision((layouts[0],), layouts[0])

    def evaluate(self, data: Array) -> tuple[Array, Array]:
        """Returns the data and ones."""
        return data, np.ones_like(data)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds a copy and a tensor of ones."""
        data, element = build.operand(0), build.result_types[1].element_type
        kept = build.compute(build.label, build.extents(0), element, lambda b: b.read(data, *b.spatial))
        mask = build.compute("dropout_mask", build.extents(1), element, lambda b: b.constant(1, element))
        return [kept, mask]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of the first field, the data; the mask does not depend on it."""
        return [build.item(of, 0)]


def below_zero(build: DecompositionBuilder, x: SSAValue, value: SSAValue) -> SSAValue:
    """Selects `value` if x is negative, else x. A selection avoids products such as 0 * infinity."""
    return build.op("where", build.op("less", x, 0.0), value, x)


def exponential(build: DecompositionBuilder, x: SSAValue, alpha: float) -> SSAValue:
    """Computes `alpha * (exp(min(x, 0)) - 1)`, which does not overflow."""
    grown = build.op("exp", build.op("minimum", x, 0.0))
    return build.op("multiply", build.op("subtract", grown, 1.0), alpha)


@register_relay_op
class LeakyReluOp(ElementwiseCompositeOp):
    """`x` if x ≥ 0, else `alpha * x`.

    Example:
    ```mlir
    %y = relay.nn.leaky_relu(%x) {alpha = 0.1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.leaky_relu"
    alpha = float_property(0.01)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A selection by sign."""
        (x,) = build.operands
        return below_zero(build, x, build.op("multiply", x, self.alpha.value.data))

    def function(self, x: Array) -> Array:
        """Selects by sign."""
        return np.where(x < 0, self.alpha.value.data * x, x)


@register_relay_op
class PReluOp(AlongAxisOp, CompositeOp):
    """`x` if x ≥ 0, else `alpha[c] * x`, with c the index along `axis`.

    Example:
    ```mlir
    %y = relay.nn.prelu(%x, %alpha) : (tensor<2x8x4xf32>, tensor<8xf32>) -> tensor<2x8x4xf32>
    ```

    """

    name = "relay.nn.prelu"
    PATTERN = OpPatternKind.BROADCAST
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {**AlongAxisOp.CONSTRAINTS, "C3": SameElements(), "C4": VectorsAlong()}

    data = operand_def()
    alpha = operand_def()

    axis = int_property(1)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A selection by sign."""
        x, alpha = build.operands
        behind = build.rank(x) - axis_index(self.axis.value.data, build.rank(x)) - 1
        slope = build.op("expand_dims", alpha, axis=1, num_newaxis=behind) if behind else alpha
        return below_zero(build, x, build.op("multiply", x, slope))

    def evaluate(self, data: Array, alpha: Array) -> Array:
        """Selects by sign in double precision."""
        wide, axis = data.astype(np.float64), self.axis.value.data % data.ndim
        slope = alpha.reshape([-1 if each == axis else 1 for each in range(data.ndim)])
        return cast_once(np.where(wide < 0, slope * wide, wide), data.dtype)


@register_relay_op
class EluOp(ElementwiseCompositeOp):
    """`x` if x ≥ 0, else `alpha * (exp(x) - 1)`.

    Example:
    ```mlir
    %y = relay.nn.elu(%x) {alpha = 2.0} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.elu"
    alpha = float_property(1.0)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A selection by sign."""
        (x,) = build.operands
        return below_zero(build, x, exponential(build, x, self.alpha.value.data))

    def function(self, x: Array) -> Array:
        """Selects by sign."""
        return np.where(x < 0, self.alpha.value.data * np.expm1(x), x)


@register_relay_op
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

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A selection by sign."""
        (x,) = build.operands
        alpha = self.alpha.value.data
        below = build.op("divide", build.op("minimum", x, 0.0), alpha)
        grown = build.op("subtract", build.op("exp", below), 1.0)
        return below_zero(build, x, build.op("multiply", grown, alpha))

    def function(self, x: Array) -> Array:
        """Selects by sign."""
        alpha = self.alpha.value.data
        return np.where(x < 0, alpha * np.expm1(x / alpha), x)


@register_relay_op
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

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """`gamma` times the exponential linear unit."""
        (x,) = build.operands
        return build.op("multiply", build.op("nn.elu", x, alpha=self.alpha.value.data), self.gamma.value.data)

    def function(self, x: Array) -> Array:
        """Selects by sign."""
        return self.gamma.value.data * np.where(x < 0, self.alpha.value.data * np.expm1(x), x)


@register_relay_op
class ThresholdedReluOp(ElementwiseCompositeOp):
    """`x` if x > `theta`, else 0.

    Example:
    ```mlir
    %y = relay.nn.thresholded_relu(%x) {theta = 0.5} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.thresholded_relu"
    theta = float_property(1.0)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A selection."""
        (x,) = build.operands
        return build.op("where", build.op("greater", x, self.theta.value.data), x, build.scalar(0.0, x))

    def function(self, x: Array) -> Array:
        """Selects by comparison."""
        return np.where(x > self.theta.value.data, x, 0.0)


_ERFC = np.frompyfunc(math.erfc, 1, 1)


@register_relay_op
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

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The logarithm of a sum with compensated rounding error."""
        (x,) = build.operands
        u = build.op("exp", build.op("negative", build.op("abs", x)))
        w = build.op("add", u, 1.0)
        lost = build.op("subtract", u, build.op("subtract", w, 1.0))
        logarithm = build.op("add", build.op("log", w), build.op("divide", lost, w))
        return build.op("add", build.op("nn.relu", x), logarithm)

    def function(self, x: Array) -> Array:
        """Computes log(exp(0) + exp(x))."""
        return np.logaddexp(0.0, x)


@register_relay_op
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

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The quotient of two polynomials of an exponential."""
        (x,) = build.operands
        power = build.op("exp", build.op("minimum", x, 20.0))
        above = build.op("multiply", power, build.op("add", power, 2.0))
        return build.op("multiply", x, build.op("divide", above, build.op("add", above, 2.0)))

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return x * np.tanh(np.logaddexp(0.0, x))


@register_relay_op
class SoftsignOp(ElementwiseCompositeOp):
    """`x / (1 + |x|)`.

    Example:
    ```mlir
    %y = relay.nn.softsign(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.softsign"

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Builds the formula."""
        (x,) = build.operands
        return build.op("divide", x, build.op("add", build.op("abs", x), 1.0))

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return x / (1 + np.abs(x))


@register_relay_op
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

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Builds the formula."""
        (x,) = build.operands
        line = build.op("add", build.op("multiply", x, self.alpha.value.data), self.beta.value.data)
        return build.op("clip", line, a_min=0.0, a_max=1.0)

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return np.clip(self.alpha.value.data * x + self.beta.value.data, 0.0, 1.0)


@register_relay_op
class HardSwishOp(ElementwiseCompositeOp):
    """`x * min(max(x / 6 + 1 / 2, 0), 1)`.

    Example:
    ```mlir
    %y = relay.nn.hard_swish(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.hard_swish"

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Builds the formula."""
        (x,) = build.operands
        return build.op("multiply", x, build.op("nn.hard_sigmoid", x, alpha=1 / 6, beta=0.5))

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return x * np.clip(x / 6 + 0.5, 0.0, 1.0)


@register_relay_op
class SwishOp(ElementwiseCompositeOp):
    """`x * sigmoid(alpha * x)`; SiLU if `alpha` is 1.

    Example:
    ```mlir
    %y = relay.nn.swish(%x) {alpha = 1.702} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.swish"
    alpha = float_property(1.0)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Builds the formula."""
        (x,) = build.operands
        alpha = self.alpha.value.data
        return build.op("multiply", x, build.op("sigmoid", x if alpha == 1.0 else build.op("multiply", x, alpha)))

    def function(self, x: Array) -> Array:
        """Computes the formula."""
        return x / (1 + np.exp(-self.alpha.value.data * x))


@register_relay_op
class GeluOp(ElementwiseCompositeOp):
    """`x / 2 * (1 + erf(x / √2))`, or with `approximate = "tanh"` `x / 2 * (1 + tanh(√(2/π) * (x + 0.044715 * x³)))`.

    Example:
    ```mlir
    %y = relay.nn.gelu(%x) {approximate = "tanh"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.gelu"
    CONSTRAINTS = {"C1": FloatElements(), "C2": OneOf("approximate", ("none", "tanh"))}

    approximate = string_property("none")

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Builds the formulas."""
        (x,) = build.operands
        if self.approximate.data == "tanh":
            cube = build.op("multiply", build.op("multiply", x, x), x)
            inner = build.op("add", x, build.op("multiply", cube, 0.044715))
            bend = build.op("tanh", build.op("multiply", inner, math.sqrt(2 / math.pi)))
        else:
            bend = build.op("erf", build.op("multiply", x, math.sqrt(0.5)))
        return build.op("multiply", build.op("multiply", x, 0.5), build.op("add", bend, 1.0))

    def function(self, x: Array) -> Array:
        """Computes the formulas; 1 + erf(z) as erfc(-z), to avoid cancellation for negative x."""
        if self.approximate.data == "tanh":
            return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
        return x / 2 * np.asarray(_ERFC(-x * np.sqrt(0.5)), np.float64)
