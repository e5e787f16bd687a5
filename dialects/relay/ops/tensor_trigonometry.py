"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.constraints import Constraints
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import FLOATS, UnaryElementwiseOp


@register_relay_op
@irdl_op_definition
class SinOp(UnaryElementwiseOp):
    """The sine of x, in radians, elementwise.

    Example:
    ```mlir
    %y = relay.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sin"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class CosOp(UnaryElementwiseOp):
    """The cosine of x, in radians, elementwise.

    Example:
    ```mlir
    %y = relay.cos(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.cos"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class TanOp(UnaryElementwiseOp):
    """The tangent of x, in radians, elementwise.

    Example:
    ```mlir
    %y = relay.tan(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.tan"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class AsinOp(UnaryElementwiseOp):
    """The angle in [-π/2, π/2] whose sine is x, elementwise; NaN outside of [-1, 1].

    Example:
    ```mlir
    %y = relay.asin(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.asin"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class AcosOp(UnaryElementwiseOp):
    """The angle in [0, π] whose cosine is x, elementwise; NaN outside of [-1, 1].

    Example:
    ```mlir
    %y = relay.acos(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.acos"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class AtanOp(UnaryElementwiseOp):
    """The angle in [-π/2, π/2] whose tangent is x, elementwise.

    Example:
    ```mlir
    %y = relay.atan(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.atan"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class SinhOp(UnaryElementwiseOp):
    """The hyperbolic sine of x, elementwise.

    Example:
    ```mlir
    %y = relay.sinh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sinh"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class CoshOp(UnaryElementwiseOp):
    """The hyperbolic cosine of x, elementwise.

    Example:
    ```mlir
    %y = relay.cosh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.cosh"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class AsinhOp(UnaryElementwiseOp):
    """The number whose hyperbolic sine is x, elementwise.

    Example:
    ```mlir
    %y = relay.asinh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.asinh"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class AcoshOp(UnaryElementwiseOp):
    """The nonnegative number whose hyperbolic cosine is x, elementwise; NaN if x is less than 1.

    Example:
    ```mlir
    %y = relay.acosh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.acosh"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class AtanhOp(UnaryElementwiseOp):
    """The number whose hyperbolic tangent is x, elementwise; infinite at 1 and -1, NaN beyond.

    Example:
    ```mlir
    %y = relay.atanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.atanh"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS
