"""Softmax and other chains of reductions and elementwise stages: all stages run on a row while it is in the cache."""

from __future__ import annotations

from functools import partial

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp
from xrelay.dialects.loop.schedule import ComputeAt
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi.named.softmax import SoftmaxOp
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    keep_rolled,
    parallelize_outer,
    schedule_remaining,
    vectorize_fold,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost, busy_threads, moving, rest_cost
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    buffer_bytes,
    is_expanded_from,
    loop_of_variable,
    loops_of_kind,
    points,
    reduction_loops,
)
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


def propose_softmax(view: KernelView) -> list[Proposal]:
    """Proposes a schedule for kernels whose last stage is elementwise and belongs to a softmax or follows one.

    ```
    for i: max                       parallel for i:
    for i, j: exp           →          max of the row
    for i: sum                         exp of the row, in lanes
    for i: 1 / sum                     sum of the row, and its reciprocal
    for i, j: product                  product of the row, in lanes
    ```
    """
    blocks = view.blocks()
    if not any(is_expanded_from(block, SoftmaxOp) for block in blocks) or blocks[-1].is_reduction:
        return []
    last = blocks[-1]
    rows = _row_loops(last, blocks)

    def apply(draft: ScheduleDraft) -> None:
        if rows:
            _compute_rows(draft, last.block_name, rows)
        schedule_remaining(draft)

    return [Candidate("all stages of a row", "a row stays in the cache", partial(_rows_cost, view), apply)]


def _rows_cost(view: KernelView) -> Cost:
    """Returns the cost of all stages if a row stays in the L1 cache: only the kernel's arguments come from memory."""
    blocks = view.blocks()
    arithmetic = rest_cost(view).arithmetic
    computed = {buffer for block in blocks for buffer in block.writes}
    loads = {op.memref: op for block in blocks for op in ops_of(block.body, LoadOp) if op.memref not in computed}
    memory = sum(moving(view.target, buffer_bytes(op)) for op in loads.values())
    return Cost.of(arithmetic, memory, threads=busy_threads(view.target, points(blocks[-1]), arithmetic))


def _row_loops(last: BlockOp, blocks: list[BlockOp]) -> list[str]:
    """Returns the leading loops of the last stage that iterate over rows: per-row results depend only on them.

    A per-row result is a sum, or a value computed from one: it has fewer axes than the row itself.
    """
    rank = len(last.spatial)
    results = {buffer for block in blocks if len(block.spatial) < rank for buffer in block.writes}
    loads = [op for op in ops_of(last, LoadOp) if op.memref in results]
    rows: list[str] = []
    for position, variable in enumerate(last.variables):
        loop = loop_of_variable(last, position)
        if not all(variable in load.index_operands for load in loads) and loop is not None:
            break
        if loop is not None:
            rows.append(loop)
    return rows if loads else []


def _compute_rows(draft: ScheduleDraft, last: str, rows: list[str]) -> None:
    names = [block.block_name for block in draft.blocks()]
    work = sum(points(block) for block in draft.blocks())
    spatial = {block.block_name: loops_of_kind(block, IterKind.SPATIAL) for block in draft.blocks()}
    reduction = {block.block_name: reduction_loops(block) for block in draft.blocks()}
    moved = [name for name in reversed(names[:-1]) if draft.attempt(ComputeAt(name, rows[-1])) is None]
    if not moved:
        return
    for name in (*moved, last):
        block = draft.block(name)
        tile = [loop for loop in spatial[name] if loop not in rows and draft.extent(loop) > 1]
        if not tile:
            for row in reduction[name][-1:]:
                keep_rolled(draft, row, draft.lanes(block))
        elif block.is_reduction:
            vectorize_fold(draft, name, tile, reduction[name])
        else:
            vectorize_row(draft, tile[-1], draft.lanes(block))
    parallelize_outer(draft, rows, work)
    draft.record_reason(f"{len(moved)} stages are computed for each row of {rows[-1]}")
    draft.mark_done(*moved, last)
