"""`loop-schedule-kernels`: assigns a schedule to each kernel that has none, and applies it."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.lowering.topi_to_loop.schedules.choose_family import schedule_kernel
from xrelay.passes.infra.conversion import dispose
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.target import Target


@dataclass(frozen=True)
class LoopScheduleKernelsPass(XRelayPass):
    """Replaces each kernel without a schedule by its scheduled form, with the reason for it and the expected cycles.

    ```
    func.func private @k(…) attributes {loop.kernel} {
      loop.for "w" %w to 56 {…}
    ```
    becomes
    ```
    func.func private @k(…) attributes {loop.kernel, loop.schedule_reason = "…", loop.schedule_cycles = 51200 : i64} {
      loop.for "w_o" %w_o to 4 {
        loop.for "w_i" %w_i to 14 {…}
    ```

    The result is that of `loop-assign-schedules{families=own}` and `loop-apply-schedules`. The first of these passes
    tries each primitive on a copy of the kernel, and the second repeats them on the kernel, which takes up to a tenth
    of the time to compile it. This pass keeps the copy. The compiler runs it on kernels in modules of their own, whose
    schedules no other pass reads. Kernels that have a schedule stay unchanged, for `loop-apply-schedules`.

    The `target` has the syntax of `Target.parse`, in quotes: `loop-schedule-kernels{target="cpu -mcpu=znver4"}`.
    """

    name = "loop-schedule-kernels"
    numerics = REORDERS_SUMS

    target: str = field(default="cpu", metadata={"help": "the CPU, e.g. 'cpu -mcpu=znver4 -num-threads=2'"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedules the kernels of the module in place."""
        target = Target.parse(self.target)
        for kernel in kernels_of(op):
            if SCHEDULE not in kernel.attributes:
                chosen = schedule_kernel(kernel, target, "own")
                chosen.describe(chosen.scheduled)
                dispose(kernel.detach_region(0))
                Rewriter.replace_op(kernel, chosen.scheduled, [])
