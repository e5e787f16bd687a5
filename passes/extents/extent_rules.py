"""Computes the extents of ops that depend on values of operands, for `relay-name-extents`.

An invalid shape (two -1, a 0 that copies no extent) becomes a negative extent, which `relay.extents` rejects. So does a
step of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType, f64, i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.algorithm.select import DynStridedSliceOp
from xrelay.dialects.relay.ops.algorithm.sort import DynTopKOp
from xrelay.dialects.relay.ops.dyn.pad import DynPadOp
from xrelay.dialects.relay.ops.dyn.shapes import CollapseSumToOp, DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.relay.ops.image.resize import DynResizeOp
from xrelay.dialects.relay.ops.sparse import DynSparseToDenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MaximumOp, MinimumOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import EqualOp, GreaterEqualOp, GreaterOp, LessOp
from xrelay.dialects.relay.ops.tensor.fill import ArangeOp
from xrelay.dialects.relay.ops.tensor.logic import LogicalAndOp, LogicalOrOp
from xrelay.dialects.relay.ops.tensor.reduce import ProdOp, SumOp
from xrelay.dialects.relay.ops.tensor.rounding import CeilOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.index_algebra.dims import MAX_EXTENT, Dim, Shape, is_nonnegative
from xrelay.passes.extents.shape_code import ShapeCode, known_numbers, length

IMPOSSIBLE = -2
"""An invalid extent. It is not -1, which is the code of an inferred extent."""


def _name_reshape(op: DynReshapeOp, code: ShapeCode) -> RelayOp:
    """Returns the reshape by extents: 0 is replaced by the data's extent and -1 by the inferred extent."""
    shape, sizes = shape_of(op.data.type), code.operand(1)
    copies, count = not op.allowzero.value.data, length(sizes)
    extents = code.join(code.shape(op.data), code.numbers([IMPOSSIBLE]))
    if copies:
        copied = code.take(extents, [min(at, len(shape)) for at in range(count)])
        sizes = code.where(code.call(EqualOp, sizes, 0), copied, sizes)
    rests = code.call(EqualOp, sizes, -1)
    extents_or_rest = code.where(rests, _inferred_extent(code, sizes, rests), sizes)
    known = code.join(code.operand(1), extents)
    indices = [
        _index_of_known_extent(at, element, shape, count if copies else None)
        for at, element in enumerate(code.elements(1, count))
    ]
    bound = code.bind_unknown(extents_or_rest, shape_of(op.result.type), known, indices)
    return code.with_sizes(bound, allowzero=True)


def _inferred_extent(code: ShapeCode, sizes: SSAValue, rests: SSAValue) -> SSAValue:
    """Emits the inferred extent: the quotient of the numbers of elements of the data and of the other extents."""
    known = code.call(ProdOp, code.where(rests, 1, sizes), axis=[0])
    many = code.call(GreaterOp, code.call(SumOp, code.cast(rests), axis=[0]), 1)
    bad = code.call(LogicalOrOp, code.call(EqualOp, known, 0), many)
    quotient = code.call(DivideOp, code.size(code.op.operands[0]), code.call(MaximumOp, known, 1))
    return code.where(bad, IMPOSSIBLE, quotient)


def _index_of_known_extent(at: int, element: Dim | None, shape: Shape, extents: int | None) -> int | None:
    """Returns the index of an element's extent among the known extents, or None if it must be checked or computed.

    The data's extents start at index `extents` if 0 copies them.
    """
    if isinstance(element, int):
        return None if element < 0 else at if element or extents is None else extents + at
    # An element that may be 0 is checked.
    return at if element is not None and element in shape[at : at + 1] else None


def _name_broadcast(op: DynBroadcastToOp, code: ShapeCode) -> RelayOp:
    """Returns the broadcast by extents: an element of 1 is replaced by the data's extent."""
    sizes = code.operand(1)
    count = length(sizes)
    extents = code.where(code.call(EqualOp, sizes, 1), _last_extents(code, count), sizes)
    return code.with_sizes(code.bind_sizes(sizes, shape_of(op.result.type)[-count:], extents))


def _name_shape(op: CollapseSumToOp | DynFullOp | DynSparseToDenseOp, code: ShapeCode) -> RelayOp:
    """Returns the op with the elements of the shape as extents; `collapse_sum_to` compares them with the data's."""
    return code.with_sizes(code.bind_sizes(code.operand(1), shape_of(op.result.type)))


def _name_resize(op: DynResizeOp, code: ShapeCode) -> RelayOp:
    """Returns the op with the sizes as extents of the resized axes."""
    axes, shape = ints(op.axes), shape_of(op.result.type)
    return code.with_sizes(code.bind_sizes(code.operand(1), [shape[axis] for axis in axes]), axes=axes)


def _name_tile(op: DynTileOp, code: ShapeCode) -> RelayOp:
    """Returns the op with checked numbers of repetitions. They are bound together with the resulting extents."""
    sizes = code.operand(1)
    count = length(sizes)
    dims = shape_of(op.result.type)[-count:]
    made = [at for at, dim in enumerate(dims) if code.name_of(dim) is not None]
    extents = code.take(code.call(MultiplyOp, sizes, _last_extents(code, count)), made)
    known = [*known_numbers(code.elements(1, count)), *([None] * len(made))]
    bound = code.bind_unknown(code.join(sizes, extents), [*([None] * count), *(dims[at] for at in made)], sizes, known)
    return code.with_sizes(code.take(bound, range(count)))


