"""`loop-apply-schedules`: applies the schedule attribute of each kernel."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.errors import PassError
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.schedule import apply_schedule


@dataclass(frozen=True)
class LoopApplySchedulesPass(XRelayPass):
    """Applies each kernel's `loop.schedule`, primitive by primitive, and removes the attribute.

    A schedule is data on the kernel: tests, tuning records and reports use the same text. Kernels without a
    schedule stay unchanged.

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

    Raises `ScheduleError` if a primitive is not legal, with kernel, step, primitive, loop, reason and advice.
    """

    name = "loop-apply-schedules"
    numerics = REORDERS_SUMS
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedules every kernel of the module."""
        for kernel in kernels_of(op):
            schedule = kernel.attributes.get(SCHEDULE)
            if schedule is None:
                continue
            if not isinstance(schedule, ScheduleAttr):
                raise PassError(f"@{kernel.sym_name.data}: {SCHEDULE} is {schedule}", help="write #loop.schedule<[…]>")
            apply_schedule(kernel, schedule.data)
            del kernel.attributes[SCHEDULE]
