"""Sums of products in a register tile, for convolutions and matrix products.

A *consumer* stores the results, after the epilogue. Its loops are split into tiles. The sums are computed at the
innermost loop around a tile, in a local buffer that becomes registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xrelay.dialects.loop.schedule import ComputeAt, Contract, DisableUnroll, Reorder, Split, Unroll, Vectorize
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer
from xrelay.lowering.topi_to_loop.schedules.kernel_view import folded_loops, loop_of_variable, points
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


@dataclass(frozen=True)
class TiledAxis:
    """One loop of the consumer, the number of its iterations in a tile, and whether they become lanes."""

    position: int
    """The position of the variable, which is the same in the consumer and the sum."""
    tile: int
    lanes: bool = False


def split_consumer(draft: ScheduleDraft, consumer: str, axes: Sequence[TiledAxis]) -> tuple[list[str], list[str]]:
    """Splits the consumer's loops and moves the tile inside; returns the loops outside and inside the tile.

    The order of `axes` is that of the loops inside the tile, lanes last. Other loops stay outside.
    """
    block = draft.block(consumer)
    names = [loop_of_variable(block, position) for position in range(len(block.kinds))]
    inner: list[str] = []
    for axis in axes:
        loop = names[axis.position]
        if loop is None:
            continue
        if draft.is_longer(loop, axis.tile):
            outer, tile = f"{loop}_o", f"{loop}_i"
            if axis.tile > 1:
                draft.do(Split(loop, axis.tile, names=(outer, tile)))
                names[axis.position] = outer
                inner.append(tile)
        else:
            names[axis.position] = None
            inner.append(loop)
    outside = [loop for loop in names if loop is not None]
    if not outside:
        outside, inner = around_tile(draft, inner)
    if len(outside) + len(inner) > 1:
        draft.do(Reorder((*outside, *inner)))
    return outside, inner


def around_tile(draft: ScheduleDraft, inner: Sequence[str]) -> tuple[list[str], list[str]]:
    """Adds a loop of one iteration around a tile that covers all loops; returns the loops outside and inside."""
    if not inner:
        return [], []
    first, *others = inner
    draft.do(Split(first, draft.extent(first), names=(f"{first}_all", f"{first}_tile")))
    return [f"{first}_all"], [f"{first}_tile", *others]


def tile_products(
    draft: ScheduleDraft, name: str, consumer: str, axes: Sequence[TiledAxis], *, terms: str | None = None
) -> str | None:
    """Computes the sums of block `name` in a register tile at `consumer`; returns the reason if that is not possible.

    `axes` are as in `split_consumer`. The final order of the sums' loops is the reduction, then the tile, unrolled,
    with lanes innermost. `terms` is the loop over contiguous products; it goes inside the lanes.
    """
    block = draft.block(name)
    own = [loop_of_variable(block, position) for position in range(len(block.kinds))]
    reduction = [loop for loop in folded_loops(block) if loop != terms]
    work = points(block)
    outside, inner = split_consumer(draft, consumer, axes)
    if not outside:
        return f"{consumer} is a single element"
    if (refused := draft.attempt(ComputeAt(name, outside[-1]))) is not None:
        return refused
    tile = [loop for axis in axes if (loop := own[axis.position]) is not None and draft.extent(loop) > 1]
    order_sums(draft, reduction, tile, terms)
    lanes = own[axes[-1].position] if axes[-1].lanes else None
    lanes = make_lanes(draft, name, tile, lanes, terms=terms)
    for loop in tile:
        if loop != lanes:
            draft.do(Unroll(loop))
    for loop in reduction:
        draft.do(DisableUnroll(loop))
    row = inner[-1] if inner and axes[-1].lanes else None
    row = make_lanes(draft, consumer, inner, row)
    for loop in inner:
        if loop != row:
            draft.do(Unroll(loop))
    parallelize_outer(draft, outside, work)
    draft.mark_done(name, consumer)
    return None


def order_sums(draft: ScheduleDraft, reduction: Sequence[str], tile: Sequence[str], terms: str | None) -> None:
    """Orders the loops of sums as reduction, tile, terms."""
    order = (*reduction, *tile, *([] if terms is None else [terms]))
    if len(order) > 1:
        draft.do(Reorder(order))


def make_lanes(
    draft: ScheduleDraft, block: str, tile: Sequence[str], loop: str | None, *, terms: str | None = None
) -> str | None:
    """Vectorises a loop of a tile if that is legal; returns the loop, or None.

    `terms` is the loop inside it over the products that each lane adds up.
    """
    if loop is None or loop not in tile:
        return None
    refused = draft.attempt(Vectorize(loop) if terms is None else Contract(terms, loop))
    if refused is not None:
        draft.because(f"{block} is not vectorized: {refused}")
        return None
    return loop
