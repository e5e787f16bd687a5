"""Operators that fill a tensor from scalars: the gradient of a scalar is the sum over its uses."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.dyn_shapes import DynFullOp
from xrelay.dialects.relay.ops.tensor_fill import FullLikeOp, FullOp
from xrelay.dialects.relay.ops.tensor_range import ArangeOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(FullOp)
def full(op: FullOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum of the gradient."""
    return [emit.cast_like(emit.op("sum", gradient), op.fill_value)]


@differentiates(FullLikeOp)
def full_like(op: FullLikeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum of the gradient for the scalar, None for the data."""
    return [None, emit.cast_like(emit.op("sum", gradient), op.fill_value)]


@differentiates(DynFullOp)
def dyn_full(op: DynFullOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum of the gradient for the scalar, None for the shape."""
    return [emit.cast_like(emit.op("sum", gradient), op.fill_value), None]


@differentiates(ArangeOp)
def arange(op: ArangeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum of the gradient for the start, the sum weighted by index for the step, and None for the end."""
    places = emit.op("cumsum", emit.ones_like(gradient), axis=0, exclusive=True)
    start, step = emit.op("sum", gradient), emit.op("sum", emit.op("multiply", gradient, places))
    return [emit.cast_like(start, op.start), None, emit.cast_like(step, op.step)]
