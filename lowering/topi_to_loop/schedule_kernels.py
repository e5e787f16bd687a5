"""`loop-schedule-kernels`: assigns a schedule to each kernel that has none, and applies it."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.lowering.kernel_work import record_work
from xrelay.lowering.topi_to_loop.schedules.shared_schedules import schedule_kernels
from xrelay.passes.infra.conversion import dispose
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass
from xrelay.passes.loop.merge_kernels import LoopMergeKernelsPass
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.parametrize_kernels import replace_kernels
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

    The result is that of `loop-assign-schedules{families=own}`, `loop-merge-kernels`, `loop-parametrize-kernels` and
    `loop-apply-schedules`. The first of these passes tries each primitive on a copy of the kernel, and the last repeats
    them on the kernel, which takes up to a tenth of the time to compile it. This pass keeps the copy. The compiler runs
    it with `only-merged` on the module, and then on the other kernels in modules of their own.

    Kernels that have a schedule stay unchanged, unless they become one with others. The others have the empty schedule
    afterwards, and the attribute `loop.work` holds the operations and bytes that their loops had before.

    The `target` has the syntax of `Target.parse`, in quotes: `loop-schedule-kernels{target="cpu -mcpu=znver4"}`.
    """

    name = "loop-schedule-kernels"
    numerics = REORDERS_SUMS

    target: str = field(default="cpu", metadata={"help": "the CPU, e.g. 'cpu -mcpu=znver4 -num-threads=2'"})

    only_merged: bool = field(
        default=False, metadata={"help": "leave kernels unchanged that cannot become one with others"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedules the kernels of the module in place."""
        target = Target.parse(self.target)
        kernels = [kernel for kernel in kernels_of(op) if SCHEDULE not in kernel.attributes]
        chosen = schedule_kernels(op, kernels, target, "own", only_merged=self.only_merged)
        for kernel, choice in chosen.items():
            kernel.attributes[SCHEDULE] = choice.schedule
            choice.describe(kernel)
        LoopMergeKernelsPass().apply(ctx, op)
        merged = replace_kernels(op, [choice.merged for choice in chosen.values() if choice.merged is not None])
        for each in merged:
            _replace(each.kernel, each.scheduled)
        for kernel, choice in chosen.items():
            if choice.scheduled is None:
                continue
            if kernel.parent is None:
                dispose(choice.scheduled.detach_region(0))
            else:
                _replace(kernel, choice.scheduled)


def _replace(kernel: FuncOp, scheduled: FuncOp) -> None:
    """Replaces a kernel by its scheduled copy, which gets its attributes, its work and the empty schedule."""
    record_work(kernel, scheduled)
    scheduled.attributes |= kernel.attributes
    scheduled.attributes[SCHEDULE] = ScheduleAttr([])
    scheduled.arg_attrs = kernel.arg_attrs
    dispose(kernel.detach_region(0))
    Rewriter.replace_op(kernel, scheduled, [])
