"""Boolean operators and reductions, bitwise operators, shifts, remainders and floor division."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.constraints import AxisOf, BooleanElements, Constraints, IntegerElements
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import BinaryBroadcastOp, UnaryElementwiseOp
from xrelay.dialects.relay.ops.tensor.reduce import ReduceOp


class LogicalOp(BinaryBroadcastOp):
    """Base of the binary boolean operators."""

    CONSTRAINTS: ClassVar[Constraints] = {**BinaryBroadcastOp.CONSTRAINTS, "C3": BooleanElements()}


class BitwiseOp(BinaryBroadcastOp):
    """Base of the binary operators on the bits of integers."""

    CONSTRAINTS: ClassVar[Constraints] = {**BinaryBroadcastOp.CONSTRAINTS, "C3": IntegerElements()}


@register_relay_op
@irdl_op_definition
class LogicalAndOp(LogicalOp):
    """Logical and, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_and(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_and"


@register_relay_op
@irdl_op_definition
class LogicalOrOp(LogicalOp):
    """Logical or, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_or(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_or"


@register_relay_op
@irdl_op_definition
class LogicalXorOp(LogicalOp):
    """Logical exclusive or, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_xor(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_xor"


@register_relay_op
@irdl_op_definition
class LogicalNotOp(UnaryElementwiseOp):
    """Logical not, elementwise.

    Example:
    ```mlir
    %y = relay.logical_not(%x) : (tensor<4xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.logical_not"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": BooleanElements()}


@register_relay_op
@irdl_op_definition
class BitwiseAndOp(BitwiseOp):
    """Bitwise and, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.bitwise_and(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.bitwise_and"


@register_relay_op
@irdl_op_definition
class BitwiseOrOp(BitwiseOp):
    """Bitwise or, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.bitwise_or(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.bitwise_or"


@register_relay_op
@irdl_op_definition
class BitwiseXorOp(BitwiseOp):
    """Bitwise exclusive or, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.bitwise_xor(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.bitwise_xor"


@register_relay_op
@irdl_op_definition
class LeftShiftOp(BitwiseOp):
    """`lhs << rhs`, filled with zeros, elementwise with numpy's broadcasting.

    If `rhs` is negative, or at least the number of bits, the result is 0.

    Example:
    ```mlir
    %z = relay.left_shift(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.left_shift"


@register_relay_op
@irdl_op_definition
class RightShiftOp(BitwiseOp):
    """`lhs >> rhs`, filled with the sign bit, elementwise with numpy's broadcasting.

    If `rhs` is negative, or at least the number of bits, all bits of the result are the sign bit.

    Example:
    ```mlir
    %z = relay.right_shift(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.right_shift"


@register_relay_op
@irdl_op_definition
class BitwiseNotOp(UnaryElementwiseOp):
    """Bitwise not, elementwise.

    Example:
    ```mlir
    %y = relay.bitwise_not(%x) : (tensor<4xi32>) -> tensor<4xi32>
    ```

    """

    name = "relay.bitwise_not"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": IntegerElements()}


@register_relay_op
@irdl_op_definition
class ModOp(BinaryBroadcastOp):
    """The remainder of a division towards zero, with the sign of `lhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.mod(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.mod"


@register_relay_op
@irdl_op_definition
class FloorModOp(BinaryBroadcastOp):
    """The remainder of a division downwards, with the sign of `rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.floor_mod(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.floor_mod"


@register_relay_op
@irdl_op_definition
class FloorDivideOp(BinaryBroadcastOp):
    """The quotient rounded down, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.floor_divide(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.floor_divide"


@register_relay_op
@irdl_op_definition
class AllOp(ReduceOp):
    """Whether all elements over `axis` are true; true if there are no elements.

    Example:
    ```mlir
    %y = relay.all(%x) {axis = [1]} : (tensor<4x8xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.all"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": BooleanElements()}


@register_relay_op
@irdl_op_definition
class AnyOp(ReduceOp):
    """Whether any element over `axis` is true; false if there are no elements.

    Example:
    ```mlir
    %y = relay.any(%x) {axis = [1]} : (tensor<4x8xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.any"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": BooleanElements()}
