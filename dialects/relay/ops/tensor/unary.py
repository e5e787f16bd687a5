"""Functions of one element: copy, exponentials, roots, error function, absolute value, clip."""

from __future__ import annotations

import math

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    Body,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    MixedPrecision,
    Quantization,
    float_property,
    numpy_dtype,
    register_relay_op,
)
from xrelay.dialects.relay.ops.tensor.elementwise import ElementwiseCompositeOp, FloatFunctionOp, ScalarUnaryOp
from xrelay.dialects.relay.structure.composite import DecompositionBuilder

_ERF = np.frompyfunc(math.erf, 1, 1)


@register_relay_op
@irdl_op_definition
class CopyOp(ScalarUnaryOp):
    """x unchanged, elementwise.

    Example:
    ```mlir
    %y = relay.copy(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.copy"
    QUANTIZATION = Quantization.MOVEMENT

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements of x."""
        return facts.elements(0)

    def function(self, data: Array) -> Array:
        """Calls numpy."""
        return np.array(data)

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits the op on an element."""
        return x

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1."""
        return [of]


@register_relay_op
@irdl_op_definition
class SigmoidOp(FloatFunctionOp):
    """`1 / (1 + exp(-x))`, elementwise.

    Example:
    ```mlir
    %y = relay.sigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sigmoid"
    HALF_PRECISION = HalfPrecision.SINGLE  # exp overflows where the sigmoid does not

    def function(self, data: Array) -> Array:
        """Computes in f32 for floats of 16 bits."""
        from xrelay.dialects.relay.meaning.element_types import accumulator

        wide = data.astype(accumulator(data.dtype), copy=False)
        one = wide.dtype.type(1)
        return one / (one + np.exp(-wide))

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits the formula; exp saturates to 0 or infinity, which yields the correct limits."""
        one = b.constant(1, x.type)
        return b.divide(one, b.plus(one, b.exp(b.negative(x))))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is r · (1 - r) for the result r."""
        return [build.op("multiply", build.op("multiply", of, self.result), build.op("subtract", 1, self.result))]


@register_relay_op
@irdl_op_definition
class ExpOp(FloatFunctionOp):
    """`exp(x)`, elementwise.

    Example:
    ```mlir
    %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.exp"
    MIXED_PRECISION = MixedPrecision.NEVER
    ON_ARRAYS = np.exp
    ON_SCALARS = "ExpOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is the result."""
        return [build.op("multiply", of, self.result)]


@register_relay_op
@irdl_op_definition
class TanhOp(FloatFunctionOp):
    """The hyperbolic tangent of x, elementwise.

    Example:
    ```mlir
    %y = relay.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.tanh"
    ON_ARRAYS = np.tanh
    ON_SCALARS = "TanhOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 - r² for the result r."""
        return [build.op("multiply", of, build.op("subtract", 1, build.op("multiply", self.result, self.result)))]


@register_relay_op
@irdl_op_definition
class SqrtOp(FloatFunctionOp):
    """The square root of x, elementwise; NaN if x is negative.

    Example:
    ```mlir
    %y = relay.sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sqrt"
    ON_ARRAYS = np.sqrt
    ON_SCALARS = "SqrtOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 / 2r for the result r."""
        return [build.op("divide", build.op("multiply", of, 0.5), self.result)]


