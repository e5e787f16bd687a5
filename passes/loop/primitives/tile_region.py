"""The part of a buffer that is read while the loops inside a given loop run."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, SchedulePrimitive, ValueMap
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.loop.ranges import exact_interval_of, in_loop_indices, interval_of, loop_of_index
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.index_algebra.affine_bounds import Interval, Span, join, span
from xrelay.index_algebra.value_map import Space
from xrelay.passes.loop.nest_queries import is_made_outside
from xrelay.passes.loop.primitives.legality import refusal


@dataclass(frozen=True)
class TileRegion:
    """A box in a buffer: in dimension `d` the elements `bases[d]` to `bases[d] + extents[d] - 1`."""

    bases: tuple[ValueMap, ...]
    """One expression each, over indices of loops outside the tile."""

    extents: tuple[Extent, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """The dimensions of a buffer for the box: those with more than one element."""
        return tuple(d for d, extent in enumerate(self.extents) if extent != 1)


def tile_region(loop: ForOp, producer: BlockOp, buffer: SSAValue, step: SchedulePrimitive) -> TileRegion:
    """The smallest box that contains every element of `buffer` read in one iteration of `loop`.

    A dimension is taken whole if its accesses are not affine or start at bases that differ by more than a constant;
    refuses this for a dimension of unknown size.
    """
    shape = SSAValue.get(buffer, type=MemRefType).type.get_shape()
    space = Space()
    spans: list[list[Span | None]] = [[] for _ in shape]
    for op in ops_of(loop.body, LoadOp):
        if op.memref is buffer and not producer.is_ancestor(op):
            for dimension, found in enumerate(_spans(op, loop, space)):
                spans[dimension].append(found)
    boxes = [_joined(found, shape[d]) for d, found in enumerate(spans)]
    extents = [whole if box.extent < 0 else box.extent for box, whole in zip(boxes, extents_of(buffer), strict=True)]
    known = tuple(extent for extent in extents if extent is not None)
    if len(known) < len(extents):
        dimension = extents.index(None)
        reason = f"what is read of dimension {dimension} cannot be bounded, and no value says its size"
        raise refusal(step, f"block {producer.block_name!r}", reason, "split its readers, or leave it where it is")
    return TileRegion(tuple(ValueMap.make([box.base], space.values) for box in boxes), known)


def _spans(op: LoadOp, loop: ForOp, space: Space) -> list[Span | None]:
    """Returns the span that the load reads in each dimension; `None` if unknown."""
    index = in_loop_indices(op.index)
    exprs = space.lift(index)
    inner: dict[int, Interval] = {}
    unknown: set[int] = set()
    for value in index.operands:
        position = space.position(value)
        owner = loop_of_index(value)
        interval = exact_interval_of(value)
        if is_made_outside(value) or (owner is not None and (owner is loop or owner.is_ancestor(loop))):
            continue
        if interval is None:
            unknown.add(position)
        else:
            inner[position] = interval
    box = [interval_of(value) for value in space.values]
    return [None if unknown & expr.used_dims() else span(expr, inner, box) for expr in exprs]


def _joined(found: list[Span | None], size: int) -> Span:
    """Returns one span for all, or the whole dimension if they cannot be joined or cover it."""
    whole = Span(AffineConstantExpr(0), size)
    result: Span | None = None
    for position, part in enumerate(found):
        result = part if position == 0 else None if result is None or part is None else join(result, part)
        if result is None:
            return whole
    return whole if result is None or 0 <= size <= result.extent else result
