"""More unary elementwise operators: copy, tanh, sqrt, rsqrt, log, erf, negative, abs, clip."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.constraints import Constraints
from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.properties import float_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_elementwise import FLOATS, UnaryElementwiseOp


@register_relay_op
@irdl_op_definition
class CopyOp(UnaryElementwiseOp):
    """x unchanged, elementwise.

    Example:
    ```mlir
    %y = relay.copy(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.copy"

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements of x."""
        return facts.elements(0)


@register_relay_op
@irdl_op_definition
class TanhOp(UnaryElementwiseOp):
    """The hyperbolic tangent of x, elementwise.

    Example:
    ```mlir
    %y = relay.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.tanh"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class SqrtOp(UnaryElementwiseOp):
    """The square root of x, elementwise; NaN if x is negative.

    Example:
    ```mlir
    %y = relay.sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sqrt"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class RsqrtOp(UnaryElementwiseOp):
    """`1 / sqrt(x)`, elementwise.

    Example:
    ```mlir
    %y = relay.rsqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.rsqrt"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class LogOp(UnaryElementwiseOp):
    """The natural logarithm of x, elementwise.

    Example:
    ```mlir
    %y = relay.log(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.log"
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class ErfOp(UnaryElementwiseOp):
    """The error function of x, elementwise.

    Example:
    ```mlir
    %y = relay.erf(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.erf"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class NegativeOp(UnaryElementwiseOp):
    """`-x`, elementwise.

    Constraints:
    - C0: one tensor operand; the result has its type.

    Example:
    ```mlir
    %y = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.negative"


@register_relay_op
@irdl_op_definition
class AbsOp(UnaryElementwiseOp):
    """The absolute value of x, elementwise.

    Constraints:
    - C0: one tensor operand; the result has its type.

    Example:
    ```mlir
    %y = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.abs"


@register_relay_op
@irdl_op_definition
class ClipOp(UnaryElementwiseOp):
    """`min(max(x, a_min), a_max)`, elementwise.

    Constraints:
    - C1: `a_min` is not greater than `a_max`.

    Example:
    ```mlir
    %y = relay.clip(%x) {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.clip"

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
