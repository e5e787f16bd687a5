"""Operators that repeat, mask and slice elements."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.ops.tensor_movement import RepeatOp, ReverseSequenceOp, StridedSliceOp, TileOp, TriluOp
from xrelay.dialects.relay.ops.tensor_places import SequenceMaskOp
from xrelay.index_algebra.dims import Dim
from xrelay.passes.gradient.rule_table import differentiates

KEEP, SPLIT, REST = 0, -4, -1
"""Codes of `reshape`: a kept extent, an extent split into the two after the code, and an inferred extent."""


@differentiates(TileOp)
def tile(op: TileOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum over the copies."""
    reps, rank = ints(op.reps), len(emit.shape(op.data))
    reps = (1,) * (rank - len(reps)) + reps
    codes = [code for number in reps for code in (SPLIT, number, REST)]
    copies = tuple(range(0, 2 * len(reps), 2))
    total = emit.op("sum", emit.op("reshape", gradient, newshape=codes), axis=copies)
    return [emit.reshape_like(total, op.data)]


@differentiates(RepeatOp)
def repeat(op: RepeatOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum over the copies, which are consecutive."""
    rank = len(emit.shape(op.data))
    axis = axis_index(op.axis.value.data, rank)
    codes = [*[KEEP] * axis, SPLIT, REST, op.repeats.value.data, *[KEEP] * (rank - axis - 1)]
    return [emit.op("sum", emit.op("reshape", gradient, newshape=codes), axis=axis + 1)]


@differentiates(ReverseSequenceOp)
def reverse_sequence(op: ReverseSequenceOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient reversed in the same way; None for the lengths."""
    axes = {"seq_axis": op.seq_axis.value.data, "batch_axis": op.batch_axis.value.data}
    return [emit.op("reverse_sequence", gradient, op.seq_lengths, **axes), None]


@differentiates(SequenceMaskOp)
def sequence_mask(op: SequenceMaskOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient of the elements that are not masked; None for the lengths."""
    return [emit.op("sequence_mask", gradient, op.valid_length, mask_value=0.0, axis=op.axis.value.data), None]


@differentiates(TriluOp)
def trilu(op: TriluOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient of the triangle; None for the number of the diagonal."""
    return [emit.op("trilu", gradient, op.k, upper=op.upper.value.data), None]


@differentiates(StridedSliceOp)
def strided_slice(op: StridedSliceOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient at the indices of the elements, with zeros elsewhere."""
    shape = emit.shape(op.data)
    steps = op.steps(Facts(op.name, op.operand_types), shape)
    dilation, widths = [1] * len(shape), [0] * (2 * len(shape))
    for axis, (first, number, step) in steps.items():
        if step < 0:
            gradient = emit.op("reverse", gradient, axis=axis)
            first = first + (number - 1) * step
        dilation[axis] = abs(step)
        covered: Dim = (number - 1) * abs(step) + 1 if abs(step) > 1 else number
        before, behind = first, shape[axis] - first - covered
        if number == 0:
            return [None]
        if not isinstance(before, int) or not isinstance(behind, int):
            raise not_differentiable(op, f"how much of axis {axis} it leaves out is known when it runs only")
        widths[2 * axis : 2 * axis + 2] = before, behind
    if any(each > 1 for each in dilation):
        gradient = emit.op("nn.dilate", gradient, strides=dilation)
    return [emit.op("nn.pad", gradient, 0, pad_width=widths)]
