"""Scans: serial along their axis, lanes along the axes after it, threads over the axes before it or over tiles."""

from __future__ import annotations

from math import prod

from xrelay.dialects.loop import BlockOp, IterKind, StoreOp
from xrelay.dialects.loop.schedule import Reorder, Split
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer, vectorize_row
from xrelay.lowering.topi_to_loop.schedules.kernel_view import loop_of_variable, points
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import (
    ITERATIONS_PER_THREAD,
    ScheduleDraft,
)
from xrelay.target.parallel_work import MIN_PARALLEL_WORK


def is_scan(block: BlockOp) -> bool:
    """Whether a block stores an element for each value of an ordered variable."""
    ordered = {v for v, kind in zip(block.variables, block.kinds, strict=True) if kind is IterKind.ORDERED}
    stores = ops_of(block.body, StoreOp)
    return any(not ordered.isdisjoint(store.index_operands) for store in stores)


def schedule_scan(draft: ScheduleDraft, name: str) -> None:
    """Schedules the nest of a scan.

    ```
    for i: for k: for j: s[j] += X[i, k, j]      →    parallel for i: for k: for j_o: for j_v in 16 lanes: …
    for k: for j: s[j] += X[k, j]                →    parallel for j_t: for k: for j_o: for j_v in 16 lanes: …
    ```

    The second form is used if the axes before the scan axis have fewer points than there are threads.
    """
    block = draft.block(name)
    outer, along, inner = _loops(block)
    work = points(block)
    if inner and along is not None and _wants_tiles(draft, prod(map(draft.extent, outer)), work):
        outer, inner = _move_tiles_out(draft, block, outer, along, inner)
    if inner:
        vectorize_row(draft, inner[-1], draft.lanes(block))
    parallelize_outer(draft, outer, work)
    draft.because(f"{name} is serial along {along}" if along is not None else f"{name} is a single step")


def _loops(block: BlockOp) -> tuple[list[str], str | None, list[str]]:
    """Returns the loops before the scan axis, the scan loop, and the loops after it, without loops of one iteration."""
    loops = [loop_of_variable(block, position) for position in range(len(block.kinds))]
    at = block.kinds.index(IterKind.ORDERED)
    outer, inner = ([loop for loop in part if loop is not None] for part in (loops[:at], loops[at + 1 :]))
    return outer, loops[at], inner


def _wants_tiles(draft: ScheduleDraft, outside: int, work: int) -> bool:
    """Whether the axes before the scan axis have fewer points than there are threads."""
    return draft.target.threads > 1 and work >= MIN_PARALLEL_WORK and outside < draft.target.threads


def _move_tiles_out(
    draft: ScheduleDraft, block: BlockOp, outer: list[str], along: str, inner: list[str]
) -> tuple[list[str], list[str]]:
    """Moves the first axis after the scan, or tiles of the only one, outside; returns the loops outside and inside."""
    first, *rest = inner
    if rest:
        draft.do(Reorder((first, along)))
        return [*outer, first], rest
    lanes = draft.lanes(block)
    width = -(-draft.extent(first) // (draft.target.threads * ITERATIONS_PER_THREAD * lanes)) * lanes
    if not draft.is_longer(first, width):
        return outer, inner
    tile, row = f"{first}_t", f"{first}_r"
    draft.do(Split(first, width, names=(tile, row)), Reorder((tile, along)))
    return [*outer, tile], [row]
