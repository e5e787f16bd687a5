"""Rounding to whole numbers, the sign, and float predicates."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import UnaryElementwiseOp
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class FloorOp(UnaryElementwiseOp):
    """The greatest whole number not greater than x, elementwise; integers are unchanged.

    Example:
    ```mlir
    %y = relay.floor(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.floor"


@register_relay_op
@irdl_op_definition
class CeilOp(UnaryElementwiseOp):
    """The least whole number not less than x, elementwise; integers are unchanged.

    Example:
    ```mlir
    %y = relay.ceil(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.ceil"


@register_relay_op
@irdl_op_definition
class RoundOp(UnaryElementwiseOp):
    """The nearest whole number, halves to even, elementwise; integers are unchanged.

    Example:
    ```mlir
    %y = relay.round(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.round"


@register_relay_op
@irdl_op_definition
class TruncOp(UnaryElementwiseOp):
    """x truncated towards zero, elementwise; integers are unchanged.

    Example:
    ```mlir
    %y = relay.trunc(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.trunc"


@register_relay_op
@irdl_op_definition
class SignOp(UnaryElementwiseOp):
    """1 if x is positive, -1 if x is negative, NaN if x is NaN, else 0, elementwise.

    Example:
    ```mlir
    %y = relay.sign(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sign"


class FloatPredicateOp(UnaryElementwiseOp):
    """Base of the float predicates (Relay's IdentityCompRel): the result is a tensor of i1.

    Integers are finite numbers.
    """

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's shape with element type i1."""
        return tensor_type(facts.shape(0), i1)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the operand types unchanged, because the boolean result does not determine them."""
        return facts


@register_relay_op
@irdl_op_definition
class IsnanOp(FloatPredicateOp):
    """Whether x is NaN, elementwise; false for integers.

    Example:
    ```mlir
    %y = relay.isnan(%x) : (tensor<4xf32>) -> tensor<4xi1>
    ```

    """

    name = "relay.isnan"


@register_relay_op
@irdl_op_definition
class IsinfOp(FloatPredicateOp):
    """Whether x is infinite, elementwise; false for integers.

    Example:
    ```mlir
    %y = relay.isinf(%x) : (tensor<4xf32>) -> tensor<4xi1>
    ```

    """

    name = "relay.isinf"


@register_relay_op
@irdl_op_definition
class IsfiniteOp(FloatPredicateOp):
    """Whether x is neither NaN nor infinite, elementwise; true for integers.

    Example:
    ```mlir
    %y = relay.isfinite(%x) : (tensor<4xf32>) -> tensor<4xi1>
    ```

    """

    name = "relay.isfinite"
