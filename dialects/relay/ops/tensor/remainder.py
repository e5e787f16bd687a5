"""Remainders, and division that rounds down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.op_definition import Array, GradientBuilder, Gradients, no_gradients, register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import ScalarBinaryOp

if TYPE_CHECKING:
    from xrelay.dialects.topi.build import Body


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
    from xdsl.dialects import arith

    zero = b.constant(0, y.type)
    signs = b.add(arith.XOrIOp(b.compare(remainder, "lt", zero), b.compare(y, "lt", zero)))
    return b.logical_and(b.compare(remainder, "ne", zero), signs)
