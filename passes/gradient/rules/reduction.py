"""Reductions: the gradient of the result is broadcast along the reduced axes."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.tensor_reduce import MaxOp, MeanOp, MinOp, ProdOp, ReduceOp, SumOp
from xrelay.dialects.relay.ops.tensor_variance import VarianceOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(SumOp)
def sum(op: SumOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 for each element."""
    return [emit.broadcast_like(kept(op, gradient, emit), op.data)]


@differentiates(MeanOp)
def mean(op: MeanOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 / n for each of n elements."""
    share = emit.divided_by_count(kept(op, gradient, emit), op.data, _axes(op, emit))
    return [emit.broadcast_like(share, op.data)]


@differentiates(VarianceOp)
def variance(op: VarianceOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 2 · (x - m) / n for an element x, its negated sum for the mean m; n - 1 for n if unbiased."""
    doubled, less = emit.op("multiply", kept(op, gradient, emit), 2), int(bool(op.unbiased.value.data))
    share = emit.divided_by_count(doubled, op.data, _axes(op, emit), less=less)
    data = emit.op("multiply", emit.op("subtract", op.data, op.mean), share)
    return [data, emit.op("negative", emit.sum_like(data, op.mean))]


@differentiates(MaxOp, MinOp)
def extremum(op: MaxOp | MinOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Distributes the gradient equally among the elements that are equal to the result."""
    is_chosen = emit.op("equal", op.data, kept(op, op.result, emit))
    chosen = emit.cast_like(is_chosen, gradient)
    wide = emit.wide_enough(kept(op, gradient, emit), emit.count(op.data, _axes(op, emit)))
    number = _reduced("sum", op, emit.cast_like(chosen, wide), emit)
    return [emit.op("multiply", chosen, emit.cast_like(emit.divided(wide, number), gradient))]


@differentiates(ProdOp)
def product(op: ProdOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is the product of the other elements, which is exact if elements are 0."""
    is_zero = emit.op("equal", op.data, 0)
    zeros = emit.cast_like(is_zero, gradient)
    rest = emit.op("where", is_zero, emit.ones_like(op.data), op.data)
    without = emit.op("divide", _reduced("prod", op, rest, emit), rest)
    other_zeros = emit.op("subtract", _reduced("sum", op, zeros, emit), zeros)
    factor = emit.op("where", emit.op("greater", other_zeros, 0), emit.zeros_like(without), without)
    return [emit.op("multiply", factor, kept(op, gradient, emit))]


def kept(op: ReduceOp, value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Reshapes `value` from the shape of the result to extent 1 along the reduced axes."""
    if op.keepdims.value.data:
        return value
    for axis in _axes(op, emit):
        value = emit.op("expand_dims", value, axis=axis)
    return value


def _axes(op: ReduceOp, emit: GradientBuilder) -> tuple[int, ...]:
    """Returns the reduced axes."""
    return tuple(op.reduced_axes(len(emit.shape(op.data))))


def _reduced(name: str, op: ReduceOp, value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Reduces `value` by the op called `name` along the axes of `op`, which keep extent 1."""
    axes = op.reduced_axes(len(emit.shape(op.data)))
    return emit.op(name, value, axis=axes, keepdims=True) if axes else value
