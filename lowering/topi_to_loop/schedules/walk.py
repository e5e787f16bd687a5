"""Walks: folds whose accumulator is an index into tables. Several walks run at once, each to its end."""

from __future__ import annotations

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp
from xrelay.dialects.loop.schedule import ComputeAt, Reorder, Settle, Split, Unroll
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer
from xrelay.lowering.topi_to_loop.schedules.kernel_view import folded_loops, loops_of_kind, points
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft

WALKS = 8
"""The number of walks that run at once. Each waits for its loads; more walks need more registers than there are."""

SAMPLES = 64
"""The number of samples that walk through the same tables before the next tables are read."""


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
                                                                 for j_i in 8, unrolled: n[j_i] = next[n[j_i]]
                                                               for j_i in 8: Y[i, j] = n[j_i]
    ```

    The tables of 8 walks and 64 samples stay in the cache.
    """
    *outer, row = loops_of_kind(consumer, IterKind.SPATIAL) or [""]
    block = draft.block(name)
    walks, steps, work = loops_of_kind(block, IterKind.SPATIAL), folded_loops(block), points(block)
    if not row or not steps:
        return False
    if draft.is_longer(row, WALKS):
        outer = _tiles(draft, outer, row)
    if not outer or draft.attempt(ComputeAt(name, outer[-1])) is not None:
        return False
    draft.do(Reorder((*steps, walks[-1])), Unroll(walks[-1]))
    if len(steps) == 1 and (refused := draft.attempt(Settle(steps[0]))) is not None:
        draft.because(f"all steps are taken: {refused}")
    parallelize_outer(draft, outer, work)
    draft.because(f"{name} walks {WALKS} at once")
    draft.mark_done(name, consumer.block_name)
    return True


def _tiles(draft: ScheduleDraft, outer: list[str], row: str) -> list[str]:
    """Splits the row into pieces of walks that run together for a few samples; returns the loops around a piece."""
    piece = f"{row}_o"
    draft.do(Split(row, WALKS, names=(piece, f"{row}_i")))
    if not outer:
        return [piece]
    *batch, samples = outer
    if not draft.is_longer(samples, SAMPLES):
        draft.do(Reorder((piece, samples)))
        return [*batch, piece, samples]
    tile, sample = f"{samples}_o", f"{samples}_i"
    draft.do(Split(samples, SAMPLES, names=(tile, sample)), Reorder((piece, sample)))
    return [*batch, tile, piece, sample]
