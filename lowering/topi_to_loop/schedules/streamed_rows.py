"""Reductions over long rows, such as the sum of the rows of a matrix: memory is read in order, a few rows at a time."""

from __future__ import annotations

from typing import Final

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.schedule import CacheInplace, Reorder
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer, unroll_vectors, vectorize_row
from xrelay.lowering.topi_to_loop.schedules.cost_model import MAX_UNROLLED_VECTORS
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    element_bytes,
    is_row,
    loads_of,
    loop_of_variable,
    loops_of_kind,
    points,
    reduction_loops,
)
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ITERATIONS_PER_THREAD, ScheduleDraft

LONG_ROW: Final = 2048
"""The minimum size in bytes of a row that is read in order. A step to the next row leads to another page of memory."""

ROWS_AT_ONCE: Final = range(8, 3, -1)
"""The numbers of rows that may update a vector of results between its load and its store."""

MOST_ROWS: Final = 1 << 16
"""The maximum number of rows. A sum of more terms is split into partial sums."""


def fold_streamed_rows(draft: ScheduleDraft, name: str) -> bool:
    """Updates all results by a few rows before it reads the next ones, if rows are long; returns whether it does.

    ```
    for k in 1024: for j in 1024: s[j] += X[k, j]   →   for k_o in 128: for j_o in 16:
                                                          acc[64] = s[64 of j_o], 0 if k_o is 0
                                                          for k_i in 8: acc[64] += X[8 k_o + k_i, 64 of j_o]
                                                          s[64 of j_o] = acc[64]
    ```

    With accumulators in registers for all rows, each step would lead to another page: a sum of 1024 x 1024 takes 1.6
    times as long. The results of a row stay in the L1 cache. Each sum adds its terms in the same order.
    """
    block = draft.block(name)
    spatial, terms = loops_of_kind(block, IterKind.SPATIAL), reduction_loops(block)
    if not spatial or len(terms) != 1 or any(map(draft.is_dynamic, (*spatial, *terms))):
        return False
    *outer, row = spatial
    width = draft.lanes(block) * MAX_UNROLLED_VECTORS
    count = next((number for number in ROWS_AT_ONCE if draft.extent(terms[0]) % number == 0), 0)
    threads, work = draft.target.threads, points(block)
    is_shared = threads > 1 and all(draft.extent(loop) < threads * ITERATIONS_PER_THREAD for loop in outer)
    is_full = count > 0 and draft.extent(row) % width == 0 and draft.extent(terms[0]) <= MOST_ROWS
    if not is_full or is_shared or not _has_long_rows(draft, block, row):
        return False
    trial = ScheduleDraft(draft.kernel, draft.target)
    try:
        rows, few = trial.split(terms[0], count)
        tiles, tile = trial.split(row, width)
        trial.do(Reorder((*outer, rows, tiles, few, tile)), CacheInplace(name, tiles))
    except ScheduleError:
        return False
    draft.do(*trial.schedule.primitives)
    for loop in (tile, f"{tile}_load", f"{tile}_store"):
        unroll_vectors(draft, vectorize_row(draft, loop, draft.lanes(block)))
    parallelize_outer(draft, outer, work)
    draft.record_reason(f"{name} adds {count} rows of {row} at a time to results in the L1 cache")
    draft.mark_done(name, f"{name}_load", f"{name}_store")
    return True


def _has_long_rows(draft: ScheduleDraft, block: BlockOp, row: str) -> bool:
    """Whether a block reads long contiguous rows of one buffer, and the results of a row fit into the L1 cache."""
    variable, extent = block.variables[block.spatial[-1]], draft.extent(row)
    loads = [load for load in loads_of(block) if variable in load.index_operands]
    if len({load.memref for load in loads}) != 1 or loop_of_variable(block, block.spatial[-1]) != row:
        return False
    if not is_row(block, block.spatial[-1]):
        return False
    return LONG_ROW <= extent * element_bytes(loads[0]) <= draft.target.l1 // 2
