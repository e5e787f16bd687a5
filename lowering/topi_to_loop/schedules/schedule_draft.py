"""The draft of a schedule: primitives tried on a copy of the kernel, and recorded with reasons."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop import LoopKind, SchedulePrimitive
from xrelay.dialects.loop.schedule import Split, Vectorize
from xrelay.dialects.shared.op_making import copy
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.kernel_view import KernelView
from xrelay.passes.loop.nest_queries import loops_of
from xrelay.passes.loop.schedule import Schedule
from xrelay.target import Target

ITERATIONS_PER_THREAD = 4
"""The number of iterations of a parallel loop per thread: several, so that uneven iterations balance."""


class ScheduleDraft(KernelView):
    """A view of a copy of a kernel, as scheduled so far: applies primitives to it and records them, with reasons.

    A primitive that is not legal leaves the draft and the copy unchanged, so a family may try it.
    """

    def __init__(self, kernel: func.FuncOp, target: Target):
        super().__init__(copy(kernel), target)
        self.schedule = Schedule(self.kernel)
        self.reasons: list[str] = []
        self.long_sums: set[str] = set()
        """Blocks that compute parts of long sums."""
        self._done: set[str] = set()

    @property
    def is_fresh(self) -> bool:
        """Whether no primitive, reason or finished block has been recorded."""
        return not (self.schedule.primitives or self.reasons or self._done)

    def do(self, *steps: SchedulePrimitive) -> list[str]:
        """Applies primitives that must be legal; raises `ScheduleError` otherwise.

        Returns the names of the loops and blocks that they made, in order: two loops for `Split`, one for `Fuse`, a
        block and its loops for `CacheRead` and `CacheWrite`.
        """
        made: list[str] = []
        for step in steps:
            made += self.schedule.apply_one(step)
            self.forget()
        return made

    def split(self, loop: str, factor: int, *, outer: str = "o", inner: str = "i") -> tuple[str, str]:
        """Splits a loop; returns the outer loop and the inner loop of `factor` iterations.

        Their names are that of the loop with `outer` and `inner` appended. Raises `ScheduleError` if it is not legal.
        """
        first, second = self.do(Split(loop, factor, names=(f"{loop}_{outer}", f"{loop}_{inner}")))
        return first, second

    def attempt(self, step: SchedulePrimitive) -> str | None:
        """Applies a primitive if it is legal; otherwise returns the reason."""
        try:
            self.do(step)
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

    def record_reason(self, reason: str) -> None:
        """Records the reason of a choice."""
        self.reasons.append(reason)

    def mark_done(self, *blocks: str) -> None:
        """Marks the nests of these blocks as finished."""
        self._done.update(blocks)

    def is_done(self, block: str) -> bool:
        """Whether the nest of a block is finished."""
        return block in self._done
