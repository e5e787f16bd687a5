"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.op_definition import GradientBuilder, Gradients, MixedPrecision, register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import FloatFunctionOp


@register_relay_op
@irdl_op_definition
class SinOp(FloatFunctionOp):
    """The sine of x, in radians, elementwise.

    Example:
    ```mlir
    %y = relay.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sin"
    ON_ARRAYS = np.sin
    ON_SCALARS = "SinOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is cos(x)."""
        return [build.op("multiply", of, build.op("cos", self.data))]


@register_relay_op
@irdl_op_definition
class CosOp(FloatFunctionOp):
    """The cosine of x, in radians, elementwise.

    Example:
    ```mlir
    %y = relay.cos(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.cos"
    ON_ARRAYS = np.cos
    ON_SCALARS = "CosOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is -sin(x)."""
        return [build.op("negative", build.op("multiply", of, build.op("sin", self.data)))]


@register_relay_op
@irdl_op_definition
class TanOp(FloatFunctionOp):
    """The tangent of x, in radians, elementwise.

    Example:
    ```mlir
    %y = relay.tan(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.tan"
    MIXED_PRECISION = MixedPrecision.NEVER
    ON_ARRAYS = np.tan
    ON_SCALARS = "TanOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 + r² for the result r."""
        return [build.op("multiply", of, build.op("add", build.op("multiply", self.result, self.result), 1))]


@register_relay_op
@irdl_op_definition
class AsinOp(FloatFunctionOp):
    """The angle in [-π/2, π/2] whose sine is x, elementwise; NaN outside of [-1, 1].

    Example:
    ```mlir
    %y = relay.asin(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.asin"
    ON_ARRAYS = np.arcsin
    ON_SCALARS = "AsinOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 / √(1 - x²)."""
        return [build.op("divide", of, build.op("sqrt", _one_minus_square(self.data, build)))]


@register_relay_op
@irdl_op_definition
class AcosOp(FloatFunctionOp):
    """The angle in [0, π] whose cosine is x, elementwise; NaN outside of [-1, 1].

    Example:
    ```mlir
    %y = relay.acos(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.acos"
    ON_ARRAYS = np.arccos
    ON_SCALARS = "AcosOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is -1 / √(1 - x²)."""
        return [build.op("negative", build.op("divide", of, build.op("sqrt", _one_minus_square(self.data, build))))]


@register_relay_op
@irdl_op_definition
class AtanOp(FloatFunctionOp):
    """The angle in [-π/2, π/2] whose tangent is x, elementwise.

    Example:
    ```mlir
    %y = relay.atan(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.atan"
    ON_ARRAYS = np.arctan
    ON_SCALARS = "AtanOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 / (1 + x²)."""
        return [build.op("divide", of, build.op("add", build.op("multiply", self.data, self.data), 1))]


@register_relay_op
@irdl_op_definition
class SinhOp(FloatFunctionOp):
    """The hyperbolic sine of x, elementwise.

    Example:
    ```mlir
    %y = relay.sinh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sinh"
    MIXED_PRECISION = MixedPrecision.NEVER
    ON_ARRAYS = np.sinh
    ON_SCALARS = "SinhOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is cosh(x)."""
        return [build.op("multiply", of, build.op("cosh", self.data))]


@register_relay_op
@irdl_op_definition
class CoshOp(FloatFunctionOp):
    """The hyperbolic cosine of x, elementwise.

    Example:
    ```mlir
    %y = relay.cosh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.cosh"
    MIXED_PRECISION = MixedPrecision.NEVER
    ON_ARRAYS = np.cosh
    ON_SCALARS = "CoshOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is sinh(x)."""
        return [build.op("multiply", of, build.op("sinh", self.data))]


@register_relay_op
@irdl_op_definition
class AsinhOp(FloatFunctionOp):
    """The number whose hyperbolic sine is x, elementwise.

    Example:
    ```mlir
    %y = relay.asinh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.asinh"
    ON_ARRAYS = np.arcsinh
    ON_SCALARS = "AsinhOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 / √(x² + 1)."""
        square = build.op("multiply", self.data, self.data)
        return [build.op("divide", of, build.op("sqrt", build.op("add", square, 1)))]


@register_relay_op
@irdl_op_definition
class AcoshOp(FloatFunctionOp):
    """The nonnegative number whose hyperbolic cosine is x, elementwise; NaN if x is less than 1.

    Example:
    ```mlir
    %y = relay.acosh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.acosh"
    ON_ARRAYS = np.arccosh
    ON_SCALARS = "AcoshOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 / √(x² - 1)."""
        square = build.op("multiply", self.data, self.data)
        return [build.op("divide", of, build.op("sqrt", build.op("subtract", square, 1)))]


@register_relay_op
@irdl_op_definition
class AtanhOp(FloatFunctionOp):
    """The number whose hyperbolic tangent is x, elementwise; infinite at 1 and -1, NaN beyond.

    Example:
    ```mlir
    %y = relay.atanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.atanh"
    ON_ARRAYS = np.arctanh
    ON_SCALARS = "AtanhOp"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 / (1 - x²)."""
        return [build.op("divide", of, _one_minus_square(self.data, build))]


def _one_minus_square(data: SSAValue, build: GradientBuilder) -> SSAValue:
    """Computes 1 - x² as a product, which is exact near ±1."""
    return build.op("multiply", build.op("subtract", 1, data), build.op("add", data, 1))
