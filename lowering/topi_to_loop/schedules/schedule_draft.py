"""The draft of a schedule: primitives are tried on a copy of the kernel, and kept with the reasons."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType

from xrelay.dialects.loop import BlockOp, LoopKind, SchedulePrimitive
from xrelay.dialects.loop.schedule import Vectorize
from xrelay.dialects.shared.op_making import copy
from xrelay.dialects.topi.shapes import bit_width
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.expected_sizes import expected, least
from xrelay.lowering.topi_to_loop.schedules.kernel_view import memref_type
from xrelay.passes.loop.nest_queries import blocks_of, loop_named, loops_of
from xrelay.passes.loop.schedule import Schedule
from xrelay.target import Target

ITERATIONS_PER_THREAD = 4
"""How many iterations of a parallel loop each thread should get, so that uneven ones even out."""


class ScheduleDraft:
    """Applies primitives to a copy of a kernel and records them, with reasons.

    A primitive that is not legal leaves draft and copy as they are, so an analysis may propose and see.
    """

    def __init__(self, kernel: func.FuncOp, target: Target):
        self.schedule = Schedule(copy(kernel))
        self.target = target
        self.reasons: list[str] = []
        self._done: set[str] = set()

    @property
    def is_fresh(self) -> bool:
        """Whether nothing has been done or said yet."""
        return not (self.schedule.primitives or self.reasons or self._done)

    # --- what the kernel is -------------------------------------------------------------------------------------

    @property
    def kernel(self) -> func.FuncOp:
        """The copy, as scheduled so far."""
        return self.schedule.kernel

    def blocks(self) -> list[BlockOp]:
        """The blocks in the order of the text."""
        return list(blocks_of(self.kernel).values())

    def block(self, name: str) -> BlockOp:
        """The block called `name`."""
        return blocks_of(self.kernel)[name]

    def extent(self, loop: str) -> int:
        """The extent of a loop, the expected one where it is a value; 1 where there is no such loop."""
        found = loop_named(self.kernel, loop)
        return 1 if found is None else expected(found.bound)

    def least(self, loop: str) -> int:
        """The extent of a loop where all that only a run tells is the least of which is known."""
        return least(loops_of(self.kernel)[loop].bound)

    def is_dynamic(self, loop: str) -> bool:
        """Whether the extent of a loop is a value."""
        found = loop_named(self.kernel, loop)
        return found is not None and found.extent is None

    def is_longer(self, loop: str, size: int) -> bool:
        """Whether a loop has more iterations than `size`, or may have: then it is split."""
        return self.is_dynamic(loop) or self.extent(loop) > size

    def lanes(self, block: BlockOp) -> int:
        """Returns the number of elements of the widest type in `block` that fit into a vector register.

        Indices that a block reads say where its elements lie, and are mostly the same for all lanes.
        """
        types = [memref_type(buffer).element_type for buffer in (*block.reads, *block.writes)]
        widths = [bit_width(type) for type in types if not isinstance(type, IndexType)]
        return self.target.lanes(max([8, *widths] if widths else [64]))

    # --- doing --------------------------------------------------------------------------------------------------

    def do(self, *steps: SchedulePrimitive) -> None:
        """Applies primitives that must be legal; raises `ScheduleError`."""
        self.schedule.apply(*steps)

    def attempt(self, step: SchedulePrimitive) -> str | None:
        """Applies a primitive if it is legal; otherwise gives the reason."""
        try:
            self.schedule.apply(step)
        except ScheduleError as error:
            return error.message
        return None

    def why_not_vectorized(self, loop: str) -> str | None:
        """The reason why a loop that is innermost may not become lanes; None where it may."""
        refused = self.attempt(Vectorize(loop))
        if refused is None:
            self.schedule.primitives.pop()
            loops_of(self.kernel)[loop].kind = LoopKind.SERIAL
        return refused

    def because(self, reason: str) -> None:
        """Records why something was chosen."""
        self.reasons.append(reason)

    def mark_done(self, *blocks: str) -> None:
        """Says that the nests of these blocks need nothing more."""
        self._done.update(blocks)

    def is_done(self, block: str) -> bool:
        """Whether the nest of a block needs nothing more."""
        return block in self._done
