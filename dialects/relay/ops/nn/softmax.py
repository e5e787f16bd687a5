"""`relay.nn.softmax`, `relay.nn.fast_softmax` and `relay.nn.log_softmax`."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.along_axis import AlongAxisOp
from xrelay.dialects.relay.op_definition import (
    Array,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    OpPatternKind,
    Tensors,
    TopiBuilder,
    cast_once,
    register_relay_op,
)
from xrelay.dialects.relay.ops.tensor.fast_math import fast_exp
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder


class ProbabilitiesOp(AlongAxisOp):
    """Base of the ops that compute probabilities along an axis."""

    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """`y * (g - sum(g * y))` along the axis, for the result y and its gradient g."""
        total = build.op("sum", build.op("multiply", of, self.result), axis=(self.axis.value.data,), keepdims=True)
        return [build.op("multiply", self.result, build.op("subtract", of, total))]


@register_relay_op
class SoftmaxOp(ProbabilitiesOp):
    """`exp(x - m) / sum(exp(x - m))` along `axis`, with m the greatest element along it.

    Example:
    ```mlir
    %y = relay.nn.softmax(%x) : (tensor<1x1000xf32>) -> tensor<1x1000xf32>
    ```

    """

    name = "relay.nn.softmax"
    HALF_PRECISION = HalfPrecision.SINGLE

    def evaluate(self, data: Array) -> Array:
        """Computes the formula in double precision."""
        powers = np.exp(_below_greatest(data, self.axis.value.data))
        return (powers / np.sum(powers, axis=self.axis.value.data, keepdims=True)).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds `topi.softmax`."""
        from xrelay.dialects.topi.named import SoftmaxOp as TopiSoftmaxOp

        axis = self.axis.value.data % len(build.result_shape)
        return build.insert(TopiSoftmaxOp(build.operand(0), axis, build.result_type)).results


@register_relay_op
class FastSoftmaxOp(ProbabilitiesOp, CompositeOp):
    """`nn.softmax` with the exponential of `fast_exp`.

    Example:
    ```mlir
    %y = relay.nn.fast_softmax(%x) : (tensor<2x10xf32>) -> tensor<2x10xf32>
    ```

    """

    name = "relay.nn.fast_softmax"

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Two reductions with exponentials between them."""
        (x,) = build.operands
        axis = (self.axis.value.data,)
        shifted = build.op("subtract", x, build.op("max", x, axis=axis, keepdims=True))
        powers = build.op("fast_exp", shifted)
        return build.op("divide", powers, build.op("sum", powers, axis=axis, keepdims=True))

    def evaluate(self, data: Array) -> Array:
        """Computes the formula in double precision; for f64 with the exact exponential."""
        shifted = _below_greatest(data, self.axis.value.data)
        powers = np.exp(shifted) if data.dtype == np.float64 else fast_exp(shifted)
        return cast_once(powers / np.sum(powers, axis=self.axis.value.data, keepdims=True), data.dtype)


@register_relay_op
class LogSoftmaxOp(AlongAxisOp, CompositeOp):
    """`x - m - log(sum(exp(x - m)))` along `axis`, with m the greatest element along it.

    This is more precise for large elements than the logarithm of `nn.softmax`.

    Example:
    ```mlir
    %y = relay.nn.log_softmax(%x) : (tensor<2x10xf32>) -> tensor<2x10xf32>
    ```

    """

    name = "relay.nn.log_softmax"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Two reductions with elementwise ops between them."""
        (x,) = build.operands
        axis = (self.axis.value.data,)
        shifted = build.op("subtract", x, build.op("max", x, axis=axis, keepdims=True))
        total = build.op("sum", build.op("exp", shifted), axis=axis, keepdims=True)
        return build.op("subtract", shifted, build.op("log", total))

    def evaluate(self, data: Array) -> Array:
        """Computes the formula in double precision."""
        shifted = _below_greatest(data, self.axis.value.data)
        total = np.log(np.sum(np.exp(shifted), axis=self.axis.value.data, keepdims=True))
        return cast_once(shifted - total, data.dtype)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """`g - exp(y) * sum(g)` along the axis, for the result y and its gradient g."""
        total = build.op("sum", of, axis=(self.axis.value.data,), keepdims=True)
        return [build.op("subtract", of, build.op("multiply", build.op("exp", self.result), total))]


def _below_greatest(data: Array, axis: int) -> Array:
    """Returns the differences to the greatest element along `axis`, in double precision."""
    wide = data.astype(np.float64)
    return wide - np.max(wide, axis=axis, keepdims=True, initial=-np.inf)
