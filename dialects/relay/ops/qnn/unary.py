"""Functions of quantised numbers: `relay.qnn.exp` and others, `relay.qnn.leaky_relu` and `relay.qnn.softmax`.

All except `qnn.leaky_relu`, which uses integer arithmetic, dequantise to f32, compute the function and quantise its
value. If scales and zero points are constants, `qnn-legalize` replaces the function by a table of all values.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, isfinite
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import QUANTIZED, ElementsIn, OneOrAlong, scales_and_zero_points
from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    Constraints,
    Facts,
    Layout,
    LayoutAnswer,
    OpPatternKind,
    float_property,
    int_property,
    register_relay_op,
)
from xrelay.dialects.relay.ops.qnn.op_base import QnnOp, distance, dtype_of, following, number, ratio, scaled, shifted
from xrelay.dialects.relay.structure.composite import DecompositionBuilder

_ERF = np.frompyfunc(erf, 1, 1)


class QnnFunctionOp(QnnOp):
    """Base of the functions of one quantised tensor. The result has the same type but its own scale and zero point."""

    PLAIN: ClassVar[str]
    """The same function of plain numbers, by Relay's name."""
    CONSTRAINTS = {
        **scales_and_zero_points([1, 3], [2, 4]),
        "C3": OneOrAlong((1, 2, 3, 4)),
        "C4": ElementsIn((0,), QUANTIZED),
    }

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts[0]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Keeps any layout, because scales and zero points are single numbers."""
        return following(self, layouts[0], None)


class QnnUnaryOp(QnnFunctionOp):
    """Base of the functions that are computed in f32."""

    ON_ARRAYS: ClassVar[np.ufunc]
    """The function of arrays, unless `function` is overridden."""

    x = operand_def()
    scale = operand_def()
    zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()

    def function(self, x: Array) -> Array:
        """Returns the function of an f32 array, by default `ON_ARRAYS`."""
        return self.ON_ARRAYS(x)

    def composed(self, build: DecompositionBuilder, x: SSAValue) -> SSAValue:
        """Computes the function of an f32 tensor, by default with the plain op."""
        return build.op(self.PLAIN, x)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Dequantise, compute, quantise."""
        x, *parameters = build.operands
        scale, zero_point, output_scale, output_zero_point = (number(build, each) for each in parameters)
        distances = build.op("cast", distance(build, x, zero_point), dtype="float32")
        value = self.composed(build, build.op("multiply", distances, scale))
        return shifted(
            build, build.op("round", build.op("divide", value, output_scale)), output_zero_point, dtype_of(x)
        )

    def evaluate(
        self, x: Array, scale: Array, zero_point: Array, output_scale: Array, output_zero_point: Array
    ) -> Array:
        """Dequantises, applies the function and quantises."""
        from xrelay.dialects.relay.meaning import quantized

        distances = quantized.distance(x, zero_point.reshape(()))
        value = self.function(np.asarray(distances.astype(np.float32) * scale.reshape(())))
        quotient = np.asarray(value.astype(np.float32) / output_scale.reshape(()))
        return quantized.add_zero_point(np.rint(quotient), output_zero_point.reshape(()), x.dtype)


@register_relay_op
@irdl_op_definition
class QnnAbsOp(QnnUnaryOp):
    """The absolute value of a dequantised tensor, quantised.

    Example:
    ```mlir
    %y = relay.qnn.abs(%x, %s, %z, %t, %u) : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
        -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.abs"
    PLAIN = "abs"
    ON_ARRAYS = np.abs


@register_relay_op
@irdl_op_definition
class QnnExpOp(QnnUnaryOp):
    """The exponential of a dequantised tensor, quantised.

    Example:
    ```mlir
    %y = relay.qnn.exp(%x, %s, %z, %t, %u) : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
        -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.exp"
    PLAIN = "exp"
    ON_ARRAYS = np.exp


@register_relay_op
@irdl_op_definition
class QnnErfOp(QnnUnaryOp):
    """The error function of a dequantised tensor, quantised.

    Example:
    ```mlir
    %y = relay.qnn.erf(%x, %s, %z, %t, %u) : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
        -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.erf"
    PLAIN = "erf"

    def function(self, x: Array) -> Array:
        """Computes in double precision."""
        return np.asarray(_ERF(x.astype(np.float64)), np.float64)


@register_relay_op
@irdl_op_definition
class QnnLogOp(QnnUnaryOp):
    """The natural logarithm of a dequantised tensor, quantised; NaN becomes the zero point.

    Example:
    ```mlir
    %y = relay.qnn.log(%x, %s, %z, %t, %u) : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
        -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.log"
    PLAIN = "log"
    ON_ARRAYS = np.log


@register_relay_op
@irdl_op_definition
class QnnRsqrtOp(QnnUnaryOp):
    """The reciprocal square root of a dequantised tensor, quantised; NaN becomes the zero point.

    Example:
    ```mlir
    %y = relay.qnn.rsqrt(%x, %s, %z, %t, %u) : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
        -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.rsqrt"
    PLAIN = "rsqrt"

    def function(self, x: Array) -> Array:
        """Divides by the root."""
        return np.float32(1) / np.sqrt(x)


@register_relay_op
@irdl_op_definition
class QnnSqrtOp(QnnUnaryOp):
    """The square root of a dequantised tensor, quantised; NaN becomes the zero point.

    Example:
    ```mlir
    %y = relay.qnn.sqrt(%x, %s, %z, %t, %u) : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
        -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.sqrt"
    PLAIN = "sqrt"
    ON_ARRAYS = np.sqrt