def _last_extents(code: ShapeCode, count: int) -> SSAValue:
    """Emits the data's last `count` extents, preceded by ones if it has fewer."""
    data = code.op.operands[0]
    rank = len(shape_of(data.type))
    extents = code.join(code.numbers([1] * max(count - rank, 0)), code.shape(data))
    return code.take(extents, range(max(rank - count, 0), max(rank, count)))


MAX_STEP = 1 << 62
"""A step of this size leaves every tensor."""


def _name_strided_slice(op: DynStridedSliceOp, code: ShapeCode) -> RelayOp | None:
    """Returns the slice by first index, number of elements and step, computed by numpy's rule for bounds.

    A step of 0 results in a negative number, which `relay.extents` rejects.
    """
    if op.slice_mode.data != "end":
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
    size = _number_of_steps(code, span, step, is_back)
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


def _number_of_steps(code: ShapeCode, span: SSAValue, step: SSAValue, is_back: SSAValue) -> SSAValue:
    """Emits the number of steps that cover `span` indices; 0 for a negative span, arbitrary for a step of 0."""
    size = code.call(MaximumOp, code.where(is_back, code.call(SubtractOp, 0, step), step), 1)
    steps = code.call(AddOp, code.call(DivideOp, code.call(SubtractOp, span, 1), size), 1)
    return code.where(code.call(GreaterOp, span, 0), steps, 0)


def _name_topk(op: DynTopKOp, code: ShapeCode) -> RelayOp:
    """Returns the op with the number of elements as an extent."""
    return code.with_sizes(code.bind(code.operand(1), code.made))


def _name_pad(op: DynPadOp, code: ShapeCode) -> RelayOp:
    """Returns the op with checked widths. They are bound together with the resulting extents."""
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
    return code.with_sizes(named)


LEAST_DOUBLE = -1.7976931348623157e308


def _name_arange(op: ArangeOp, code: ShapeCode) -> SSAValue | None:
    """Returns `start + i * step` for the indices i, or None for an unsupported op or element type.

    If the number of elements is undefined (a step of 0, an infinite bound), it is negative, which `relay.extents`
    rejects.
    """
    element = element_type_of(op.result.type)
    if isinstance(element, AnyFloat):
        count = _count_of_floats(op, code)
    elif isinstance(element, IntegerType) and (element.width.data < 64 or element == i64):
        count = _count_of_integers(code)
    else:
        return None
    number = code.bind(count, code.made)
    indices = code.call(ArangeOp, 0, number, 1)
    if element != i64:
        indices = code.call(CastOp, indices, dtype=element)
    return code.call(AddOp, op.start, code.call(MultiplyOp, indices, op.step))


def _count_of_integers(code: ShapeCode) -> SSAValue:
    """Emits the number of elements from the distance of the bounds; negative if the distance overflows 64 bits."""
    start, stop, raw_step = (code.operand(index) for index in range(3))
    step = code.call(MinimumOp, code.call(MaximumOp, raw_step, -MAX_STEP), MAX_STEP)
    is_back = code.call(LessOp, step, 0)
    span = code.where(is_back, code.call(SubtractOp, start, stop), code.call(SubtractOp, stop, start))
    is_nonempty = code.where(is_back, code.call(LessOp, stop, start), code.call(LessOp, start, stop))
    fits = code.call(LogicalAndOp, code.call(GreaterOp, span, 0), code.call(LessOp, span, MAX_STEP))
    steps = code.where(fits, _number_of_steps(code, span, step, is_back), -1)
    return code.where(code.call(EqualOp, step, 0), -1, code.where(is_nonempty, steps, 0))


def _count_of_floats(op: ArangeOp, code: ShapeCode) -> SSAValue:
    """Emits the number of elements, computed in double precision; negative if it is not a valid extent."""
    start, stop, step = (code.call(CastOp, bound, dtype=f64) for bound in op.operands)
    steps = code.call(CeilOp, code.call(DivideOp, code.call(SubtractOp, stop, start), step))
    least, most, none, bad = (code.real(number) for number in (LEAST_DOUBLE, float(MAX_EXTENT), 0.0, -1.0))
    fits = code.call(LogicalAndOp, code.call(GreaterEqualOp, steps, least), code.call(LessOp, steps, most))
    return code.call(CastOp, code.where(fits, code.call(MaximumOp, steps, none), bad), dtype=i64)


ExtentRule: TypeAlias = Callable[[Any, ShapeCode], RelayOp | SSAValue | None]
"""Emits the extents of an op of one class and returns its replacement; None if there is no way to compute them."""

EXTENT_RULES: Mapping[type[RelayOp], tuple[ExtentRule, str]] = {
    DynReshapeOp: (_name_reshape, "element {at} of the shape is an extent of {value}"),
    DynBroadcastToOp: (_name_broadcast, "element {at} of the shape is {value}"),
    CollapseSumToOp: (_name_shape, "element {at} of the shape is {value}"),
    DynFullOp: (_name_shape, "element {at} of the shape is {value}"),
    DynSparseToDenseOp: (_name_shape, "element {at} of the shape is {value}"),
    DynTileOp: (_name_tile, "number {at} of repetitions is {value}"),
    DynStridedSliceOp: (_name_strided_slice, "the step along axis {at} is 0"),
    DynTopKOp: (_name_topk, "k is {value}"),
    DynPadOp: (_name_pad, "width {at} is {value}"),
    DynResizeOp: (_name_resize, "size {at} is {value}"),
    ArangeOp: (_name_arange, "the step is 0, or start and stop are too far apart"),
}
"""Class of ops → the function that emits the extents, and the message for a negative computed number."""
