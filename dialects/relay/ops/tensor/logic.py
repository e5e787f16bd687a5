"""Operators on booleans, reductions of them, and operators on the bits of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    Body,
    BooleanElements,
    Constraints,
    IntegerElements,
    MixedPrecision,
    TopiBuilder,
    no_gradients,
    register_relay_op,
)
from xrelay.dialects.relay.ops.tensor.elementwise import ScalarBinaryOp, ScalarUnaryOp
from xrelay.dialects.relay.ops.tensor.reduce import ReduceOp


class LogicalOp(ScalarBinaryOp):
    """Base of the binary boolean operators."""

    CONSTRAINTS: ClassVar[Constraints] = {**ScalarBinaryOp.CONSTRAINTS, "C3": BooleanElements()}

    gradient = no_gradients


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
    ON_ARRAYS = np.logical_and
    ON_SCALARS = "logical_and"


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
    ON_ARRAYS = np.logical_or
    ON_SCALARS = "logical_or"


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
    ON_ARRAYS = np.logical_xor
    ON_SCALARS = "logical_xor"


@register_relay_op
@irdl_op_definition
class LogicalNotOp(ScalarUnaryOp):
    """Logical not, elementwise.

    Example:
    ```mlir
    %y = relay.logical_not(%x) : (tensor<4xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.logical_not"
    CONSTRAINTS = {"C1": BooleanElements()}
    ON_ARRAYS = np.logical_not

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits an exclusive or with true."""
        return b.logical_xor(x, b.constant(1, x.type))

    gradient = no_gradients


class LogicalReduceOp(ReduceOp):
    """Base of the reductions of booleans."""

    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": AxisOf(), "C2": BooleanElements()}

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class AllOp(LogicalReduceOp):
    """Whether all elements over `axis` are true; true if there are no elements.

    Example:
    ```mlir
    %y = relay.all(%x) {axis = [1]} : (tensor<4x8xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.all"

    def evaluate(self, data: Array) -> Array:
        """Calls numpy."""
        return self.reduced_by(np.all, data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds over the reduced axes."""
        from xrelay.dialects.relay.computes.reduction import all_true

        return [all_true(build)]


@register_relay_op
@irdl_op_definition
class AnyOp(LogicalReduceOp):
    """Whether any element over `axis` is true; false if there are no elements.

    Example:
    ```mlir
    %y = relay.any(%x) {axis = [1]} : (tensor<4x8xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.any"

    def evaluate(self, data: Array) -> Array:
        """Calls numpy."""
        return self.reduced_by(np.any, data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds over the reduced axes."""
        from xrelay.dialects.relay.computes.reduction import any_true

        return [any_true(build)]


class BitwiseOp(ScalarBinaryOp):
    """Base of the binary operators on the bits of integers."""

    CONSTRAINTS: ClassVar[Constraints] = {**ScalarBinaryOp.CONSTRAINTS, "C3": IntegerElements()}


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
    ON_ARRAYS = np.bitwise_and
    ON_SCALARS = "logical_and"


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
    ON_ARRAYS = np.bitwise_or
    ON_SCALARS = "logical_or"


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
    ON_ARRAYS = np.bitwise_xor
    ON_SCALARS = "logical_xor"


@register_relay_op
@irdl_op_definition
class BitwiseNotOp(ScalarUnaryOp):
    """Bitwise not, elementwise.

    Example:
    ```mlir
    %y = relay.bitwise_not(%x) : (tensor<4xi32>) -> tensor<4xi32>
    ```

    """

    name = "relay.bitwise_not"
    CONSTRAINTS = {"C1": IntegerElements()}
    ON_ARRAYS = np.bitwise_not

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits an exclusive or with all bits."""
        from xrelay.dialects.topi.build import is_unsigned
        from xrelay.dialects.topi.shapes import bit_width

        all_bits = (1 << bit_width(x.type)) - 1 if is_unsigned(x.type) else -1
        return b.logical_xor(x, b.constant(all_bits, x.type))


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
    ON_ARRAYS = np.left_shift

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Emits a shift by `y`, or 0 if the width of the type is exceeded."""
        from xdsl.dialects import arith

        most = _greatest_shift(b, x)
        shifted = b.add(arith.ShLIOp(x, b.add(arith.MinUIOp(y, most))))
        return _if_within(b, y, most, shifted)


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
    ON_ARRAYS = np.right_shift

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Emits a shift by at most the width of the type less 1, which leaves copies of the sign bit."""
        from xdsl.dialects import arith

        from xrelay.dialects.topi.build import is_unsigned

        most = _greatest_shift(b, x)
        by = b.add(arith.MinUIOp(y, most))
        if is_unsigned(x.type):
            return _if_within(b, y, most, b.add(arith.ShRUIOp(x, by)))
        return b.add(arith.ShRSIOp(x, by))


def _greatest_shift(b: Body, x: SSAValue) -> SSAValue:
    """Returns the greatest defined number of bits to shift by; in arith, greater ones are undefined."""
    from xrelay.dialects.topi.shapes import bit_width

    return b.constant(bit_width(x.type) - 1, x.type)


def _if_within(b: Body, number: SSAValue, most: SSAValue, shifted: SSAValue) -> SSAValue:
    """Returns `shifted` if the number of bits is at most `most`, else 0."""
    from xdsl.dialects import arith

    within = b.add(arith.CmpiOp(number, most, "ule"))
    return b.select(within, shifted, 0)
