"""Padding and layouts."""

from __future__ import annotations

from typing import Final

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.tensor_shape import BatchFlattenOp
from xrelay.dialects.relay.ops.tensor_transform import LayoutTransformOp, PadOp
from xrelay.passes.gradient.rule_table import differentiates
from xrelay.passes.gradient.rules.moved_elements import repeated_padding

_FAR: Final = 2**31 - 1
"""An index beyond the end of any axis."""


@differentiates(BatchFlattenOp)
def batch_flatten(op: BatchFlattenOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient in the shape of the data."""
    return [emit.reshape_like(gradient, op.data)]


@differentiates(PadOp)
def pad(op: PadOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient of the data's elements, and the sum of the others for the pad value."""
    if op.pad_mode.data != "constant":
        return [repeated_padding(op, gradient, emit), None]
    rows = list(zip(op.pad_pairs, emit.shape(op.data), strict=True))
    begins = [before for (before, _), _ in rows]
    ends = [before + extent if isinstance(extent, int) else _FAR for (before, _), extent in rows]
    of_data = emit.op("strided_slice", gradient, begin=begins, end=ends)
    if emit.shape(of_data) != emit.shape(op.data):
        of_data = emit.op("slice_like", of_data, op.data)
    zeros = emit.zeros_like(op.data)
    widths = [width for pair in op.pad_pairs for width in pair]
    filled = emit.op("nn.pad", zeros, emit.scalar(1, op.data), pad_width=widths)
    rest = emit.op("where", emit.op("greater", filled, 0), gradient, emit.zeros_like(gradient))
    return [of_data, emit.op("sum", rest)]


@differentiates(LayoutTransformOp)
def layout_transform(op: LayoutTransformOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient in the source layout, without the padding of blocks."""
    source, target = op.src_layout.data, op.dst_layout.data
    back = emit.op("layout_transform", gradient, src_layout=target, dst_layout=source)
    return [back if emit.shape(back) == emit.shape(op.data) else emit.op("slice_like", back, op.data)]
