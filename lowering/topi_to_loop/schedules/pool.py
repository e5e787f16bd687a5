"""Pooling: a window's maximum or sum in one vector register, lanes along the channel block."""

from __future__ import annotations

from xrelay.lowering.topi_to_loop.schedules.common_steps import schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.plan import Plan, source_of
from xrelay.lowering.topi_to_loop.schedules.reduction import fold_at_consumer


def schedule_pool(plan: Plan) -> bool:
    """Takes kernels with a pooling window.

    ```
    for n, co, h, w, ci: for y, x: t[…] = max(t[…], X[…])   →   parallel for n_co_h: for w:
                                                                  acc = -inf
                                                                  for y, x: for ci in lanes: acc[ci] = max(…)
                                                                  for ci in lanes: Y[…] = acc[ci]
    ```

    With plain N×C×H×W images the lanes run along the columns where the stride is 1.
    """
    windows = [block for block in plan.blocks() if block.is_reduction and source_of(block) == "topi.pool2d"]
    if not windows:
        return False
    for block in windows:
        fold_at_consumer(plan, block.block_name)
    schedule_remaining(plan)
    return True