@register_relay_op
@irdl_op_definition
class RsqrtOp(FloatFunctionOp):
    """`1 / sqrt(x)`, elementwise.

    Example:
    ```mlir
    %y = relay.rsqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.rsqrt"

    def function(self, data: Array) -> Array:
        """Calls numpy."""
        return data.dtype.type(1) / np.sqrt(data)

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits the op on an element."""
        return b.divide(b.constant(1, x.type), b.sqrt(x))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is -r / 2x for the result r."""
        return [build.op("divide", build.op("multiply", build.op("multiply", of, -0.5), self.result), self.data)]


@register_relay_op
@irdl_op_definition
class LogOp(FloatFunctionOp):
    """The natural logarithm of x, elementwise.

    Example:
    ```mlir
    %y = relay.log(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.log"
    ON_ARRAYS = np.log
    ON_SCALARS = "LogOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 / x."""
        return [build.op("divide", of, self.data)]


@register_relay_op
@irdl_op_definition
class Log2Op(ElementwiseCompositeOp):
    """The logarithm of x to base 2, elementwise; NaN if x is negative.

    Example:
    ```mlir
    %y = relay.log2(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.log2"
    ON_ARRAYS = np.log2

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A multiple of the natural logarithm."""
        return build.op("multiply", build.op("log", *build.operands), 1 / math.log(2))


@register_relay_op
@irdl_op_definition
class Log10Op(ElementwiseCompositeOp):
    """The logarithm of x to base 10, elementwise; NaN if x is negative.

    Example:
    ```mlir
    %y = relay.log10(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.log10"
    ON_ARRAYS = np.log10

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A multiple of the natural logarithm."""
        return build.op("multiply", build.op("log", *build.operands), 1 / math.log(10))


@register_relay_op
@irdl_op_definition
class ErfOp(FloatFunctionOp):
    """The error function of x, elementwise.

    Example:
    ```mlir
    %y = relay.erf(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.erf"
    MIXED_PRECISION = MixedPrecision.NEVER
    ON_SCALARS = "ErfOp"

    def function(self, data: Array) -> Array:
        """Applies Python's function to each element, in f64."""
        return np.asarray(_ERF(data.astype(np.float64)), np.float64).astype(data.dtype)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 2 / √π · exp(-x²)."""
        bell = build.op("exp", build.op("negative", build.op("multiply", self.data, self.data)))
        return [build.op("multiply", of, build.op("multiply", bell, 2 / math.sqrt(math.pi)))]


@register_relay_op
@irdl_op_definition
class NegativeOp(ScalarUnaryOp):
    """`-x`, elementwise.

    Constraints:
    - C0: one tensor operand; the result has its type.

    Example:
    ```mlir
    %y = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.negative"
    ON_ARRAYS = np.negative

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits the op on an element."""
        return b.negative(x)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is -1."""
        return [build.op("negative", of)]


@register_relay_op
@irdl_op_definition
class AbsOp(ScalarUnaryOp):
    """The absolute value of x, elementwise.

    Constraints:
    - C0: one tensor operand; the result has its type.

    Example:
    ```mlir
    %y = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.abs"
    ON_ARRAYS = np.abs

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits the op on an element. The least signed integer wraps to itself."""
        return b.absolute(x)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is -1 if x < 0, else 1."""
        return [build.op("where", build.op("less", self.data, 0), build.op("negative", of), of)]


@register_relay_op
@irdl_op_definition
class ClipOp(ScalarUnaryOp):
    """`min(max(x, a_min), a_max)`, elementwise.

    Constraints:
    - C1: `a_min` is not greater than `a_max`.

    Example:
    ```mlir
    %y = relay.clip(%x) {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.clip"
    QUANTIZATION = Quantization.BOUND

    a_min = float_property()
    a_max = float_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts integers as bounds."""
        for name in ("a_min", "a_max"):
            bound = attributes.get(name)
            if isinstance(bound, int):
                attributes[name] = float(bound)
        return attributes

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type; checks C1."""
        low, high = self.a_min.value.data, self.a_max.value.data
        facts.require(low <= high, "C1", f"a_min {low} is greater than a_max {high}")
        return facts.tensor(0)

    def function(self, data: Array) -> Array:
        """Clamps to bounds in the data's dtype; integers have the nearest bound of their range."""
        low, high = (_bound(value.value.data, data.dtype) for value in (self.a_min, self.a_max))
        return np.minimum(np.maximum(data, low), high)

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits the maximum and the minimum; bounds outside of the element type's range are omitted.

        As in numpy, it is unspecified which of 0.0 and -0.0 remains.
        """
        from xrelay.dialects.topi.build import value_range

        low, high = (_rounded(bound.value.data, x.type) for bound in (self.a_min, self.a_max))
        least, most = value_range(x.type)
        if low > least:
            x = b.largest(x, b.constant(min(low, most), x.type))
        return b.smallest(x, b.constant(max(high, least), x.type)) if high < most else x

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 0 if x is beyond a bound, else 1; bounds out of range are clamped to the type."""
        low, high = (build.nearest_scalar(bound.value.data, self.data) for bound in (self.a_min, self.a_max))
        outside = build.op("logical_or", build.op("less", self.data, low), build.op("greater", self.data, high))
        return [build.op("where", outside, build.zeros_like(of), of)]


def _bound(value: float, dtype: np.dtype) -> np.generic:
    """Converts a bound to the data's dtype; bounds out of range become the least or greatest integer."""
    if dtype.kind not in "iub":
        return dtype.type(value)
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if value <= least or value >= most:
        return dtype.type(least if value <= least else most)
    return dtype.type(int(value))


def _rounded(bound: float, type: Attribute) -> float:
    """Rounds a bound to a float type; infinite if it is out of range."""
    if not isinstance(type, AnyFloat):
        return bound
    with np.errstate(over="ignore"):
        return float(np.float64(bound).astype(numpy_dtype(type)))
