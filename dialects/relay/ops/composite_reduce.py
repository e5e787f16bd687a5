"""Composite reductions: `relay.logsumexp` and `relay.std`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.constraints import AxisOf, Constraints, FloatElements
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, optional_ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor.reduce import ReduceOp
from xrelay.dialects.relay.structure.composite import CompositeOp, Parts
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of


@register_relay_op
@irdl_op_definition
class LogsumexpOp(ReduceOp, CompositeOp):
    """`m + log(sum(exp(x - m)))` over `axis`, with m the greatest element; m if that is infinite.

    Example:
    ```mlir
    %y = relay.logsumexp(%x) {axis = [1]} : (tensor<4x8xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.logsumexp"
    PATTERN: ClassVar[OpPatternKind] = CompositeOp.PATTERN
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": FloatElements()}

    def decompose(self, parts: Parts) -> SSAValue:
        """Returns the greatest element plus the logarithm of the sum of the exponentials of the differences to it."""
        (x,) = parts.operands
        axes = self.reduced_axes(parts.rank(x))
        largest = parts.op("max", x, axis=axes, keepdims=True)
        # Infinity minus infinity is NaN, so m is clipped to the greatest float.
        most = float(np.finfo(numpy_dtype(element_type_of(x.type))).max)
        bounded = parts.op("clip", largest, a_min=-most, a_max=most)
        total = parts.op("sum", parts.op("exp", parts.op("subtract", x, bounded)), axis=axes, keepdims=True)
        result = parts.op("add", parts.op("log", total), bounded)
        return result if self.keepdims.value.data else parts.op("squeeze", result, axis=axes)


@register_relay_op
@irdl_op_definition
class StdOp(ReduceOp, CompositeOp):
    """The square root of the variance over `axis`; with `unbiased` the variance is divided by one less.

    Example:
    ```mlir
    %y = relay.std(%x) {axis = [1], unbiased = true} : (tensor<4x8xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.std"
    PATTERN: ClassVar[OpPatternKind] = CompositeOp.PATTERN
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": FloatElements()}

    # Fields of a subclass come first, so those of the base are redeclared in Relay's order.
    axis = optional_ints_property()
    keepdims = bool_property(False)
    exclude = bool_property(False)
    unbiased = bool_property(False)

    def decompose(self, parts: Parts) -> SSAValue:
        """The mean, the variance, and its square root."""
        (x,) = parts.operands
        axes, keepdims = self.reduced_axes(parts.rank(x)), bool(self.keepdims.value.data)
        mean = parts.op("mean", x, axis=axes, keepdims=True)
        unbiased = bool(self.unbiased.value.data)
        return parts.op("sqrt", parts.op("variance", x, mean, axis=axes, keepdims=keepdims, unbiased=unbiased))
