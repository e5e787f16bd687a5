"""Loops whose iterations compute the same indices and factors, as the channels of an image that is sampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import BlockOp
from xrelay.dialects.loop.schedule import Reorder
from xrelay.dialects.shared.op_lists import ops_in
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.kernel_view import loads_of, loop_of_variable
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft

MIN_SHARED: Final = 24
"""The minimum number of ops that the iterations of a loop share, so that the loop goes inside."""

SHARING: Final = 8
"""The number of iterations that share ops. Each reads another part of an operand, and all have to stay in the cache."""

MIN_REPEATED: Final = 4
"""The minimum number of ops that the iterations of a short loop repeat, so that the loop is unrolled inside."""


def sharing_loop(block: BlockOp, loops: Sequence[str]) -> str | None:
    """Returns the last of `loops` whose iterations compute the same indices and factors; None if these are few."""
    if all(operand in block.variables for op in loads_of(block) for operand in op.index_operands):
        return None
    positions = {loop_of_variable(block, position): position for position in range(len(block.kinds))}
    ops = [op for op in ops_in(block.body) if not isinstance(op, arith.ConstantOp)]
    for loop in reversed(loops):
        if loop in positions and len(ops) - len(_dependents(block.variables[positions[loop]])) >= MIN_SHARED:
            return loop
    return None


def repeating_loop(block: BlockOp, loops: Sequence[str]) -> str | None:
    """Returns the last of `loops` whose few iterations repeat all loads and other ops; None if no loop does.

    The parts of split floats are such iterations: they read the same elements and select another result.
    """
    ops = [op for op in ops_in(block.body) if not isinstance(op, arith.ConstantOp)]
    loads = set[Operation](loads_of(block))
    for position, extent in reversed(list(enumerate(block.extents))):
        loop, own = loop_of_variable(block, position), _dependents(block.variables[position])
        is_short = isinstance(extent, int) and extent <= SHARING
        if loop in loops and is_short and loads and not loads & own and len(ops) - len(own) >= MIN_REPEATED:
            return loop
    return None


def _dependents(variable: SSAValue) -> set[Operation]:
    """Returns the ops that use a value, directly or through other ops."""
    found, pending = set[Operation](), [variable]
    while pending:
        users = {use.operation for use in pending.pop().uses} - found
        found |= users
        pending += [result for user in users for result in user.results]
    return found


def move_inside(draft: ScheduleDraft, outer: Sequence[str], shared: str, inner: Sequence[str]) -> list[str] | None:
    """Moves `SHARING` iterations of the loop `shared`, one of the loops `outer`, between these and `inner`.

    ```
    for c: for i: for j in lanes: Y[c, i, j] = X[c, at[i, j]]   →   for c_o: for i: for c_i in 8: for j in lanes: …
    ```

    Returns all loops in their new order, or None if that is not legal.
    """
    trial = ScheduleDraft(draft.kernel, draft.target)
    around, moved, tiles = list(outer), shared, list[str]()
    try:
        if trial.is_longer(shared, SHARING):
            *tiles, moved = trial.split(shared, SHARING)
        position = around.index(shared)
        around[position : position + 1] = tiles
        trial.do(Reorder((*around, moved, *inner)))
    except ScheduleError:
        return None
    draft.do(*trial.schedule.primitives)
    draft.record_reason(f"iterations of {moved} share indices")
    return [*around, moved, *inner]
