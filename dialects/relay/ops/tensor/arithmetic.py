"""Arithmetic, quotients, remainders, maximum and minimum of two tensors, with broadcasting."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core import element_rules
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    GradientBuilder,
    Gradients,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    element_type_of,
    no_gradients,
    register_relay_op,
)
from xrelay.dialects.relay.ops.tensor.elementwise import BinaryBroadcastOp, ScalarBinaryOp
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder


@register_relay_op
@irdl_op_definition
class AddOp(ScalarBinaryOp):
    """`lhs + rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.add(%x, %y) : (tensor<1x64x56x56xf32>, tensor<64x1x1xf32>) -> tensor<1x64x56x56xf32>
    ```

    """

    name = "relay.add"
    QUANTIZATION = Quantization.JOIN
    ON_ELEMENTS = element_rules.add
    ON_ARRAYS = np.add
    ON_SCALARS = "plus"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient for both operands."""
        return [build.sum_like(of, self.lhs), build.sum_like(of, self.rhs)]


@register_relay_op
@irdl_op_definition
class SubtractOp(ScalarBinaryOp):
    """`lhs - rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.subtract(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.subtract"
    QUANTIZATION = Quantization.JOIN
    ON_ELEMENTS = element_rules.sub
    ON_ARRAYS = np.subtract
    ON_SCALARS = "minus"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient and its negative."""
        return [build.sum_like(of, self.lhs), build.sum_like(build.op("negative", of), self.rhs)]


@register_relay_op
@irdl_op_definition
class MultiplyOp(ScalarBinaryOp):
    """`lhs * rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.multiply(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.multiply"
    QUANTIZATION = Quantization.SCALING
    ON_ELEMENTS = element_rules.mul
    ON_ARRAYS = np.multiply
    ON_SCALARS = "times"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient times the other factor."""
        left, right = build.op("multiply", of, self.rhs), build.op("multiply", of, self.lhs)
        return [build.sum_like(left, self.lhs), build.sum_like(right, self.rhs)]


@register_relay_op
@irdl_op_definition
class DivideOp(ScalarBinaryOp):
    """`lhs / rhs`, elementwise with numpy's broadcasting; of integers, truncated towards zero.

    Example:
    ```mlir
    %z = relay.divide(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.divide"
    QUANTIZATION = Quantization.SCALING
    ON_ELEMENTS = element_rules.truncated_quotient
    ON_SCALARS = "divide"

    def function(self, lhs: Array, rhs: Array) -> Array:
        """Calls numpy."""
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        return truncated_quotient(lhs, rhs) if lhs.dtype.kind in "iu" else lhs / rhs

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient divided by the divisor y, and that times -x / y."""
        left = build.op("divide", of, self.rhs)
        right = build.op("negative", build.op("divide", build.op("multiply", of, self.result), self.rhs))
        return [build.sum_like(left, self.lhs), build.sum_like(right, self.rhs)]


@register_relay_op
@irdl_op_definition
class TruncDivideOp(BinaryBroadcastOp, CompositeOp):
    """`lhs / rhs` rounded towards zero, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.trunc_divide(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.trunc_divide"
    PATTERN = OpPatternKind.BROADCAST

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The quotient, truncated if it is a float."""
        quotient = build.op("divide", *build.operands)
        return quotient if isinstance(element_type_of(quotient.type), IntegerType) else build.op("trunc", quotient)

    def evaluate(self, lhs: Array, rhs: Array) -> Array:
        """Truncates the quotient."""
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        return truncated_quotient(lhs, rhs) if lhs.dtype.kind in "iu" else np.asarray(np.trunc(lhs / rhs), lhs.dtype)


@register_relay_op
@irdl_op_definition
class TruncModOp(BinaryBroadcastOp, CompositeOp):
    """The remainder of a division towards zero, with the sign of `lhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.trunc_mod(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.trunc_mod"
    PATTERN = OpPatternKind.BROADCAST

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """`mod`, which truncates towards zero."""
        return build.op("mod", *build.operands)

    def evaluate(self, lhs: Array, rhs: Array) -> Array:
        """Returns the remainder of C's `%` and `fmod`."""
        from xrelay.dialects.relay.meaning.integer_division import checking_divisors

        return np.asarray(checking_divisors(np.fmod)(lhs, rhs), lhs.dtype)


@register_relay_op
@irdl_op_definition
class MaximumOp(ScalarBinaryOp):
    """The greater of `lhs` and `rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.maximum(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.maximum"
    QUANTIZATION = Quantization.JOIN
    ON_ELEMENTS = element_rules.pair_maximum
    ON_ARRAYS = np.maximum
    ON_SCALARS = "maximum"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient for the selected operand; for equal operands, the left one."""
        return _selected(self, build.op("greater_equal", self.lhs, self.rhs), of, build)


@register_relay_op
@irdl_op_definition
class MinimumOp(ScalarBinaryOp):
    """The lesser of `lhs` and `rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.minimum(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.minimum"
    QUANTIZATION = Quantization.JOIN
    ON_ELEMENTS = element_rules.pair_minimum
    ON_ARRAYS = np.minimum
    ON_SCALARS = "minimum"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient for the selected operand; for equal operands, the left one."""
        return _selected(self, build.op("less_equal", self.lhs, self.rhs), of, build)


