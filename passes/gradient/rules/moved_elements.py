"""Operators that only move elements: the gradient of an element is the sum over its copies."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.gradients.numbered_elements import collected, gradient_by_numbers, numbered
from xrelay.dialects.relay.ops.algorithm.select import DynStridedSliceOp
from xrelay.dialects.relay.ops.algorithm.slices import CompressOp
from xrelay.dialects.relay.ops.dyn_pad import DynPadOp
from xrelay.dialects.relay.ops.dyn_shapes import DynTileOp
from xrelay.dialects.relay.ops.nn.borders import MirrorPadOp
from xrelay.dialects.relay.ops.nn.space import DepthToSpaceOp, SpaceToDepthOp
from xrelay.dialects.relay.ops.vision.reorg import YoloReorgOp
from xrelay.passes.gradient.rule_table import differentiates

differentiates(MirrorPadOp, DepthToSpaceOp, SpaceToDepthOp, DynTileOp)(gradient_by_numbers)


differentiates(YoloReorgOp, CompressOp, DynStridedSliceOp, DynTileOp)(gradient_by_numbers)


@differentiates(DynPadOp)
def dyn_pad(op: DynPadOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sums for the elements of the data and for the pad value; None for the widths."""
    nothing = emit.scalar(0, numbered(op.data, emit))
    numbers = emit.op("dyn.nn.pad", numbered(op.data, emit), op.pad_width, nothing, **op.properties)
    fills = emit.op("where", emit.op("equal", numbers, 0), gradient, emit.zeros_like(gradient))
    return [collected(numbers, gradient, op.data, emit), None, emit.op("sum", fills)]
