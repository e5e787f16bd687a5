"""`loop-apply-schedules`: carry out the schedule that each kernel states."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.errors import PassError
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.schedule import apply_schedule
from xrelay.passes.loop.tried_schedules import take_tried


@dataclass(frozen=True)
class LoopApplySchedulesPass(ModulePass):
    """Apply each kernel's `loop.schedule`, primitive by primitive, and drop the attribute.

    A schedule is data on the kernel, so that the same text is what a test writes, what a tuning record stores and
    what a report shows; this pass is where it becomes code. A kernel whose schedule has been tried in the same
    compilation becomes the copy on which it was tried. Kernels without one stay as they are.

    ```
    func.func private @k(…) attributes {loop.kernel, loop.schedule = #loop.schedule<[split("w", 14)]>} {
      loop.for "w" %w to 56 {…}
    ```
    becomes
    ```
    func.func private @k(…) attributes {loop.kernel} {
      loop.for "w_o" %w_o to 4 {
        loop.for "w_i" %w_i to 14 {…}
    ```

    Refuses (`ScheduleError`) where a primitive is not legal, naming kernel, step, primitive, loop, reason and advice.
    """

    name = "loop-apply-schedules"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedule every kernel of the module."""
        for kernel in kernels_of(op):
            schedule = kernel.attributes.get(SCHEDULE)
            if schedule is None:
                continue
            if not isinstance(schedule, ScheduleAttr):
                raise PassError(f"@{kernel.sym_name.data}: {SCHEDULE} is {schedule}", help="write #loop.schedule<[…]>")
            if not take_tried(kernel, schedule):
                apply_schedule(kernel, schedule.data)
            del kernel.attributes[SCHEDULE]
