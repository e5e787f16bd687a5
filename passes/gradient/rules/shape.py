"""Operators that change the shape, the order of axes, or the element type."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.dyn_shapes import CollapseSumToOp, DynBroadcastToOp, DynReshapeOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor_movement import BroadcastToOp
from xrelay.dialects.relay.ops.tensor_shape import ExpandDimsOp, ReshapeOp, ReverseReshapeOp, SqueezeOp
from xrelay.dialects.relay.ops.tensor_transform import TransposeOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(ReshapeOp, ReverseReshapeOp, SqueezeOp, ExpandDimsOp)
def reshape(
    op: ReshapeOp | ReverseReshapeOp | SqueezeOp | ExpandDimsOp, gradient: SSAValue, emit: GradientBuilder
) -> Gradients:
    """Returns the gradient in the data's shape."""
    return [emit.reshape_like(gradient, op.data)]


@differentiates(DynReshapeOp)
def reshape_like(op: DynReshapeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient in the data's shape; None for the shape."""
    return [emit.reshape_like(gradient, op.data), None]


@differentiates(TransposeOp)
def transpose(op: TransposeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient with the inverse permutation of axes."""
    if op.axes is None:
        return [emit.op("transpose", gradient)]
    axes = [axis_index(axis, len(emit.shape(gradient))) for axis in ints(op.axes)]
    back = sorted(range(len(axes)), key=axes.__getitem__)
    return [emit.op("transpose", gradient, axes=back)]


@differentiates(BroadcastToOp)
def broadcast_to(op: BroadcastToOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum over broadcast axes."""
    return [emit.sum_like(gradient, op.data)]


@differentiates(DynBroadcastToOp)
def broadcast_like(op: DynBroadcastToOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum over broadcast axes; None for the shape."""
    return [emit.sum_like(gradient, op.data), None]


@differentiates(CollapseSumToOp)
def collapse_sum(op: CollapseSumToOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient broadcast to all elements of a sum; None for the shape."""
    return [emit.broadcast_like(gradient, op.data), None]


@differentiates(CastOp)
def cast(op: CastOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient in the data's element type; rounding is ignored."""
    return [emit.cast_like(gradient, op.data)]
