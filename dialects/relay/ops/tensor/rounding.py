"""Rounding to whole numbers, the sign, and float predicates."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.op_definition import Array, Body, Facts, no_gradients, register_relay_op, tensor_type
from xrelay.dialects.relay.ops.tensor.elementwise import ScalarUnaryOp


class RoundingOp(ScalarUnaryOp):
    """Base of the roundings to whole numbers, which return integers unchanged."""

    def evaluate(self, data: Array) -> Array:
        """Rounds floats."""
        return data if data.dtype.kind in "iub" else super().evaluate(data)

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Rounds a float."""
        return super().scalar(b, x) if isinstance(x.type, AnyFloat) else x

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class FloorOp(RoundingOp):
    """The greatest whole number not greater than x, elementwise; integers are unchanged.

    Example:
    ```mlir
    %y = relay.floor(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.floor"
    ON_ARRAYS = np.floor
    ON_SCALARS = "FloorOp"


@register_relay_op
@irdl_op_definition
class CeilOp(RoundingOp):
    """The least whole number not less than x, elementwise; integers are unchanged.

    Example:
    ```mlir
    %y = relay.ceil(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.ceil"
    ON_ARRAYS = np.ceil
    ON_SCALARS = "CeilOp"


@register_relay_op
@irdl_op_definition
class RoundOp(RoundingOp):
    """The nearest whole number, halves to even, elementwise; integers are unchanged.

    Example:
    ```mlir
    %y = relay.round(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.round"
    ON_ARRAYS = np.rint
    ON_SCALARS = "RoundEvenOp"


@register_relay_op
@irdl_op_definition
class TruncOp(RoundingOp):
    """x truncated towards zero, elementwise; integers are unchanged.

    Example:
    ```mlir
    %y = relay.trunc(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.trunc"
    ON_ARRAYS = np.trunc
    ON_SCALARS = "TruncOp"


@register_relay_op
@irdl_op_definition
class SignOp(ScalarUnaryOp):
    """1 if x is positive, -1 if x is negative, NaN if x is NaN, else 0, elementwise.

    Example:
    ```mlir
    %y = relay.sign(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sign"

    def function(self, data: Array) -> Array:
        """Calls numpy; the sign of a boolean is itself."""
        return data if data.dtype.kind == "b" else np.sign(data)

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits comparisons with 0; a float that is neither greater nor less is 0 or NaN."""
        from xrelay.dialects.topi.build import is_unsigned

        if x.type == i1:
            return x
        zero, one = b.constant(0, x.type), b.constant(1, x.type)
        positive = b.compare(zero, "lt", x)
        if is_unsigned(x.type):
            return b.select(positive, one, zero)
        rest = b.plus(x, zero) if isinstance(x.type, AnyFloat) else zero
        negative = b.compare(x, "lt", zero)
        return b.select(positive, one, b.select(negative, -1, rest))

    gradient = no_gradients


class FloatPredicateOp(ScalarUnaryOp):
    """Base of the float predicates (Relay's IdentityCompRel): the result is a tensor of i1.

    Integers are finite numbers.
    """

    OF_INTEGERS: ClassVar[bool]
    """The result for integers."""

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's shape with element type i1."""
        return tensor_type(facts.shape(0), i1)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the operand types unchanged, because the boolean result does not determine them."""
        return facts

    def evaluate(self, data: Array) -> Array:
        """Applies the predicate to the array."""
        if data.dtype.kind in "iub":
            return np.full(data.shape, self.OF_INTEGERS)
        return np.asarray(self.function(data), np.bool_)

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Applies the predicate to an element."""
        return self.of_float(b, x) if isinstance(x.type, AnyFloat) else b.constant(self.OF_INTEGERS, i1)

    def of_float(self, b: Body, x: SSAValue) -> SSAValue:
        """Returns the predicate of a float."""
        raise NotImplementedError(f"{self.name} does not define its predicate of a float")

    gradient = no_gradients


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
    OF_INTEGERS = False
    ON_ARRAYS = np.isnan

    def of_float(self, b: Body, x: SSAValue) -> SSAValue:
        """Compares with itself."""
        from xdsl.dialects import arith

        return b.add(arith.CmpfOp(x, x, "uno"))


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
    OF_INTEGERS = False
    ON_ARRAYS = np.isinf

    def of_float(self, b: Body, x: SSAValue) -> SSAValue:
        """Compares the magnitude with infinity."""
        return b.compare(b.absolute(x), "eq", inf)


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
    OF_INTEGERS = True
    ON_ARRAYS = np.isfinite

    def of_float(self, b: Body, x: SSAValue) -> SSAValue:
        """Compares the magnitude with infinity."""
        return b.compare(b.absolute(x), "lt", inf)
