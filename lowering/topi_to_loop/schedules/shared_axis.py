"""An axis whose pieces are moved out of another loop: threads share them, or their data stays in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xrelay.dialects.loop import BlockOp
from xrelay.lowering.topi_to_loop.schedules.kernel_view import loop_of_variable
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


class SharedAxis(NamedTuple):
    """The positions of two axes in blocks of `rank` axes: pieces of the first, inside of the second, are moved out."""

    position: int
    before: int
    rank: int
    pieces: int
    """The least number of pieces."""

    def loops_of(self, block: BlockOp) -> tuple[str | None, str | None]:
        """Returns the loops of the two axes around a block; None for those that it does not have."""
        if len(block.kinds) != self.rank:
            return None, None
        return loop_of_variable(block, self.position), loop_of_variable(block, self.before)


def move_out(draft: ScheduleDraft, loops: Sequence[str], axes: tuple[str | None, str | None], wanted: int) -> list[str]:
    """Moves pieces of the first of two loops before the second; returns the order of loops, which the caller reorders.

    ```
    for c: for h:   →   for h_p in 8: for c: for h_r:
    ```

    The pieces have equal lengths, and there are at least as many as `wanted`. Returns `loops` if one of the two is not
    among them, or if there are not enough iterations.
    """
    loop, before = axes
    if loop is None or before is None or not {loop, before} <= set(loops) or draft.extent(loop) < wanted:
        return list(loops)
    count = draft.extent(loop)
    length = 1 if draft.is_dynamic(loop) else max(n for n in range(1, count // wanted + 1) if count % n == 0)
    pieces, rest = draft.split(loop, length, outer="p", inner="r") if length > 1 else (loop, None)
    order = [rest if each == loop else each for each in loops]
    order.insert(order.index(before), pieces)
    return [each for each in order if each is not None]
