"""Random numbers: gradients of the parameters of distributions. Keys have no gradient."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.random import MultinomialOp, NormalOp, ThreefryGenerateOp, ThreefrySplitOp, UniformOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(ThreefryGenerateOp, ThreefrySplitOp, MultinomialOp)
def bits(op: RelayOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns None for all operands, because the results are integers."""
    return [None] * len(op.operands)


@differentiates(UniformOp)
def uniform(op: UniformOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sums of the gradient for both bounds, weighted by the position of the numbers between them."""
    values, given = emit.item(op.result, 1), emit.item(gradient, 1)
    low, high = (emit.cast_like(end, values) for end in (op.low, op.high))
    part = emit.op("divide", emit.op("subtract", values, low), emit.op("subtract", high, low))
    of_high = emit.op("multiply", given, part)
    of_low = emit.op("subtract", given, of_high)
    return [None, _total(of_low, op.low, emit), _total(of_high, op.high, emit)]


@differentiates(NormalOp)
def normal(op: NormalOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum of the gradient for the mean, and of its products with the normalised numbers for the scale."""
    values, given = emit.item(op.result, 1), emit.item(gradient, 1)
    mean, scale = (emit.cast_like(each, values) for each in (op.mean, op.scale))
    standard = emit.op("divide", emit.op("subtract", values, mean), scale)
    return [None, _total(given, op.mean, emit), _total(emit.op("multiply", given, standard), op.scale, emit)]


def _total(value: SSAValue, like: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the sum of all elements with the element type of `like`."""
    return emit.cast_like(emit.op("sum", value), like)
