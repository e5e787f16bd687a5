"""Operators whose derivative is 0 almost everywhere."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.nn.pool_indices import MaxPool1DIndicesOp, MaxPool2DIndicesOp, MaxPool3DIndicesOp
from xrelay.dialects.relay.ops.shape_values import NdarraySizeOp, ShapeOfOp
from xrelay.passes.gradient.rule_table import differentiates

PLACES = (MaxPool1DIndicesOp, MaxPool2DIndicesOp, MaxPool3DIndicesOp)


SHAPES = (ShapeOfOp, NdarraySizeOp)


@differentiates(*PLACES, *SHAPES)
def constant(op: RelayOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns None for all operands."""
    return [None] * len(op.operands)
