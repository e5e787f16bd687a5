"""Ordered nests: scans, updates at computed indices, and walks through tables."""

from __future__ import annotations

from math import prod

from xdsl.ir import OpResult

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp, StoreOp
from xrelay.dialects.loop.schedule import ComputeAt, ExitEarly, Reorder, Unroll
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer, vectorize_row
from xrelay.lowering.topi_to_loop.schedules.cost_model import MIN_LANES
from xrelay.lowering.topi_to_loop.schedules.kernel_view import loop_of_variable, loops_of_kind, points, reduction_loops
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ITERATIONS_PER_THREAD, ScheduleDraft
from xrelay.target.cpus import MIN_PARALLEL_WORK


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
    is_parallel = draft.target.threads > 1 and work >= MIN_PARALLEL_WORK
    if inner and along is not None and is_parallel and prod(map(draft.extent, outer)) < draft.target.threads:
        outer, inner = _move_tiles_out(draft, block, outer, along, inner)
    if inner:
        vectorize_row(draft, inner[-1], draft.lanes(block))
    parallelize_outer(draft, outer, work)
    draft.record_reason(f"{name} is serial along {along}" if along is not None else f"{name} is a single step")


def _loops(block: BlockOp) -> tuple[list[str], str | None, list[str]]:
    """Returns the loops before the scan axis, the scan loop, and the loops after it, without loops of one iteration."""
    loops = [loop_of_variable(block, position) for position in range(len(block.kinds))]
    at = block.kinds.index(IterKind.ORDERED)
    outer, inner = ([loop for loop in part if loop is not None] for part in (loops[:at], loops[at + 1 :]))
    return outer, loops[at], inner


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
    tile, row = draft.split(first, width, outer="t", inner="r")
    draft.do(Reorder((tile, along)))
    return [*outer, tile], [row]


def is_update(block: BlockOp) -> bool:
    """Whether a block stores at a computed index."""
    stores = ops_of(block.body, StoreOp)
    return any(isinstance(operand, OpResult) for store in stores for operand in store.index_operands)


def schedule_scatter(draft: ScheduleDraft, name: str) -> None:
    """Schedules the nest of a scatter.

    ```
    for n: for d: Y[at[n], d] += U[n, d]    →    parallel for d_o: for n: for d_v in 16 lanes: Y[at[n], d] += U[n, d]
    ```

    Axes along which updates are independent move outside until threads have enough iterations; the last of them is
    vectorised.
    """
    block = draft.block(name)
    apart, ordered, work = loops_of_kind(block, IterKind.SPATIAL), reduction_loops(block), points(block)
    if not apart:
        draft.record_reason(f"{name} updates elements one after another")
        return
    *outer, row = apart
    rows = [row]
    if draft.extent(row) >= MIN_LANES:
        if ordered:
            draft.do(Reorder((*ordered, row)))
        rows = vectorize_row(draft, row, draft.lanes(block))
    outside = [*outer, *rows[:-1]] if outer or len(rows) > 1 else []
    if outside and draft.target.threads > 1 and work >= MIN_PARALLEL_WORK:
        draft.do(Reorder((*outside, *ordered)))
        parallelize_outer(draft, outside, work)
    draft.record_reason(
        f"{name} updates in the order of {', '.join(ordered)}" if ordered else f"{name} updates independent elements"
    )


WALKS = 16
"""The number of walks that are interleaved, since each waits for its loads. LLVM joins their steps to vectors."""

SAMPLES = 64
"""The number of samples for which walks in the same tables run before the next tables are read."""


def is_walk(block: BlockOp) -> bool:
    """Whether a block folds in order, has one accumulator, and loads at indices computed from other loads.

    A binary search has two accumulators; its few steps overlap without this schedule.
    """
    if IterKind.ORDERED not in block.kinds or len(block.writes) > 1:
        return False
    variables = {*block.variables}
    loads = ops_of(block.body, LoadOp)
    return any(not variables.issuperset(load.index_operands) for load in loads if load.memref not in block.writes)


def schedule_walk(draft: ScheduleDraft, name: str, consumer: BlockOp) -> bool:
    """Schedules the nest of a walk at the tiles of its consumer; returns whether that was possible.

    ```
    for i: for j: for k: n[i, j] = next[n[i, j]]      →    parallel for i_o: for j_o: for i_i in 64:
    for i: for j: Y[i, j] = n[i, j]                            for k, until nothing changes:
                                                                 for j_i in 16, unrolled: n[j_i] = next[n[j_i]]
                                                               for j_i in 16: Y[i, j] = n[j_i]
    ```

    The tables of 16 walks and 64 samples stay in the cache.
    """
    *outer, row = loops_of_kind(consumer, IterKind.SPATIAL) or [""]
    block = draft.block(name)
    walks, steps, work = loops_of_kind(block, IterKind.SPATIAL), reduction_loops(block), points(block)
    if not row or not steps:
        return False
    if draft.is_longer(row, WALKS):
        outer = _tiles(draft, outer, row)
    if not outer or draft.attempt(ComputeAt(name, outer[-1])) is not None:
        return False
    draft.do(Reorder((*steps, walks[-1])), Unroll(walks[-1]))
    if len(steps) == 1 and (refused := draft.attempt(ExitEarly(steps[0]))) is not None:
        draft.record_reason(f"no early end of the walks: {refused}")
    parallelize_outer(draft, outer, work)
    draft.record_reason(f"{name} walks {WALKS} at once")
    draft.mark_done(name, consumer.block_name)
    return True


def _tiles(draft: ScheduleDraft, outer: list[str], row: str) -> list[str]:
    """Splits the row into pieces of interleaved walks and the outer loop into groups of samples.

    Returns the loops around a piece.
    """
    piece, _ = draft.split(row, WALKS)
    if not outer:
        return [piece]
    *batch, samples = outer
    if not draft.is_longer(samples, SAMPLES):
        draft.do(Reorder((piece, samples)))
        return [*batch, piece, samples]
    tile, sample = draft.split(samples, SAMPLES)
    draft.do(Reorder((piece, sample)))
    return [*batch, tile, piece, sample]
