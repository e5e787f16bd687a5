"""Logic on truth values and over axes of them, bits of integers, and remainders."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.constraints import AxisOf, BooleanElements, Constraints, IntegerElements
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_elementwise import BinaryBroadcastOp, DivisionOp, UnaryElementwiseOp
from xrelay.dialects.relay.ops.tensor_reduce import ReduceOp


class LogicalOp(BinaryBroadcastOp):
    """Base of the operations on two truth values."""

    CONSTRAINTS: ClassVar[Constraints] = {**BinaryBroadcastOp.CONSTRAINTS, "C3": BooleanElements()}


class BitwiseOp(BinaryBroadcastOp):
    """Base of the operations on the bits of two integers."""

    CONSTRAINTS: ClassVar[Constraints] = {**BinaryBroadcastOp.CONSTRAINTS, "C3": IntegerElements()}


@register_relay_op
@irdl_op_definition
class LogicalAndOp(LogicalOp):
    """Whether both are true, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_and(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_and"


@register_relay_op
@irdl_op_definition
class LogicalOrOp(LogicalOp):
    """Whether at least one is true, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_or(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_or"


@register_relay_op
@irdl_op_definition
class LogicalXorOp(LogicalOp):
    """Whether exactly one is true, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_xor(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_xor"


@register_relay_op
@irdl_op_definition
class LogicalNotOp(UnaryElementwiseOp):
    """Whether x is false, elementwise.

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
    """The bits that both have, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.bitwise_and(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.bitwise_and"


@register_relay_op
@irdl_op_definition
class BitwiseOrOp(BitwiseOp):
    """The bits that at least one has, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.bitwise_or(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.bitwise_or"


@register_relay_op
@irdl_op_definition
class BitwiseXorOp(BitwiseOp):
    """The bits that exactly one has, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.bitwise_xor(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.bitwise_xor"


@register_relay_op
@irdl_op_definition
class LeftShiftOp(BitwiseOp):
    """The bits of `lhs` moved up by `rhs` places, zeros from below, elementwise with numpy's broadcasting.

    By a negative number, or by as many places as there are bits and more, nothing is left.

    Example:
    ```mlir
    %z = relay.left_shift(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.left_shift"


@register_relay_op
@irdl_op_definition
class RightShiftOp(BitwiseOp):
    """The bits of `lhs` moved down by `rhs` places, the sign from above, elementwise with numpy's broadcasting.

    By a negative number, or by as many places as there are bits and more, the sign alone is left.

    Example:
    ```mlir
    %z = relay.right_shift(%x, %y) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.right_shift"


@register_relay_op
@irdl_op_definition
class BitwiseNotOp(UnaryElementwiseOp):
    """All bits the other way round, elementwise.

    Example:
    ```mlir
    %y = relay.bitwise_not(%x) : (tensor<4xi32>) -> tensor<4xi32>
    ```

    """

    name = "relay.bitwise_not"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": IntegerElements()}


@register_relay_op
@irdl_op_definition
class ModOp(DivisionOp):
    """The remainder of a division towards zero, with the sign of `lhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.mod(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.mod"


@register_relay_op
@irdl_op_definition
class FloorModOp(DivisionOp):
    """The remainder of a division downwards, with the sign of `rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.floor_mod(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.floor_mod"


@register_relay_op
@irdl_op_definition
class FloorDivideOp(DivisionOp):
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
    """Whether every element over `axis` is true; of none, true.

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
    """Whether some element over `axis` is true; of none, false.

    Example:
    ```mlir
    %y = relay.any(%x) {axis = [1]} : (tensor<4x8xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.any"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": BooleanElements()}
