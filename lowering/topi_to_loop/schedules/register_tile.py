"""Sums of products in a register tile, for convolutions and matrix products.

A *consumer* stores the results, after the epilogue. Its loops are split into tiles. The sums are computed at the
innermost loop around a tile, in a local buffer that becomes registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xrelay.dialects.loop.schedule import (
    CacheWrite,
    ComputeAt,
    Contract,
    DisableUnroll,
    Prefetch,
    Reorder,
    Tensorize,
    Unroll,
    Vectorize,
)
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    computes_long_function,
    loop_of_variable,
    points,
    reduction_loops,
)
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.shared_axis import SharedAxis, move_out
from xrelay.target.instructions import TileProduct


class TiledAxis(NamedTuple):
    """One loop of the consumer, and the number of its iterations in a tile."""

    position: int
    """The position of the variable, which is the same in the consumer and the sum."""
    tile: int


def _split_consumer(
    draft: ScheduleDraft, consumer: str, axes: Sequence[TiledAxis], shared: SharedAxis | None
) -> tuple[list[str], list[str]]:
    """Splits the consumer's loops and moves the tile inside; returns the loops outside and inside the tile.

    The order of `axes` is that of the loops inside the tile, lanes last. Other loops stay outside.
    """
    names = _loops(draft, consumer)
    inner: list[str] = []
    for axis in axes:
        loop = names[axis.position]
        if loop is None:
            continue
        if draft.is_longer(loop, axis.tile):
            if axis.tile > 1:
                names[axis.position], tile = draft.split(loop, axis.tile)
                inner.append(tile)
        else:
            names[axis.position] = None
            inner.append(loop)
    outside = [loop for loop in names if loop is not None]
    if shared is not None:
        outside = move_out(draft, outside, (names[shared.position], names[shared.before]), shared.pieces)
    if not outside:
        outside, inner = around_tile(draft, inner)
    if len(outside) + len(inner) > 1:
        draft.do(Reorder((*outside, *inner)))
    return outside, inner


def _loops(draft: ScheduleDraft, name: str) -> list[str | None]:
    """Returns the loop of each variable of a block."""
    block = draft.block(name)
    return [loop_of_variable(block, position) for position in range(len(block.kinds))]


def around_tile(draft: ScheduleDraft, inner: Sequence[str]) -> tuple[list[str], list[str]]:
    """Adds a loop of one iteration around a tile that covers all loops; returns the loops outside and inside."""
    if not inner:
        return [], []
    first, *others = inner
    around, tile = draft.split(first, draft.extent(first), outer="all", inner="tile")
    return [around], [tile, *others]


class SumsInMemory(NamedTuple):
    """The block that copies the sums of a tile from registers to memory.

    The code of a consumer that reads registers is repeated for each vector of the tile. If it computes a function of
    many steps, such as `erf` with its polynomials, LLVM computes these steps for all vectors side by side and stores
    hundreds of intermediate vectors. A loop over the rows of a tile in memory has the code once.
    """

    block: str
    loops: tuple[str | None, ...]
    """The loop of each variable of the sums; None if it has one iteration."""

    @classmethod
    def of_long_function(cls, draft: ScheduleDraft, name: str, consumer: str) -> SumsInMemory | None:
        """Adds the copy of the sums of block `name` if their consumer computes a long function."""
        if not computes_long_function(draft.block(consumer)):
            return None
        copy, *_ = draft.do(CacheWrite(name))
        draft.record_reason(f"the sums are stored, because {consumer} computes a function of many steps")
        return cls(copy, tuple(_loops(draft, copy)))

    def compute_at(self, draft: ScheduleDraft, loop: str, positions: Sequence[int], lanes: int | None) -> None:
        """Copies a tile in the loop around it. `positions` are those of the axes of a tile, lanes last."""
        draft.do(ComputeAt(self.block, loop))
        tile = [own for position in positions if (own := self.loops[position]) is not None and draft.extent(own) > 1]
        if lanes is not None:
            tile = in_vectors(draft, tile, lanes)
        unroll_tile(draft, self.block, tile, tile[-1] if tile else None)
        draft.mark_done(self.block)


def tile_products(
    draft: ScheduleDraft,
    name: str,
    consumer: str,
    axes: Sequence[TiledAxis],
    *,
    terms: str | None = None,
    lanes: int | None = None,
    shared: SharedAxis | None = None,
    instruction: TileProduct | None = None,
    steps: str | None = None,
    unrolled: str | None = None,
    staged: str | None = None,
    prefetches: bool = False,
) -> None:
    """Computes the sums of block `name` in a register tile at `consumer`; raises `ScheduleError` if that is not legal.

    `axes` and `shared` are as in `_split_consumer`. `terms` is the loop over contiguous products; it goes inside the
    lanes. With `lanes`, the last axis of a tile may have several vectors of this length. With an `instruction` on
    tiles, the loop `steps` of the reduction becomes tensorized. The sums are then in memory, so the rows of the
    consumer need no copies of the code; so are the sums of a consumer that computes a long function. The loop
    `unrolled` of the reduction goes around the rows and vectors of a tile: its iterations share loads, as pairs of
    parts and taps below each other do. The block `staged` is computed in the loop over the pieces of `shared`. If it
    `prefetches`, the product loads the next weights in advance.
    """
    block, own = draft.block(name), _loops(draft, name)
    reduction, work = sorted(reduction_loops(block), key=lambda loop: loop == steps), points(block)
    around = 0 if shared is None else 1 + sum(loop is not None for loop in _loops(draft, consumer)[: shared.before])
    stored = None if instruction is not None else SumsInMemory.of_long_function(draft, name, consumer)
    outside, inner = _split_consumer(draft, consumer, axes, shared)
    if not outside:
        raise ScheduleError(f"{consumer} is a single element")
    if stored is not None:
        stored.compute_at(draft, outside[-1], [axis.position for axis in axes], lanes)
    draft.do(ComputeAt(name, outside[-1]))
    if staged is not None:
        outside = outside[:around]
        draft.do(ComputeAt(staged, outside[-1]))
    tile = [loop for axis in axes if (loop := own[axis.position]) is not None and draft.extent(loop) > 1]
    last = own[axes[-1].position]
    if lanes is not None:
        tile, inner = (in_vectors(draft, loops, lanes) for loops in (tile, inner))
        last = tile[-1] if tile else None
    if unrolled is not None:
        reduction.remove(unrolled)
        tile = [unrolled, *tile]
    schedule_sums(draft, name, reduction, tile, last, terms)
    if instruction is not None and steps is not None:
        if prefetches:
            draft.do(Prefetch(steps))
        draft.do(Tensorize(steps, instruction.name))
    if stored is not None or (instruction is not None and steps is not None):
        inner = inner[min(len(axes), len(inner)) - 1 :]
    unroll_tile(draft, consumer, inner, inner[-1] if inner else None)
    parallelize_outer(draft, outside, work)
    draft.mark_done(name, consumer)


def in_vectors(draft: ScheduleDraft, loops: Sequence[str], lanes: int) -> list[str]:
    """Splits the last loop into vectors if it is longer than one; returns the loops that replace `loops`."""
    if not loops or draft.extent(loops[-1]) <= lanes:
        return list(loops)
    *others, row = loops
    return [*others, *draft.split(row, lanes, outer="v", inner="l")]


def schedule_sums(
    draft: ScheduleDraft,
    name: str,
    reduction: Sequence[str],
    tile: Sequence[str],
    lanes: str | None,
    terms: str | None,
) -> None:
    """Orders the loops of sums: the reduction outside, the unrolled tile inside, the vectorised loop `lanes` innermost.

    The loop `terms` of the reduction, if given, goes inside the lanes: each lane adds up its products.
    """
    reduction = [loop for loop in reduction if loop != terms]
    order = (*reduction, *tile, *([] if terms is None else [terms]))
    if len(order) > 1:
        draft.do(Reorder(order))
    unroll_tile(draft, name, tile, lanes, terms=terms)
    for loop in reduction:
        draft.do(DisableUnroll(loop))


ITERATIONS_AHEAD = 32
"""The iterations of 28 multiply-adds in which a line of the weight arrives from the L3 cache."""


def prefetch_weight(draft: ScheduleDraft, reduction: Sequence[str]) -> None:
    """Prefetches the weight in the innermost loop over the terms of sums, some iterations before its use."""
    if reduction:
        draft.do(Prefetch(reduction[-1], ITERATIONS_AHEAD))
        draft.record_reason("the weight is prefetched")


def unroll_tile(
    draft: ScheduleDraft, block: str, tile: Sequence[str], lanes: str | None, *, terms: str | None = None
) -> None:
    """Vectorises the loop `lanes` of a tile, if that is legal, and unrolls the others."""
    vectorized = None
    if lanes is not None and lanes in tile:
        refused = draft.attempt(Vectorize(lanes) if terms is None else Contract(terms, lanes))
        if refused is not None and terms is None:
            refused = draft.attempt(Vectorize(lanes, access="masked"))
        if refused is None:
            vectorized = lanes
        else:
            draft.record_reason(f"{block} is not vectorized: {refused}")
    for loop in tile:
        if loop != vectorized:
            draft.do(Unroll(loop))
