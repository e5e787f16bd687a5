"""Computes the extents of slices and paddings of the data, for `relay-name-extents`.

The ops are `dyn.strided_slice`, `dyn.topk` and `dyn.nn.pad`. Each function `name_*` returns None for other ops.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.algorithm.select import DynStridedSliceOp
from xrelay.dialects.relay.ops.algorithm.sort import DynTopKOp
from xrelay.dialects.relay.ops.dyn.pad import DynPadOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MaximumOp, MinimumOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.compare import EqualOp, GreaterOp, LessOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import is_nonnegative
from xrelay.passes.extents.shape_code import ShapeCode, known_numbers, length

MAX_STEP = 1 << 62
"""A step of this size leaves every tensor."""


def name_strided_slice(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the slice by first index, number of elements and step, computed by numpy's rule for bounds.

    A step of 0 results in a negative number, which `relay.extents` rejects.
    """
    if not isinstance(op, DynStridedSliceOp) or op.slice_mode.data != "end":
        return None
    count = length(op.begin)
    extents = code.take(code.shape(op.data), range(count))
    names = [code.name_of(dim) for dim in shape_of(op.result.type)[:count]]
    steps = [element for element in code.elements(3, count) if isinstance(element, int) and 0 < element <= MAX_STEP]
    if None not in known_numbers(code.elements(1, count)) and len(steps) == count:
        return _slice_known_steps(op, code, extents, names, steps)
    return _slice_unknown_steps(op, code, extents, names)


def _slice_known_steps(
    op: DynStridedSliceOp, code: ShapeCode, extents: SSAValue, names: Sequence[str | None], steps: Sequence[int]
) -> RelayOp:
    """Returns the slice for known positive steps and known begins that are not negative."""
    first, end, step = (code.operand(index) for index in (1, 2, 3))
    ends = code.elements(2, len(steps))
    from_front = all(element is not None and is_nonnegative(element) for element in ends)
    stop = code.call(MinimumOp, end if from_front else _counted_from_front(code, end, extents), extents)
    span = code.call(MaximumOp, code.call(SubtractOp, stop, first), 0)
    rest = code.call(SubtractOp, step, 1)
    sizes = span if set(steps) == {1} else code.call(DivideOp, code.call(AddOp, span, rest), step)
    # If the op introduces no extents, its rule knows all of these numbers.
    return code.rebuild(op.data, first, code.bind(sizes, names) if any(names) else sizes, step, slice_mode="size")


def _slice_unknown_steps(
    op: DynStridedSliceOp, code: ShapeCode, extents: SSAValue, names: Sequence[str | None]
) -> RelayOp:
    """Returns the slice for unknown begins and steps."""
    begin, end, steps = (code.operand(index) for index in (1, 2, 3))
    step = code.call(MinimumOp, code.call(MaximumOp, steps, -MAX_STEP), MAX_STEP)
    is_back = code.call(LessOp, step, 0)
    first, stop = (_clip_bounds(code, bound, extents, is_back) for bound in (begin, end))
    span = code.where(is_back, code.call(SubtractOp, first, stop), code.call(SubtractOp, stop, first))
    size = number_of_steps(code, span, step, is_back)
    sizes = code.bind(code.where(code.call(EqualOp, step, 0), -1, size), names)
    # The first index of an empty slice may be out of range.
    start = code.where(code.call(GreaterOp, size, 0), first, 0)
    return code.rebuild(op.data, start, sizes, step, slice_mode="size")


def _counted_from_front(code: ShapeCode, bound: SSAValue, extents: SSAValue) -> SSAValue:
    """Emits bounds in which negative bounds, which count from the end, are replaced."""
    return code.where(code.call(LessOp, bound, 0), code.call(AddOp, bound, extents), bound)


def _clip_bounds(code: ShapeCode, bound: SSAValue, extents: SSAValue, is_back: SSAValue) -> SSAValue:
    """Emits bounds clipped to [0, extent] for positive steps, and to [-1, extent - 1] for negative steps."""
    counted = _counted_from_front(code, bound, extents)
    lowest = code.where(is_back, -1, 0)
    inside = code.call(MaximumOp, counted, lowest)
    return code.call(MinimumOp, inside, code.call(AddOp, extents, lowest))


def number_of_steps(code: ShapeCode, span: SSAValue, step: SSAValue, is_back: SSAValue) -> SSAValue:
    """Emits the number of steps that cover `span` indices; 0 for a negative span, arbitrary for a step of 0."""
    size = code.call(MaximumOp, code.where(is_back, code.call(SubtractOp, 0, step), step), 1)
    steps = code.call(AddOp, code.call(DivideOp, code.call(SubtractOp, span, 1), size), 1)
    return code.where(code.call(GreaterOp, span, 0), steps, 0)


def name_topk(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the op with the number of elements as an extent."""
    if not isinstance(op, DynTopKOp):
        return None
    return code.rebuild(op.operands[0], code.bind(code.operand(1), code.made))


def name_pad(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the op with checked widths. They are bound together with the resulting extents."""
    if not isinstance(op, DynPadOp):
        return None
    dims = shape_of(op.result.type)
    made = [axis for axis, dim in enumerate(dims) if code.name_of(dim) is not None]
    count = 2 * len(dims)
    widths = code.call(ReshapeOp, code.operand(1), newshape=[count])
    around = code.call(AddOp, code.take(widths, range(0, count, 2)), code.take(widths, range(1, count, 2)))
    extents = code.take(code.call(AddOp, around, code.shape(op.data)), made)
    indices = [*known_numbers(code.elements(1, count)), *([None] * len(made))]
    wanted = [*([None] * count), *(dims[axis] for axis in made)]
    bound = code.bind_unknown(code.join(widths, extents), wanted, widths, indices)
    named = code.call(ReshapeOp, code.take(bound, range(count)), newshape=[len(dims), 2])
    return code.rebuild(op.data, named, op.pad_value)
