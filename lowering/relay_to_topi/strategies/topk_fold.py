"""`relay.topk` of a few elements along an axis that is not the last: a fold, vectorised along the last axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import cast

from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.ordering import before
from xrelay.dialects.relay.ops.algorithm.sort import TopKOp
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.topi.build import Body, compute, variables
from xrelay.lowering.relay_to_topi.registry import implements

MAX_COUNT = 8
"""The greatest number of elements that a fold keeps: they and their indices fit in vector registers."""

LANES = 8
"""The least number of neighbouring rows."""


def _does_not_fold(op: Operation) -> str | None:
    """Returns why an op does not use a fold, or None if it does."""
    assert isinstance(op, TopKOp)
    shape = shape_of_type(op.data.type)
    axis = op.axis.value.data % len(shape)
    count = op.k.value.data
    if not 0 < count <= MAX_COUNT:
        return f"{count} elements are kept"
    neighbours = prod(extent if isinstance(extent, int) else LANES for extent in shape[axis + 1 :])
    return f"{neighbours} rows are adjacent in memory" if neighbours < LANES else None


@implements(TopKOp, "topk.fold", priority=11, condition=_does_not_fold)
def build_fold(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds a fold whose accumulators are the first elements so far and their indices, and stacks its results."""
    op, data = cast(TopKOp, build.op), build.operand(0)
    shape, element, count = build.shape(data), build.element(data), op.k.value.data
    axis = op.axis.value.data % len(shape)
    place = i32 if isinstance(shape[axis], int) else i64
    rows, types = variables("i", shape[:axis] + shape[axis + 1 :]), [*[element] * count, *[place] * count]
    insert = partial(_insert, data, axis, ascends=op.ascends)
    fold = compute("topk", rows, types, insert, reduce={"k": shape[axis]}, init=[0] * len(types))
    fields = build.insert(fold).results

    def stacked(label: str, fields: Sequence[SSAValue], element: Attribute) -> SSAValue:
        def choose(b: Body) -> SSAValue:
            at = [*b.spatial[:axis], *b.spatial[axis + 1 :]]
            return b.convert(b.choose(b.spatial[axis], [b.read(field, *at) for field in fields]), element)

        return build.compute(label, variables("i", build.extents(0)), element, choose)

    kept = {
        "values": lambda: stacked("values", fields[:count], element),
        "indices": lambda: stacked("places", fields[count:], build.result_types[-1].element_type),
    }
    what = op.ret_type.data
    return [kept[each]() for each in (kept if what == "both" else (what,))]


def _insert(data: SSAValue, axis: int, b: Body, *, ascends: bool) -> list[SSAValue]:
    """Inserts an element and its index before the kept elements that it precedes; the last of these is dropped.

    Kept elements are in order, so those that the element precedes are the last ones: each moves to the next place.
    Element `n` of the row also precedes the places from `n` on, which have no element yet.
    """
    (along,) = b.reduction
    kept = len(b.accumulators) // 2
    values, places = b.accumulators[:kept], b.accumulators[kept:]
    value, position = b.read(data, *b.spatial[:axis], along, *b.spatial[axis:]), b.index(along)
    moves: list[SSAValue] = []
    for place, other in enumerate(values):
        precedes = before(b, value, other) if ascends else before(b, other, value)
        is_free = b.compare(position, "le", b.constant(place, IndexType()))
        moves.append(b.logical_or(precedes, is_free))

    def inserted(new: SSAValue, olds: Sequence[SSAValue]) -> list[SSAValue]:
        arriving = [new, *(b.select(move, old, new) for move, old in zip(moves, olds[:-1], strict=False))]
        return [b.select(*each) for each in zip(moves, arriving, olds, strict=True)]

    return [*inserted(value, values), *inserted(b.number(along, places[0].type), places)]
