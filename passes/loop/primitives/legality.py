"""Legality conditions that several primitives share."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, SchedulePrimitive, Tail
from xrelay.dialects.loop.ranges import interval_of
from xrelay.dialects.loop.schedule import primitive_text
from xrelay.errors import ScheduleError
from xrelay.index_algebra.affine_bounds import Interval, bounds
from xrelay.passes.loop.lower_blocks import cut_tails
from xrelay.passes.loop.primitives.nest import (
    accumulates_without_init,
    blocks_under,
    loops_of,
    reduces_over,
    refusal,
)


def keeps_away(block: BlockOp, loop: ForOp, beyond: Interval) -> bool:
    """Whether some variable of the block leaves its domain at every iteration of `loop` in `beyond`.

    This is what makes iterations past the end of a loop harmless: the block's implicit guard skips them.
    """
    bindings = block.bindings
    box = [beyond if value is loop.index else interval_of(value) for value in bindings.operands]
    for expr, extent in zip(bindings.exprs, block.extents, strict=True):
        values = bounds(expr, box)
        if extent != DYNAMIC and values is not None and (values[0] >= extent or values[1] < 0):
            return True
    return False


def check_overlap(loop: ForOp, around: list[ForOp], step: SchedulePrimitive, *, innermost: ForOp | None = None) -> None:
    """Refuse `tail = overlap` on `loop` where computing an element twice gives another result.

    `around` are the loops that will stand around it; the blocks are those under `innermost`, by default under `loop`.
    """
    subject = f"loop {loop.loop_name!r}"
    for block in blocks_under(loop if innermost is None else innermost):
        name = block.block_name
        if reduces_over(block, loop):
            reason = f"block {name!r} reduces over it, and overlapping tiles would add contributions twice"
            raise refusal(step, subject, reason, "use tail = peel or mask")
        outer = next((other for other in around if reduces_over(block, other)), None)
        if outer is not None:
            reason = f"block {name!r} reduces over {outer.loop_name!r} around it, and overlapping tiles would add twice"
            raise refusal(step, subject, reason, "move the reduction inside, or use tail = peel or mask")
        if accumulates_without_init(block):
            reason = f"block {name!r} updates its result in place, and overlapping tiles would update twice"
            raise refusal(step, subject, reason, "use tail = peel or mask")


def has_overlap(kernel: func.FuncOp) -> bool:
    """Whether some loop of the kernel has `tail = overlap`."""
    return any(loop.tail is Tail.OVERLAP for loop in loops_of(kernel).values())


def check_tails(trial: func.FuncOp, step: SchedulePrimitive) -> None:
    """Refuse `step`, which has been applied to `trial`, a copy of the kernel, where a last tile cannot be moved back.

    That depends on every loop of the tile: its kind, later splits of it, blocks that were brought in. Spoils `trial`.
    """
    try:
        cut_tails(trial)
    except ScheduleError as error:
        raise ScheduleError(f"{primitive_text(step)}: {error.message}", help=error.help) from error
