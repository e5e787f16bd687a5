"""Updates at computed indices: in order, with lanes and threads along the axes that separate the updates."""

from __future__ import annotations

from xdsl.ir import OpResult

from xrelay.dialects.loop import BlockOp, IterKind, StoreOp
from xrelay.dialects.loop.schedule import Reorder
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.lowering.topi_to_loop.schedules.common_steps import MIN_LANES, parallelize_outer, vectorize_row
from xrelay.lowering.topi_to_loop.schedules.kernel_view import folded_loops, loops_of_kind, points
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.target.parallel_work import MIN_PARALLEL_WORK


def is_update(block: BlockOp) -> bool:
    """Whether a block stores at a computed index."""
    stores = ops_of(block.body, StoreOp)
    return any(isinstance(operand, OpResult) for store in stores for operand in store.index_operands)


def schedule_scatter(draft: ScheduleDraft, name: str) -> None:
    """Schedules the nest of a scatter.

    ```
    for n: for d: Y[at[n], d] += U[n, d]    →    parallel for d_o: for n: for d_v in 16 lanes: Y[at[n], d] += U[n, d]
    ```

    The axes that separate updates move outside until threads have enough iterations; the last of them is vectorised.
    """
    block = draft.block(name)
    apart, ordered, work = loops_of_kind(block, IterKind.SPATIAL), folded_loops(block), points(block)
    if not apart:
        draft.because(f"{name} updates one element after the other")
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
    draft.because(f"{name} updates in the order of {', '.join(ordered)}" if ordered else f"{name} updates apart")
