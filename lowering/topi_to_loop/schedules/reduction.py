"""Reductions: the accumulators of a row or of a vector stay in registers while the fold runs."""

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
from xrelay.lowering.topi_to_loop.schedules.plan import Plan, loops_of_kind, points, readers_of, reads_pointwise


def schedule_reductions(plan: Plan) -> bool:
    """Takes kernels with reductions that no other family wants: sums, means, maxima.

    ```
    for n, c: for y, x: t[n, c] += X[n, y, x, c]      →    parallel for n:
    for n, c: Y[n, c] = t[n, c] / 49                         for c_o:
                                                               acc[64] = 0
                                                               for y, x: for c in 4 × 16 lanes: acc[c] += X[…]
                                                               for c in lanes: Y[…] = acc[c] / 49
    ```
    """
    reductions = [block for block in plan.blocks() if block.is_reduction]
    if not reductions:
        return False
    for block in reductions:
        fold_at_consumer(plan, block.block_name)
    schedule_remaining(plan)
    return True


def consumer_of(plan: Plan, name: str) -> BlockOp | None:
    """The block at whose tiles a reduction is computed: its only reader, at the same points, else a copy."""
    block = plan.block(name)
    readers = readers_of(block, plan.blocks())
    if len(readers) == 1 and not plan.is_done(readers[0].block_name) and reads_pointwise(readers[0], block):
        return readers[0]
    if readers or plan.attempt(CacheWrite(name)) is not None:
        return None
    return plan.block(f"{name}_write")


def fold_at_consumer(plan: Plan, name: str) -> bool:
    """Computes a reduction at the rows of its consumer, its accumulators local; False where that is not possible."""
    consumer = consumer_of(plan, name)
    if consumer is None:
        return False
    loops = loops_of_kind(consumer, IterKind.SPATIAL)
    work = points(plan.block(name))
    if not loops:
        return False
    if len(loops) == 1:
        loops = _split_row(plan, consumer, loops[0])
    at, block = loops[-2], plan.block(name)
    spatial, reduction = loops_of_kind(block, IterKind.SPATIAL), loops_of_kind(block, IterKind.REDUCE)
    if plan.attempt(ComputeAt(name, at)) is not None:
        return False
    tile = [loop for loop in spatial if plan.extent(loop) > 1]
    if tile:
        vectorize_fold(plan, name, tile, reduction)
    vectorize_row(plan, loops[-1], plan.lanes(consumer))
    parallelize_outer(plan, loops[:-1], work)
    plan.because(f"{name} accumulates in registers at {at}")
    plan.mark_done(name, consumer.block_name)
    return True


def _split_row(plan: Plan, consumer: BlockOp, row: str) -> list[str]:
    """Makes rows of a few vectors of the only loop, or one row of all of it; gives the two loops."""
    width = plan.lanes(consumer) * MAX_UNROLLED_VECTORS
    outer, inner = f"{row}_o", f"{row}_i"
    plan.do(Split(row, min(width, plan.extent(row)), names=(outer, inner)))
    return [outer, inner]
