"""Softmax, its logarithm, and normalisation by running statistics. Other normalisations have parts that have rules."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.ops.composite_activation import LogSoftmaxOp
from xrelay.dialects.relay.ops.fast_math import FastSoftmaxOp
from xrelay.dialects.relay.ops.nn_activation import DropoutOp, SoftmaxOp
from xrelay.dialects.relay.ops.nn_lrn import LRNOp
from xrelay.dialects.relay.ops.nn_norm import BatchNormOp
from xrelay.index_algebra.dims import MAX_EXTENT, Dim
from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.gradient.rule_table import Gradients, differentiates


@differentiates(SoftmaxOp, FastSoftmaxOp)
def softmax(op: SoftmaxOp | FastSoftmaxOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """`y * (g - sum(g * y))` along the axis."""
    total = emit.op("sum", emit.op("multiply", gradient, op.result), axis=(op.axis.value.data,), keepdims=True)
    return [emit.op("multiply", op.result, emit.op("subtract", gradient, total))]


@differentiates(LogSoftmaxOp)
def log_softmax(op: LogSoftmaxOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """`g - exp(y) * sum(g)` along the axis."""
    total = emit.op("sum", gradient, axis=(op.axis.value.data,), keepdims=True)
    return [emit.op("subtract", gradient, emit.op("multiply", emit.op("exp", op.result), total))]


@differentiates(DropoutOp)
def dropout(op: DropoutOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """The gradient of the first field, which is the data; the mask does not change with it."""
    return [emit.item(gradient, 0)]


@differentiates(BatchNormOp)
def batch_norm(op: BatchNormOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
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


@differentiates(LRNOp)
def lrn(op: LRNOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """`g * s^-beta - x * 2 * alpha * beta / size * sum(g * x * s^(-beta - 1))`, s what is raised to a power.

    The sum goes over the windows that an element is in, which reach as far up as its own does down.
    """
    if 0 in emit.shape(op.data):
        return [emit.zeros_like(op.data)]
    size, alpha, beta = op.size.value.data, op.alpha.value.data, op.beta.value.data
    before, after = (size - 1) // 2, size // 2
    squares = _window_means(op, emit.op("multiply", op.data, op.data), before, after, emit)
    base = emit.op("add", emit.op("multiply", squares, alpha), op.bias.value.data)
    scale = emit.op("power", base, -beta)
    share = emit.op("divide", emit.op("multiply", emit.op("multiply", gradient, op.data), scale), base)
    others = emit.op("multiply", _window_means(op, share, after, before, emit), 2 * alpha * beta)
    return [emit.op("subtract", emit.op("multiply", gradient, scale), emit.op("multiply", op.data, others))]


def _window_means(op: LRNOp, value: SSAValue, before: int, after: int, emit: GradientEmitter) -> SSAValue:
    """The sum over the elements around each along the axis, divided by the size of the window."""
    rank, axis = len(emit.shape(value)), axis_index(op.axis.value.data, len(emit.shape(value)))
    order = [*(other for other in range(rank) if other != axis), axis]
    last = emit.op("transpose", value, axes=order)
    # The axis as the width of one image, whose channels are all others: -3 joins two, -2 keeps the rest.
    lines = emit.op("expand_dims", last, axis=0)
    for _ in range(rank - 2):
        lines = emit.op("reshape", lines, newshape=(0, -3, -2))
    lines = lines if rank > 1 else emit.op("expand_dims", lines, axis=0)
    size, reach = op.size.value.data, _reach(emit.shape(value)[axis])
    before, after = min(before, reach), min(after, reach)
    window = {"pool_size": before + after + 1, "padding": (before, after), "count_include_pad": True}
    means = emit.reshape_like(emit.op("nn.avg_pool1d", lines, **window), last)
    if before + after + 1 < size:
        means = emit.op("multiply", means, (before + after + 1) / size)
    return emit.op("transpose", means, axes=[order.index(other) for other in range(rank)])


def _reach(extent: Dim) -> int:
    """How far the elements of an axis are from each other at most: a longer window sees no more of them."""
    return extent - 1 if isinstance(extent, int) else MAX_EXTENT
