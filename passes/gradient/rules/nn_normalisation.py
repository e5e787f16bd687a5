"""Softmax, its logarithm, and normalisation by running statistics. Other normalisations have parts that have rules."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.composite_activation import LogSoftmaxOp
from xrelay.dialects.relay.ops.fast_math import FastSoftmaxOp
from xrelay.dialects.relay.ops.nn_activation import DropoutOp, SoftmaxOp
from xrelay.dialects.relay.ops.nn_norm import BatchNormOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(SoftmaxOp, FastSoftmaxOp)
def softmax(op: SoftmaxOp | FastSoftmaxOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """`y * (g - sum(g * y))` along the axis."""
    total = emit.op("sum", emit.op("multiply", gradient, op.result), axis=(op.axis.value.data,), keepdims=True)
    return [emit.op("multiply", op.result, emit.op("subtract", gradient, total))]


@differentiates(LogSoftmaxOp)
def log_softmax(op: LogSoftmaxOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """`g - exp(y) * sum(g)` along the axis."""
    total = emit.op("sum", gradient, axis=(op.axis.value.data,), keepdims=True)
    return [emit.op("subtract", gradient, emit.op("multiply", emit.op("exp", op.result), total))]


@differentiates(DropoutOp)
def dropout(op: DropoutOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The gradient of the first field, which is the data; the mask does not change with it."""
    return [emit.item(gradient, 0)]


@differentiates(BatchNormOp)
def batch_norm(op: BatchNormOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Of `(x - mean) * r * gamma + beta` with `r = 1 / sqrt(var + epsilon)`; mean and variance are results as well."""
    rank = len(emit.shape(op.data))
    axis = axis_index(op.axis.value.data, rank)
    of_result = emit.item(gradient, 0)

    def along(vector: SSAValue) -> SSAValue:
        behind = rank - axis - 1
        return emit.op("expand_dims", vector, axis=1, num_newaxis=behind) if behind else vector

    def total(value: SSAValue) -> SSAValue:
        return emit.op("sum", value, axis=(axis,), exclude=True)

    root = emit.op("rsqrt", emit.op("add", op.moving_var, op.epsilon.value.data))
    slope = emit.op("multiply", root, op.gamma) if op.scale.value.data else root
    # Sums of the gradient, and of its products with the distances from the mean, say all of the vectors' gradients.
    plain = total(of_result)
    weighted = total(emit.op("multiply", of_result, emit.op("subtract", op.data, along(op.moving_mean))))
    of_variance = emit.op("multiply", emit.op("multiply", weighted, slope), emit.op("multiply", root, root))
    return [
        emit.op("multiply", of_result, along(slope)),
        emit.op("multiply", weighted, root) if op.scale.value.data else None,
        plain if op.center.value.data else None,
        emit.op("subtract", emit.item(gradient, 1), emit.op("multiply", plain, slope)),
        emit.op("subtract", emit.item(gradient, 2), emit.op("multiply", of_variance, 0.5)),
    ]
