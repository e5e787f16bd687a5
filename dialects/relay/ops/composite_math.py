"""Composite arithmetic: logarithms to base 2 and 10, quotients and remainders truncated towards zero."""

from __future__ import annotations

import math
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.composite_activation import ElementwiseCompositeOp
from xrelay.dialects.relay.ops.tensor.elementwise import BinaryBroadcastOp
from xrelay.dialects.relay.structure.composite import CompositeOp, Parts
from xrelay.dialects.shared.types import element_type_of


@register_relay_op
@irdl_op_definition
class Log2Op(ElementwiseCompositeOp):
    """The logarithm of x to base 2, elementwise; NaN if x is negative.

    Example:
    ```mlir
    %y = relay.log2(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.log2"

    def decompose(self, parts: Parts) -> SSAValue:
        """A multiple of the natural logarithm."""
        return parts.op("multiply", parts.op("log", *parts.operands), 1 / math.log(2))


@register_relay_op
@irdl_op_definition
class Log10Op(ElementwiseCompositeOp):
    """The logarithm of x to base 10, elementwise; NaN if x is negative.

    Example:
    ```mlir
    %y = relay.log10(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.log10"

    def decompose(self, parts: Parts) -> SSAValue:
        """A multiple of the natural logarithm."""
        return parts.op("multiply", parts.op("log", *parts.operands), 1 / math.log(10))


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
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.BROADCAST

    def decompose(self, parts: Parts) -> SSAValue:
        """The quotient, truncated if it is a float."""
        quotient = parts.op("divide", *parts.operands)
        return quotient if isinstance(element_type_of(quotient.type), IntegerType) else parts.op("trunc", quotient)


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
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.BROADCAST

    def decompose(self, parts: Parts) -> SSAValue:
        """`mod`, which truncates towards zero."""
        return parts.op("mod", *parts.operands)
