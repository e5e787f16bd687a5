"""Selects the schedule of a kernel: the first family that accepts the kernel schedules it and records its reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from xdsl.dialects import func

from xrelay.dialects.loop import ScheduleAttr
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.common_steps import schedule_injective
from xrelay.lowering.topi_to_loop.schedules.conv2d import schedule_conv2d_nchw, schedule_conv2d_nchwc
from xrelay.lowering.topi_to_loop.schedules.matmul import schedule_batch_matmul, schedule_dense
from xrelay.lowering.topi_to_loop.schedules.reduction import schedule_pool, schedule_reductions, split_long_sums
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.softmax import schedule_softmax
from xrelay.plugins import load_plugins
from xrelay.registrations import note_caller, note_registration
from xrelay.target import Target

Family = Callable[[ScheduleDraft], bool]
"""Schedules the kernel of a draft and returns True, or returns False if the family does not apply.

A family changes only the copy of the kernel in the draft, by the primitives of the draft. This copy is compiled.
"""

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
"""The built-in families, in the order in which they are tried."""

REGISTERED: dict[str, Family] = {}
"""The families of other packages and of programs, latest first; `register_family` adds one."""

NO_FAMILY: Final = "none"
"""The family name of a kernel that no family accepts."""

Origin = Literal["all", "registered", "own"]
"""The set of families to try."""


def register_family(name: str, family: Family) -> None:
    """Registers a family of another package; it is tried before all others, and replaces a family of the same name."""
    others = {other: known for other, known in REGISTERED.items() if other != name}
    REGISTERED.clear()
    REGISTERED.update({name: family, **others})
    note_registration(family)
    note_caller()


def families_of(origin: Origin) -> dict[str, Family]:
    """Returns the families of an origin by name, in the order in which they are tried.

    A registered family replaces the built-in family of the same name. Loads the installed plug-ins.
    """
    load_plugins("schedules")
    registered = dict(REGISTERED) if origin != "own" else {}
    own = {name: family for name, family in FAMILIES.items() if name not in REGISTERED}
    return {**registered, **(own if origin != "registered" else {})}


@dataclass(frozen=True)
class KernelSchedule:
    """The primitives for a kernel, the family that chose them, and the reason."""

    family: str
    """`NO_FAMILY` if no family accepts the kernel."""
    schedule: ScheduleAttr
    reason: str
    refused: Mapping[str, str]
    """Reasons why the schedules of other families are not legal, by family."""


def schedule_kernel(kernel: func.FuncOp, target: Target, origin: Origin = "all") -> KernelSchedule:
    """Returns the schedule of a kernel on a target, from the first family that accepts it. Does not change the kernel.

    Families whose schedule is not legal are skipped, and named in the reason.
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
            return KernelSchedule(name, draft.schedule.attr, reason, refused)
    reason = _reason([f"{NO_FAMILY}: no family accepts the kernel"], refused)
    return KernelSchedule(NO_FAMILY, ScheduleAttr([]), reason, refused)


def _reason(reasons: Sequence[str], refused: Mapping[str, str]) -> str:
    return "; ".join([*reasons, *(f"{name} failed: {why}" for name, why in refused.items())])
