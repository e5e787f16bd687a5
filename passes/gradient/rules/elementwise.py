"""Functions of one element x: the gradient times the derivative, in terms of the result r if that is cheaper."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.annotation import CheckpointOp, StopFusionOp
from xrelay.dialects.relay.ops.require import RequireOp
from xrelay.dialects.relay.ops.tensor.elementwise import UnaryElementwiseOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(RequireOp, StopFusionOp, CheckpointOp)
def copy(op: UnaryElementwiseOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1."""
    return [gradient]
