"""Pooling: the maximum or sum of a window in one vector register, lanes along the channel block."""

from __future__ import annotations

from xrelay.dialects.topi.named.pool import Pool1dOp, Pool2dOp, Pool3dOp
from xrelay.lowering.topi_to_loop.schedules.common_steps import schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.kernel_view import came_from
from xrelay.lowering.topi_to_loop.schedules.reduction import fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


def schedule_pool(draft: ScheduleDraft) -> bool:
    """Schedules kernels with a pooling window.

    ```
    for n, co, h, w, ci: for y, x: t[…] = max(t[…], X[…])   →   parallel for n_co_h: for w:
                                                                  acc = -inf
                                                                  for y, x: for ci in lanes: acc[ci] = max(…)
                                                                  for ci in lanes: Y[…] = acc[ci]
    ```

    With plain N×C×H×W images, lanes run along the columns if the stride is 1.
    """
    windows = [
        block
        for block in draft.blocks()
        if block.is_reduction and any(came_from(block, op) for op in (Pool1dOp, Pool2dOp, Pool3dOp))
    ]
    if not windows:
        return False
    for block in windows:
        fold_at_consumer(draft, block.block_name)
    schedule_remaining(draft)
    return True
