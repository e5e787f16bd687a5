"""Softmax and other chains of reductions and elementwise stages: all stages run on a row while it is in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

from xdsl.dialects import math

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp
from xrelay.dialects.loop.schedule import ComputeAt, DisableUnroll, Reorder, Rfactor, ShareResult, Vectorize
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.topi.named.softmax import SoftmaxOp
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    is_contiguous,
    parallelize_outer,
    schedule_remaining,
    schedule_terms,
    vectorize_fold,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.cost_model import (
    MAX_UNROLLED_VECTORS,
    Cost,
    busy_threads,
    moving,
    rest_cost,
)
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    buffer_bytes,
    is_expanded_from,
    loop_of_variable,
    loops_of_kind,
    points,
    reduction_loops,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import is_regrouped
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


def propose_softmax(view: KernelView) -> list[Proposal]:
    """Proposes a schedule for kernels whose last stage is elementwise and reads results per row, such as a softmax.

    ```
    for i: max                       parallel for i:
    for i, j: exp           →          max of the row
    for i: sum                         exp of the row, in lanes
    for i: 1 / sum                     sum of the row, and its reciprocal
    for i, j: product                  product of the row, in lanes
    ```
    """
    blocks = view.blocks()
    if not any(block.is_reduction for block in blocks) or blocks[-1].is_reduction:
        return []
    last = blocks[-1]
    rows = _row_loops(last, blocks)
    if not rows and not any(is_expanded_from(block, SoftmaxOp) for block in blocks):
        return []

    def apply(draft: ScheduleDraft) -> None:
        if rows:
            _compute_rows(draft, last.block_name, rows)
        else:
            _share_long_rows(draft, last.block_name)
        schedule_remaining(draft)

    return [Candidate("all stages of a row", "a row stays in the cache", partial(_rows_cost, view, rows), apply)]


def _rows_cost(view: KernelView, rows: list[str]) -> Cost:
    """Returns the cost of all stages if a row stays in the L1 cache: only the kernel's arguments come from memory."""
    blocks = view.blocks()
    arithmetic = rest_cost(view).arithmetic
    computed = {buffer for block in blocks for buffer in block.writes}
    loads = {op.memref: op for block in blocks for op in ops_of(block.body, LoadOp) if op.memref not in computed}
    memory = sum(moving(view.target, buffer_bytes(op)) for op in loads.values())
    iterations = prod(map(view.extent, rows)) if rows else points(blocks[-1])
    return Cost.of(arithmetic, memory, threads=busy_threads(view.target, iterations, sum(map(points, blocks))))


def _row_loops(last: BlockOp, blocks: list[BlockOp]) -> list[str]:
    """Returns the leading loops of the last stage that iterate over rows: per-row results depend only on them.

    A per-row result is a sum, or a value computed from one: the last stage reads it at some of its loops only.
    """
    loops = [loop_of_variable(last, position) for position in range(len(last.variables))]
    inside = {variable for variable, loop in zip(last.variables, loops, strict=True) if loop is not None}
    computed = {buffer for block in blocks for buffer in block.writes}
    read = [{*op.index_operands} for op in ops_of(last, LoadOp) if op.memref in computed]
    results = [operands for operands in read if not operands.issuperset(inside)]
    rows: list[str] = []
    for variable, loop in zip(last.variables, loops, strict=True):
        if loop is not None and not all(variable in operands for operands in results):
            break
        if loop is not None:
            rows.append(loop)
    return rows if results else []


def _sum_in_lanes(draft: ScheduleDraft) -> None:
    """Gives each lane its own sum in the reductions whose terms are functions, such as exponentials.

    ```
    for i: for k in 1024: s[i] += exp(X[i, k])   →   for i: for k_o in 64: for k_i in 16: p[i, k_i] += exp(X[i, …])
                                                     for i: for k_i in 16: s[i] += p[i, k_i]
    ```

    Exponentials of vectors take fewer instructions than those in loops that LLVM vectorises. A row that is no multiple
    of a vector is left unchanged.
    """
    for block in draft.blocks():
        terms, lanes = reduction_loops(block), draft.lanes(block)
        if len(terms) != 1 or not any(isinstance(op, math.ExpOp) for op in all_ops(block)):
            continue
        for vectors in (MAX_UNROLLED_VECTORS, 1):
            trial = ScheduleDraft(draft.kernel, draft.target)
            try:
                _, lane = trial.split(terms[0], lanes * vectors)
                trial.do(Rfactor(block.block_name, lane))
            except ScheduleError:
                continue
            draft.do(*trial.schedule.primitives)
            break


