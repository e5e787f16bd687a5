"""Kernels without reduction: the innermost axis in lanes, the others on threads."""

from __future__ import annotations

from xrelay.lowering.topi_to_loop.schedules.common_steps import schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


def schedule_injective(draft: ScheduleDraft) -> bool:
    """Schedules kernels without reductions. Each result has a nest of its own.

    ```
    for n, c, h, w:  →  parallel for n_c_h:
                          for w_o: for w_v in 16 lanes:
    ```
    """
    if any(block.is_reduction for block in draft.blocks()):
        return False
    schedule_remaining(draft)
    return True
