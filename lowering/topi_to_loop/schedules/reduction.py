"""Reductions: the accumulators of a row or of a vector stay in registers during the fold."""

from __future__ import annotations

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.schedule import CacheWrite, ComputeAt, Split
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    MAX_UNROLLED_VECTORS,
    parallelize_outer,
    schedule_remaining,
    vectorize_fold,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    folded_loops,
    loops_of_kind,
    points,
    readers_of,
    reads_pointwise,
)
from xrelay.lowering.topi_to_loop.schedules.scan import is_scan, schedule_scan
from xrelay.lowering.topi_to_loop.schedules.scatter import is_update, schedule_scatter
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.walk import is_walk, schedule_walk


def schedule_reductions(draft: ScheduleDraft) -> bool:
    """Schedules kernels with reductions that no other family accepts: sums, means, maxima.

    ```
    for n, c: for y, x: t[n, c] += X[n, y, x, c]      →    parallel for n:
    for n, c: Y[n, c] = t[n, c] / 49                         for c_o:
                                                               acc[64] = 0
                                                               for y, x: for c in 4 × 16 lanes: acc[c] += X[…]
                                                               for c in lanes: Y[…] = acc[c] / 49
    ```
    """
    reductions = [block for block in draft.blocks() if block.is_reduction]
    if not reductions:
        return False
    for block in reductions:
        if is_scan(block):
            schedule_scan(draft, block.block_name)
            draft.mark_done(block.block_name)
        elif is_update(block):
            schedule_scatter(draft, block.block_name)
            draft.mark_done(block.block_name)
        else:
            fold_at_consumer(draft, block.block_name)
    schedule_remaining(draft)
    return True


def consumer_of(draft: ScheduleDraft, name: str, *, read_elsewhere: bool = False) -> BlockOp | None:
    """Returns the block at whose tiles a reduction is computed: its only reader, at the same points, else a copy.

    With `read_elsewhere`, the result may also be read at other points, as by the phases of a transposed convolution.
    """
    block = draft.block(name)
    readers = readers_of(block, draft.blocks())
    if len(readers) == 1 and not draft.is_done(readers[0].block_name) and reads_pointwise(readers[0], block):
        return readers[0]
    if (readers and not read_elsewhere) or draft.attempt(CacheWrite(name)) is not None:
        return None
    return draft.block(f"{name}_write")


def fold_at_consumer(draft: ScheduleDraft, name: str) -> bool:
    """Computes a reduction at the rows of its consumer with local accumulators; returns whether that was possible."""
    consumer = consumer_of(draft, name)
    if consumer is None:
        return False
    if is_walk(draft.block(name)):
        return schedule_walk(draft, name, consumer)
    loops = loops_of_kind(consumer, IterKind.SPATIAL)
    work = points(draft.block(name))
    if not loops:
        return False
    if len(loops) == 1 or draft.is_dynamic(loops[-1]):
        loops = [*loops[:-1], *_split_row(draft, consumer, loops[-1])]
    at, block = loops[-2], draft.block(name)
    spatial, reduction = loops_of_kind(block, IterKind.SPATIAL), folded_loops(block)
    if draft.attempt(ComputeAt(name, at)) is not None:
        return False
    tile = [loop for loop in spatial if draft.extent(loop) > 1]
    if tile:
        vectorize_fold(draft, name, tile, reduction)
    vectorize_row(draft, loops[-1], draft.lanes(consumer))
    parallelize_outer(draft, loops[:-1], work)
    draft.because(f"{name} accumulates in registers at {at}")
    draft.mark_done(name, consumer.block_name)
    return True


def _split_row(draft: ScheduleDraft, consumer: BlockOp, row: str) -> list[str]:
    """Splits a loop into rows of a few vectors, or into one row of the whole extent; returns the two loops."""
    width = draft.lanes(consumer) * MAX_UNROLLED_VECTORS
    outer, inner = f"{row}_o", f"{row}_i"
    draft.do(Split(row, width if draft.is_longer(row, width) else draft.extent(row), names=(outer, inner)))
    return [outer, inner]