@register_relay_op
@irdl_op_definition
class PowerOp(ScalarBinaryOp):
    """`lhs` to the power `rhs`, elementwise with numpy's broadcasting.

    Integer powers are exact modulo the width, like products. A negative exponent yields the truncated reciprocal: 1 or
    -1 for a base of 1 or -1, else 0.

    Example:
    ```mlir
    %z = relay.power(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.power"
    MIXED_PRECISION = MixedPrecision.NEVER
    ON_SCALARS = "power"

    def function(self, lhs: Array, rhs: Array) -> Array:
        """Calls numpy."""
        from xrelay.dialects.shared.numerics import float_power, integer_power

        return integer_power(lhs, rhs) if rhs.dtype.kind in "iu" else float_power(lhs, rhs)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is y · x^(y-1) for the base x, 0 if y = 0; x^y · ln(x) for the exponent y, 0 if x ≤ 0."""
        zero = build.op("equal", self.rhs, 0)
        lower = build.op("where", zero, build.ones_like(self.rhs), build.op("subtract", self.rhs, 1))
        base = build.op("multiply", self.rhs, build.op("power", self.lhs, lower))
        positive = build.op("greater", self.lhs, 0)
        logarithm = build.op("log", build.op("where", positive, self.lhs, build.ones_like(self.lhs)))
        exponent = build.op("multiply", self.result, logarithm)
        left, right = build.op("multiply", of, base), build.op("multiply", of, exponent)
        return [build.sum_like(left, self.lhs), build.sum_like(right, self.rhs)]


def _selected(op: MaximumOp | MinimumOp, left: SSAValue, of: SSAValue, build: GradientBuilder) -> Gradients:
    """Returns the gradient for the left operand if `left` is true, else for the right one."""
    zeros = build.zeros_like(of)
    first, second = build.op("where", left, of, zeros), build.op("where", left, zeros, of)
    return [build.sum_like(first, op.lhs), build.sum_like(second, op.rhs)]


class RemainderOp(ScalarBinaryOp):
    """Base of the remainders."""

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient, and its negative times the integral quotient."""
        quotient = build.op("divide", build.op("subtract", self.lhs, self.result), self.rhs)
        right = build.op("negative", build.op("multiply", of, quotient))
        return [build.sum_like(of, self.lhs), build.sum_like(right, self.rhs)]


@register_relay_op
@irdl_op_definition
class ModOp(RemainderOp):
    """The remainder of a division towards zero, with the sign of `lhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.mod(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.mod"

    def function(self, lhs: Array, rhs: Array) -> Array:
        """Calls `np.fmod`, which truncates the quotient towards zero."""
        from xrelay.dialects.relay.meaning.integer_division import checking_divisors

        return checking_divisors(np.fmod)(lhs, rhs)

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Emits the op on two elements."""
        return _remainder(b, x, y)


@register_relay_op
@irdl_op_definition
class FloorModOp(RemainderOp):
    """The remainder of a division downwards, with the sign of `rhs`, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.floor_mod(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.floor_mod"

    def function(self, lhs: Array, rhs: Array) -> Array:
        """Calls numpy."""
        from xrelay.dialects.relay.meaning.integer_division import checking_divisors

        return checking_divisors(np.mod)(lhs, rhs)

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Emits the truncated remainder and its correction; a zero has the sign of the divisor, as in numpy."""
        from xdsl.dialects import math

        from xrelay.dialects.topi.build import is_unsigned

        remainder = _remainder(b, x, y)
        if is_unsigned(y.type):
            return remainder
        moved = b.select(_rounds_up(b, remainder, y), b.plus(remainder, y), remainder)
        return b.add(math.CopySignOp(moved, y)) if isinstance(y.type, AnyFloat) else moved


@register_relay_op
@irdl_op_definition
class FloorDivideOp(ScalarBinaryOp):
    """The quotient rounded down, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.floor_divide(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.floor_divide"

    def function(self, lhs: Array, rhs: Array) -> Array:
        """Calls numpy for integers; rounds the quotient of floats down."""
        from xrelay.dialects.relay.meaning.integer_division import checking_divisors

        return checking_divisors(np.floor_divide)(lhs, rhs) if lhs.dtype.kind in "iub" else np.floor(lhs / rhs)

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Emits the truncated quotient and its correction; rounds the quotient of floats down."""
        from xrelay.dialects.topi.build import is_unsigned

        quotient = b.divide(x, y)
        if isinstance(x.type, AnyFloat):
            return b.floor(quotient)
        if is_unsigned(x.type):
            return quotient
        return b.select(_rounds_up(b, _remainder(b, x, y), y), b.minus(quotient, 1), quotient)

    gradient = no_gradients


def _remainder(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Emits the remainder of a truncated division."""
    from xdsl.dialects import arith

    from xrelay.dialects.topi.build import is_unsigned
    from xrelay.dialects.upstream.arith_extras import RemFOp

    if isinstance(x.type, AnyFloat):
        return b.add(RemFOp(x, y))
    return b.add((arith.RemUIOp if is_unsigned(x.type) else arith.RemSIOp)(x, y))


def _rounds_up(b: Body, remainder: SSAValue, y: SSAValue) -> SSAValue:
    """Returns whether a truncated division with this remainder rounded up."""
    zero = b.constant(0, y.type)
    signs = b.logical_xor(b.compare(remainder, "lt", zero), b.compare(y, "lt", zero))
    return b.logical_and(b.compare(remainder, "ne", zero), signs)
