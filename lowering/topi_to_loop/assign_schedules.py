"""`loop-assign-schedules`: every kernel gets the schedule that an analytical model of the target proposes."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xrelay.dialects.attribute_names import SCHEDULE, SCHEDULE_REASON
from xrelay.lowering.topi_to_loop.schedules.choose_family import schedule_kernel
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.tried_schedules import keep_tried
from xrelay.target import Target


@dataclass(frozen=True)
class LoopAssignSchedulesPass(ModulePass):
    """Attaches a schedule to every kernel that has none, as data, with the reason for it.

    ```
    func.func private @k(…) attributes {loop.kernel} {…}
    ```
    becomes
    ```
    func.func private @k(…) attributes {loop.kernel,
        loop.schedule = #loop.schedule<[split("w", 14), …]>,
        loop.schedule_reason = "conv2d_nchwc: 14 columns x 2 blocks of 16 channels = 28 accumulators of 32 registers; …"
    } {…}
    ```

    The nests stay as they are until `loop-apply-schedules`. Each primitive has been tried on a copy of the kernel, so a
    schedule that is assigned can be applied. Kernels that carry a schedule already (written by hand, or tuned) are left
    alone. `target` is what `Target.parse` reads, in quotes: `loop-assign-schedules{target="cpu -mcpu=znver4"}`.
    """

    name = "loop-assign-schedules"

    target: str = field(default="cpu", metadata={"help": "the CPU, e.g. 'cpu -mcpu=znver4 -num-threads=2'"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Annotates the kernels of the module in place."""
        target = Target.parse(self.target)
        for kernel in kernels_of(op):
            if SCHEDULE in kernel.attributes:
                continue
            chosen = schedule_kernel(kernel, target)
            keep_tried(kernel, chosen.schedule, chosen.scheduled)
            kernel.attributes[SCHEDULE] = chosen.schedule
            kernel.attributes[SCHEDULE_REASON] = StringAttr(chosen.reason)