@register_relay_op
@irdl_op_definition
class QnnSigmoidOp(QnnUnaryOp):
    """The sigmoid, `1 / (1 + exp(-x))`, of a dequantised tensor, quantised.

    Example:
    ```mlir
    %y = relay.qnn.sigmoid(%x, %s, %z, %t, %u) : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
        -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.sigmoid"
    PLAIN = "sigmoid"

    def function(self, x: Array) -> Array:
        """Evaluates the formula."""
        return np.float32(1) / (np.float32(1) + np.exp(-x))


@register_relay_op
@irdl_op_definition
class QnnTanhOp(QnnUnaryOp):
    """The hyperbolic tangent of a dequantised tensor, quantised.

    Example:
    ```mlir
    %y = relay.qnn.tanh(%x, %s, %z, %t, %u) : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
        -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.tanh"
    PLAIN = "tanh"
    ON_ARRAYS = np.tanh


@register_relay_op
@irdl_op_definition
class QnnHardswishOp(QnnUnaryOp):
    """`x * min(max(x + 3, 0), 6) / 6` of a dequantised tensor, quantised.

    Example:
    ```mlir
    %y = relay.qnn.hardswish(%x, %s, %z, %t, %u)
        : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.hardswish"
    PLAIN = "nn.hard_swish"

    def function(self, x: Array) -> Array:
        """Evaluates the formula in its order."""
        return x * np.clip(x + np.float32(3), 0, 6) / np.float32(6)

    def composed(self, build: DecompositionBuilder, x: SSAValue) -> SSAValue:
        """Evaluates the formula in its order."""
        gate = build.op("clip", build.op("add", x, 3.0), a_min=0.0, a_max=6.0)
        return build.op("divide", build.op("multiply", x, gate), 6.0)


@register_relay_op
@irdl_op_definition
class QnnSoftmaxOp(QnnUnaryOp):
    """The softmax along `axis` of a dequantised tensor, quantised.

    Example:
    ```mlir
    %y = relay.qnn.softmax(%x, %s, %z, %t, %u)
        : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.softmax"
    PLAIN = "nn.softmax"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    CONSTRAINTS: ClassVar[Constraints] = {**QnnUnaryOp.CONSTRAINTS, "C5": AxisOf()}

    axis = int_property(-1)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Follows the layout of the data if it does not split the axis."""
        return following(self, layouts[0], self.axis.value.data)

    def function(self, x: Array) -> Array:
        """Subtracts the greatest element first, so that no exponential overflows."""
        axis = self.axis.value.data
        grown = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
        return grown / np.sum(grown, axis=axis, keepdims=True)

    def composed(self, build: DecompositionBuilder, x: SSAValue) -> SSAValue:
        """Computes `nn.softmax` along the axis."""
        return build.op("nn.softmax", x, axis=self.axis.value.data)


@register_relay_op
@irdl_op_definition
class QnnLeakyReluOp(QnnFunctionOp):
    """`x` if x ≥ 0, else `alpha * x`, for the represented values x, quantised.

    A number is requantised to the result's scale, rounding halves up: from the input scale at or above the zero point,
    and from `alpha` times the input scale below it.

    Constraints:
    - C5: `alpha` is a finite number.

    Example:
    ```mlir
    %y = relay.qnn.leaky_relu(%x, %s, %z, %t, %u) {alpha = 0.1}
        : (tensor<2x3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.leaky_relu"
    PLAIN = "nn.leaky_relu"

    data = operand_def()
    input_scale = operand_def()
    input_zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()

    alpha = float_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C5."""
        alpha = self.alpha.value.data
        facts.require(isfinite(alpha), "C5", f"alpha must be a finite number, found {alpha}")
        return super().infer_type(facts)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Two products, each rounded once, and a selection by sign."""
        data, *parameters = build.operands
        scale, zero_point, output_scale, output_zero_point = (number(build, each) for each in parameters)
        distances = distance(build, data, zero_point)
        above = scaled(build, distances, ratio(build, (scale,), output_scale))
        below = scaled(build, distances, ratio(build, (scale,), output_scale, self.alpha.value.data))
        whole = build.op("where", build.op("less", distances, 0), below, above)
        return shifted(build, whole, output_zero_point, dtype_of(data))

    def evaluate(
        self,
        data: Array,
        input_scale: Array,
        input_zero_point: Array,
        output_scale: Array,
        output_zero_point: Array,
    ) -> Array:
        """Requantises with one scale for each sign."""
        from xrelay.dialects.relay.meaning import quantized

        distances, scale = quantized.distance(data, input_zero_point.reshape(())), input_scale.reshape(())
        above, below = (
            quantized.scale_distances(distances, quantized.ratio(scale, output_scale, times))
            for times in (1.0, self.alpha.value.data)
        )
        return quantized.add_zero_point(
            np.where(distances < 0, below, above), output_zero_point.reshape(()), data.dtype
        )
