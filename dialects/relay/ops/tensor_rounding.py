"""Rounding to whole numbers, the sign, and questions about floats."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_elementwise import UnaryElementwiseOp
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class FloorOp(UnaryElementwiseOp):
    """The greatest whole number that is not greater than x; integers stay, elementwise.

    Example:
    ```mlir
    %y = relay.floor(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.floor"


@register_relay_op
@irdl_op_definition
class CeilOp(UnaryElementwiseOp):
    """The least whole number that is not less than x; integers stay, elementwise.

    Example:
    ```mlir
    %y = relay.ceil(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.ceil"


@register_relay_op
@irdl_op_definition
class RoundOp(UnaryElementwiseOp):
    """The nearest whole number, of two the even one; integers stay, elementwise.

    Example:
    ```mlir
    %y = relay.round(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.round"


@register_relay_op
@irdl_op_definition
class TruncOp(UnaryElementwiseOp):
    """x without its fraction; integers stay, elementwise.

    Example:
    ```mlir
    %y = relay.trunc(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.trunc"


@register_relay_op
@irdl_op_definition
class SignOp(UnaryElementwiseOp):
    """1 where x is positive, -1 where it is negative, else 0; not a number stays that, elementwise.

    Example:
    ```mlir
    %y = relay.sign(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sign"


class FloatPredicateOp(UnaryElementwiseOp):
    """Base of the questions about floats (Relay's IdentityCompRel): the result is a tensor of i1.

    Every integer is a finite number.
    """

    def infer_type(self, facts: Facts) -> Attribute:
        """The operand's shape with element type i1."""
        return tensor_type(facts.shape(0), i1)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """A result of truth values says nothing of what was asked about."""
        return facts


@register_relay_op
@irdl_op_definition
class IsnanOp(FloatPredicateOp):
    """Whether x is not a number, which no integer is, elementwise.

    Example:
    ```mlir
    %y = relay.isnan(%x) : (tensor<4xf32>) -> tensor<4xi1>
    ```

    """

    name = "relay.isnan"


@register_relay_op
@irdl_op_definition
class IsinfOp(FloatPredicateOp):
    """Whether x is infinite, which no integer is, elementwise.

    Example:
    ```mlir
    %y = relay.isinf(%x) : (tensor<4xf32>) -> tensor<4xi1>
    ```

    """

    name = "relay.isinf"


@register_relay_op
@irdl_op_definition
class IsfiniteOp(FloatPredicateOp):
    """Whether x is a number and not infinite, as every integer is, elementwise.

    Example:
    ```mlir
    %y = relay.isfinite(%x) : (tensor<4xf32>) -> tensor<4xi1>
    ```

    """

    name = "relay.isfinite"
