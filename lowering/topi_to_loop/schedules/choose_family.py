"""Choosing the schedule of a kernel: the first family that takes it makes it, with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from xdsl.dialects import func

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.op_making import copy
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.batch_matmul import schedule_batch_matmul
from xrelay.lowering.topi_to_loop.schedules.conv2d_nchw import schedule_conv2d_nchw
from xrelay.lowering.topi_to_loop.schedules.conv2d_nchwc import schedule_conv2d_nchwc
from xrelay.lowering.topi_to_loop.schedules.dense_packed import schedule_dense
from xrelay.lowering.topi_to_loop.schedules.injective import schedule_injective
from xrelay.lowering.topi_to_loop.schedules.long_sums import split_long_sums
from xrelay.lowering.topi_to_loop.schedules.pool import schedule_pool
from xrelay.lowering.topi_to_loop.schedules.reduction import schedule_reductions
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.softmax import schedule_softmax
from xrelay.plugins import load_plugins
from xrelay.registrations import note_caller, note_registration
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
"""xrelay's own families, in the order in which they are tried."""

REGISTERED: dict[str, Family] = {}
"""The families of other packages and of programs, the latest first; `register_family` adds one."""

NO_FAMILY: Final = "none"
"""The family of a kernel that none takes."""

Origin = Literal["all", "registered", "own"]
"""Which families are tried."""


def register_family(name: str, family: Family) -> None:
    """Tries `family` before all others; for schedules of other packages. A name that is taken is replaced."""
    others = {other: known for other, known in REGISTERED.items() if other != name}
    REGISTERED.clear()
    REGISTERED.update({name: family, **others})
    note_registration(family)
    note_caller()


def families_of(origin: Origin) -> dict[str, Family]:
    """Returns the families of an origin by name, in the order in which they are tried.

    A registered family hides the own one of its name. Loads the installed plug-ins.
    """
    load_plugins("schedules")
    registered = dict(REGISTERED) if origin != "own" else {}
    own = {name: family for name, family in FAMILIES.items() if name not in REGISTERED}
    return {**registered, **(own if origin != "registered" else {})}


@dataclass(frozen=True)
class KernelSchedule:
    """The primitives for a kernel, the family that chose them, why, and a copy of the kernel with them applied."""

    family: str
    """`NO_FAMILY` if none takes the kernel."""
    schedule: ScheduleAttr
    reason: str
    scheduled: func.FuncOp
    refused: Mapping[str, str]
    """Why the schedules of other families are not legal, by family."""


def schedule_kernel(kernel: func.FuncOp, target: Target, origin: Origin = "all") -> KernelSchedule:
    """Returns the schedule of a kernel on a target, of the first family that takes it. The kernel is not changed.

    A family whose schedule is not legal is passed over, and the reason names it.
    """
    refused: dict[str, str] = {}
    draft = ScheduleDraft(kernel, target)
    for name, family in families_of(origin).items():
        if not draft.is_fresh:
            draft = ScheduleDraft(kernel, target)
        try:
            if taken := family(draft):
                split_long_sums(draft)
        except ScheduleError as error:
            refused[name] = error.message
            continue
        if taken:
            reason = f"{name}: {_reason(draft.reasons, refused)}"
            return KernelSchedule(name, draft.schedule.attr, reason, draft.kernel, refused)
    reason = _reason([f"{NO_FAMILY}: no family takes the kernel"], refused)
    return KernelSchedule(NO_FAMILY, ScheduleAttr([]), reason, copy(kernel), refused)


def _reason(reasons: Sequence[str], refused: Mapping[str, str]) -> str:
    return "; ".join([*reasons, *(f"{name} gave up: {why}" for name, why in refused.items())])
