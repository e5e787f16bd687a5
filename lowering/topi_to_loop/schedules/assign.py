"""Which schedule a kernel gets: the first family that takes it, with its reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import func

from xrelay.dialects.loop import ScheduleAttr
from xrelay.lowering.topi_to_loop.schedules.conv2d_nchw import schedule_conv2d_nchw
from xrelay.lowering.topi_to_loop.schedules.conv2d_nchwc import schedule_conv2d_nchwc
from xrelay.lowering.topi_to_loop.schedules.dense_packed import schedule_dense
from xrelay.lowering.topi_to_loop.schedules.injective import schedule_injective
from xrelay.lowering.topi_to_loop.schedules.plan import Plan
from xrelay.lowering.topi_to_loop.schedules.pool import schedule_pool
from xrelay.lowering.topi_to_loop.schedules.reduction import schedule_reductions
from xrelay.lowering.topi_to_loop.schedules.softmax import schedule_softmax
from xrelay.target import Target

Family = Callable[[Plan], bool]
"""Schedules the kernel of a plan and says True, or says False and leaves the plan alone."""

FAMILIES: dict[str, Family] = {
    "conv2d_nchwc": schedule_conv2d_nchwc,
    "conv2d_nchw": schedule_conv2d_nchw,
    "dense": schedule_dense,
    "pool": schedule_pool,
    "softmax": schedule_softmax,
    "reduction": schedule_reductions,
    "injective": schedule_injective,
}
"""In the order in which they are asked. A family of another package is put in front: `{"mine": f, **FAMILIES}`."""


@dataclass(frozen=True)
class KernelSchedule:
    """The primitives for a kernel, the family that chose them, and why."""

    family: str
    schedule: ScheduleAttr
    reason: str


def schedule_kernel(kernel: func.FuncOp, target: Target) -> KernelSchedule:
    """The schedule of a kernel on a target; the kernel stays as it is."""
    plan = Plan(kernel, target)
    for name, family in FAMILIES.items():
        if family(plan):
            return KernelSchedule(name, plan.schedule.attr, f"{name}: {'; '.join(plan.reasons)}")
    return KernelSchedule("none", ScheduleAttr([]), "none: no family takes the kernel")
