"""Activations that other ops define."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.along_axis import AlongAxisOp
from xrelay.dialects.relay.core.constraints import Constraints
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_elementwise import FLOATS, UnaryElementwiseOp
from xrelay.dialects.relay.structure.composite import CompositeOp, Expansion, Parts


class ElementwiseCompositeOp(UnaryElementwiseOp, CompositeOp):
    """Base of the unary elementwise ops that others define: they fuse whole, as one elementwise op."""

    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class MishOp(ElementwiseCompositeOp):
    """`x * tanh(log(1 + exp(x)))`, elementwise.

    Computed as `x * (t * t + 2 * t) / (t * t + 2 * t + 2)` with t = exp(min(x, 20)), which is the same without a
    logarithm; above 20 the factor is 1 in every float type.

    Example:
    ```mlir
    %y = relay.mish(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.mish"

    def decompose(self, parts: Parts) -> SSAValue:
        """The quotient of two polynomials of an exponential."""
        (x,) = parts.operands
        power = parts.op("exp", parts.op("minimum", x, 20.0))
        above = parts.op("multiply", power, parts.op("add", power, 2.0))
        return parts.op("multiply", x, parts.op("divide", above, parts.op("add", above, 2.0)))


@register_relay_op
@irdl_op_definition
class LogSoftmaxOp(AlongAxisOp, CompositeOp):
    """`x - m - log(sum(exp(x - m)))` along `axis`, with m the greatest element along it.

    Of large elements the difference keeps every digit, which the logarithm of `nn.softmax` does not.

    Example:
    ```mlir
    %y = relay.nn.log_softmax(%x) : (tensor<2x10xf32>) -> tensor<2x10xf32>
    ```

    """

    name = "relay.nn.log_softmax"
    EXPANDS: ClassVar[Expansion | None] = Expansion.KERNEL

    def decompose(self, parts: Parts) -> SSAValue:
        """Two reductions, and what is between them."""
        (x,) = parts.operands
        axis = (self.axis.value.data,)
        shifted = parts.op("subtract", x, parts.op("max", x, axis=axis, keepdims=True))
        total = parts.op("sum", parts.op("exp", shifted), axis=axis, keepdims=True)
        return parts.op("subtract", shifted, parts.op("log", total))
