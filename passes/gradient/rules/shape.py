"""Operators that change the shape."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.dyn_shapes import CollapseSumToOp, DynBroadcastToOp, DynReshapeOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(DynReshapeOp)
def reshape_like(op: DynReshapeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient in the data's shape; None for the shape."""
    return [emit.reshape_like(gradient, op.data), None]


@differentiates(DynBroadcastToOp)
def broadcast_like(op: DynBroadcastToOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum over broadcast axes; None for the shape."""
    return [emit.sum_like(gradient, op.data), None]


@differentiates(CollapseSumToOp)
def collapse_sum(op: CollapseSumToOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient broadcast to all elements of a sum; None for the shape."""
    return [emit.broadcast_like(gradient, op.data), None]
