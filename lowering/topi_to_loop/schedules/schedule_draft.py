"""The draft of a schedule: primitives tried on a copy of the kernel, and recorded with reasons."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType

from xrelay.dialects.loop import BlockOp, LoopKind, SchedulePrimitive
from xrelay.dialects.loop.schedule import Vectorize
from xrelay.dialects.shared.op_making import copy
from xrelay.dialects.topi.shapes import bit_width
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.kernel_view import expected, least, memref_type
from xrelay.passes.loop.nest_queries import blocks_of, loop_named, loops_of
from xrelay.passes.loop.schedule import Schedule
from xrelay.target import Target

ITERATIONS_PER_THREAD = 4
"""The number of iterations of a parallel loop per thread: several, so that uneven iterations balance."""


class ScheduleDraft:
    """Applies primitives to a copy of a kernel and records them, with reasons.

    A primitive that is not legal leaves the draft and the copy unchanged, so a family may try it.
    """

    def __init__(self, kernel: func.FuncOp, target: Target):
        self.schedule = Schedule(copy(kernel))
        self.target = target
        self.reasons: list[str] = []
        self._done: set[str] = set()

    @property
    def is_fresh(self) -> bool:
        """Whether no primitive, reason or finished block has been recorded."""
        return not (self.schedule.primitives or self.reasons or self._done)

    # --- properties of the kernel -------------------------------------------------------------------------------

    @property
    def kernel(self) -> func.FuncOp:
        """Returns the copy, as scheduled so far."""
        return self.schedule.kernel

    def blocks(self) -> list[BlockOp]:
        """Returns the blocks in the order of the text."""
        return list(blocks_of(self.kernel).values())

    def block(self, name: str) -> BlockOp:
        """Returns the block called `name`."""
        return blocks_of(self.kernel)[name]

    def extent(self, loop: str) -> int:
        """Returns the extent of a loop, its expected value if it is dynamic; 1 if there is no such loop."""
        found = loop_named(self.kernel, loop)
        return 1 if found is None else expected(found.bound)

    def least(self, loop: str) -> int:
        """Returns the extent of a loop with all dynamic values at their known minimum."""
        return least(loops_of(self.kernel)[loop].bound)

    def is_dynamic(self, loop: str) -> bool:
        """Whether the extent of a loop is dynamic."""
        found = loop_named(self.kernel, loop)
        return found is not None and found.extent is None

    def is_longer(self, loop: str, size: int) -> bool:
        """Whether a loop has, or may have, more iterations than `size`, so that it must be split."""
        return self.is_dynamic(loop) or self.extent(loop) > size

    def lanes(self, block: BlockOp) -> int:
        """Returns the number of elements of the widest type in `block` that fit into a vector register.

        Buffers of indices do not count, because indices are mostly the same for all lanes.
        """
        types = [memref_type(buffer).element_type for buffer in (*block.reads, *block.writes)]
        widths = [bit_width(type) for type in types if not isinstance(type, IndexType)]
        return self.target.lanes(max([8, *widths] if widths else [64]))

    # --- primitives ---------------------------------------------------------------------------------------------

    def do(self, *steps: SchedulePrimitive) -> None:
        """Applies primitives that must be legal; raises `ScheduleError` otherwise."""
        self.schedule.apply(*steps)

    def attempt(self, step: SchedulePrimitive) -> str | None:
        """Applies a primitive if it is legal; otherwise returns the reason."""
        try:
            self.schedule.apply(step)
        except ScheduleError as error:
            return error.message
        return None

    def why_not_vectorized(self, loop: str) -> str | None:
        """Returns the reason why an innermost loop may not be vectorised; None if it may."""
        refused = self.attempt(Vectorize(loop))
        if refused is None:
            self.schedule.primitives.pop()
            loops_of(self.kernel)[loop].kind = LoopKind.SERIAL
        return refused

    def because(self, reason: str) -> None:
        """Records the reason of a choice."""
        self.reasons.append(reason)

    def mark_done(self, *blocks: str) -> None:
        """Marks the nests of these blocks as finished."""
        self._done.update(blocks)

    def is_done(self, block: str) -> bool:
        """Whether the nest of a block is finished."""
        return block in self._done
