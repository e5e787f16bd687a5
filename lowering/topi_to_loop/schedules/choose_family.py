"""Choosing the schedule of a kernel: the first family that takes it makes it, with its reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import func

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.op_making import copy
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.batch_matmul import schedule_batch_matmul
from xrelay.lowering.topi_to_loop.schedules.conv2d_nchw import schedule_conv2d_nchw
from xrelay.lowering.topi_to_loop.schedules.conv2d_nchwc import schedule_conv2d_nchwc
from xrelay.lowering.topi_to_loop.schedules.dense_packed import schedule_dense
from xrelay.lowering.topi_to_loop.schedules.injective import schedule_injective
from xrelay.lowering.topi_to_loop.schedules.pool import schedule_pool
from xrelay.lowering.topi_to_loop.schedules.reduction import schedule_reductions
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.softmax import schedule_softmax
from xrelay.plugins import load_plugins
from xrelay.registrations import note_registration
from xrelay.target import Target

Family = Callable[[ScheduleDraft], bool]
"""Schedules the kernel of a draft and says True, or says False where the kernel is none of its own.

It changes the kernel by primitives of the draft alone: what they made of the copy is compiled."""

FAMILIES: dict[str, Family] = {
    "conv2d_nchwc": schedule_conv2d_nchwc,
    "conv2d_nchw": schedule_conv2d_nchw,
    "dense": schedule_dense,
    "batch_matmul": schedule_batch_matmul,
    "pool": schedule_pool,
    "softmax": schedule_softmax,
    "reduction": schedule_reductions,
    "injective": schedule_injective,
}
"""In the order in which they are asked; `register_family` puts one in front."""


def register_family(name: str, family: Family) -> None:
    """Asks `family` before all others; for schedules of other packages. A name that is taken is replaced."""
    others = {other: known for other, known in FAMILIES.items() if other != name}
    FAMILIES.clear()
    FAMILIES.update({name: family, **others})
    note_registration(family)


@dataclass(frozen=True)
class KernelSchedule:
    """The primitives for a kernel, the family that chose them, why, and a copy of the kernel with them applied."""

    family: str
    schedule: ScheduleAttr
    reason: str
    scheduled: func.FuncOp


def schedule_kernel(kernel: func.FuncOp, target: Target) -> KernelSchedule:
    """The schedule of a kernel on a target; the kernel stays as it is.

    A family whose schedule turns out not to be legal gives up, and the next one is asked; the reason says so.
    """
    load_plugins("schedules")
    refused: list[str] = []
    draft = ScheduleDraft(kernel, target)
    for name, family in FAMILIES.items():
        if not draft.is_fresh:
            draft = ScheduleDraft(kernel, target)
        try:
            taken = family(draft)
        except ScheduleError as error:
            refused.append(f"{name} gave up: {error.message}")
            continue
        if taken:
            reason = f"{name}: {'; '.join([*draft.reasons, *refused])}"
            return KernelSchedule(name, draft.schedule.attr, reason, draft.kernel)
    reason = "; ".join(["none: no family takes the kernel", *refused])
    return KernelSchedule("none", ScheduleAttr([]), reason, copy(kernel))
