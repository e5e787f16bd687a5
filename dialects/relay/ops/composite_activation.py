"""The base of elementwise composite ops, and `relay.nn.log_softmax`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.along_axis import AlongAxisOp
from xrelay.dialects.relay.core.constraints import Constraints
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import FLOATS, UnaryElementwiseOp
from xrelay.dialects.relay.structure.composite import CompositeOp, Parts


class ElementwiseCompositeOp(UnaryElementwiseOp, CompositeOp):
    """Base of unary elementwise composite ops, which fuse as one elementwise op."""

    CONSTRAINTS: ClassVar[Constraints] = FLOATS


@register_relay_op
@irdl_op_definition
class LogSoftmaxOp(AlongAxisOp, CompositeOp):
    """`x - m - log(sum(exp(x - m)))` along `axis`, with m the greatest element along it.

    This is more precise for large elements than the logarithm of `nn.softmax`.

    Example:
    ```mlir
    %y = relay.nn.log_softmax(%x) : (tensor<2x10xf32>) -> tensor<2x10xf32>
    ```

    """

    name = "relay.nn.log_softmax"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE

    def decompose(self, parts: Parts) -> SSAValue:
        """Two reductions with elementwise ops between them."""
        (x,) = parts.operands
        axis = (self.axis.value.data,)
        shifted = parts.op("subtract", x, parts.op("max", x, axis=axis, keepdims=True))
        total = parts.op("sum", parts.op("exp", shifted), axis=axis, keepdims=True)
        return parts.op("subtract", shifted, parts.op("log", total))