def _fold_in_masked_lanes(draft: ScheduleDraft) -> dict[str, list[str]]:
    """Gives each lane its own result in folds over rows of dynamic length that are apart in memory.

    ```
    for c: for h: for w: s[c] += X[c, h, w]   →   for c: for h: for w_o: for w_i in 16: p[c, w_i] += X[c, h, …]
                                                  for c: for w_i in 16: s[c] += p[c, w_i]
    ```

    LLVM would compute most of a short row without lanes. Returns the loops over the terms of each fold, that over the
    lanes last.
    """
    folds: dict[str, list[str]] = {}
    for block in draft.blocks() if draft.target.masks else []:
        name, terms = block.block_name, reduction_loops(block)
        if len(terms) < 2 or not draft.is_dynamic(terms[-1]) or not is_regrouped(block):
            continue
        if not is_contiguous(draft, name, terms[-1]):
            continue
        trial = ScheduleDraft(draft.kernel, draft.target)
        try:
            inside, lane = trial.split(terms[-1], draft.lanes(block))
            trial.do(Rfactor(name, lane))
        except ScheduleError:
            continue
        draft.do(*trial.schedule.primitives)
        folds[name] = [*terms[:-1], inside, lane]
    return folds


MIN_SHORT_ROW, MAX_SHORT_ROW = 8, 64
"""The minimum and maximum lengths of rows that are computed in groups."""

ROWS_AT_ONCE = 4
"""The number of short rows that are computed at once, so that a core does not wait for the result of each stage."""


def _group_rows(draft: ScheduleDraft, rows: list[str], inside: Sequence[str]) -> list[str] | None:
    """Splits the last loop over rows into groups if a row, with the loops `inside`, is short; returns the outer loops.

    Returns None if the rows are long, or if their number is dynamic or no multiple of a group.
    """
    *outer, row = rows
    is_static = not any(map(draft.is_dynamic, (row, *inside)))
    if not is_static or not MIN_SHORT_ROW <= prod(map(draft.extent, inside)) <= MAX_SHORT_ROW:
        return None
    return [*outer, draft.split(row, ROWS_AT_ONCE)[0]] if draft.extent(row) % ROWS_AT_ONCE == 0 else None


def _share_long_rows(draft: ScheduleDraft, last: str) -> None:
    """Stores the long rows that the last stage reads, such as exponentials, in the row of the result, if possible.

    Three rows of a softmax then take as much of a cache as two. Rows of at most a quarter of the L1 cache stay
    there together, and take the same time in buffers of their own.
    """
    writers = {buffer: block.block_name for block in draft.blocks() for buffer in block.writes}
    loads = {op.memref: op for op in ops_of(draft.block(last).body, LoadOp) if op.memref in writers}
    for buffer, load in loads.items():
        if buffer_bytes(load) * 4 > draft.target.l1 and draft.attempt(ShareResult(writers[buffer])) is None:
            draft.record_reason(f"the row of {writers[buffer]} is stored in that of the result")
            return


def _compute_rows(draft: ScheduleDraft, last: str, rows: list[str]) -> None:
    work = sum(points(block) for block in draft.blocks())
    row_length = loops_of_kind(draft.block(last), IterKind.SPATIAL)[len(rows) :]
    groups, folds = _group_rows(draft, rows, row_length), dict[str, list[str]]()
    if groups is None:
        _sum_in_lanes(draft)
        folds = _fold_in_masked_lanes(draft)
    first, around = (0, rows) if groups is None else (len(rows), groups)
    names = [block.block_name for block in draft.blocks()]
    spatial = {block.block_name: loops_of_kind(block, IterKind.SPATIAL)[first:] for block in draft.blocks()}
    reduction = {block.block_name: reduction_loops(block) for block in draft.blocks()}
    moved = [name for name in reversed(names[:-1]) if draft.attempt(ComputeAt(name, around[-1])) is None]
    if not moved:
        return
    _share_long_rows(draft, last)
    for name in (*moved, last):
        block = draft.block(name)
        # The own loops over rows have one iteration now, unless the rows are in groups.
        tile = [loop for loop in (row_length if name == last else spatial[name]) if draft.extent(loop) > 1]
        if name in folds:
            *_, inside, lane = folds[name]
            draft.do(Reorder(tuple(folds[name])), Vectorize(lane, "masked"), DisableUnroll(inside))
        elif not tile:
            schedule_terms(draft, name, reduction[name])
        elif block.is_reduction:
            vectorize_fold(draft, name, tile, reduction[name])
        else:
            vectorize_row(draft, tile[-1], draft.lanes(block))
    parallelize_outer(draft, around, work)
    kind = "row" if groups is None else f"group of {ROWS_AT_ONCE} rows"
    draft.record_reason(f"{len(moved)} stages are computed for each {kind} of {around[-1]}")
    draft.mark_done(*moved, last)
