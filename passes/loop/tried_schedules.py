"""Kernels as `loop-assign-schedules` has scheduled them on trial, for `loop-apply-schedules` to take instead of anew.

A schedule is found by applying primitives to a copy of the kernel. Inside of `keep_tried_schedules` that copy is kept
until the schedule is applied. It counts only while kernel and schedule are what they were: a pass between the two that
changes either, or a module that is read from text, has the primitives applied as the attribute says.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.ir import Operation

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import SCHEDULE, SCHEDULE_REASON, SOURCES
from xrelay.dialects.shared.defined_values import defined_values
from xrelay.dialects.shared.op_lists import all_ops
from xrelay.passes.infra.disposal import dispose

_NO_PART_OF_IT = frozenset({SCHEDULE, SCHEDULE_REASON, SOURCES})
"""Attributes of a kernel that no primitive looks at."""


@dataclass(frozen=True)
class _Tried:
    """A kernel's schedule, what the kernel was then, and the copy to which the schedule has been applied."""

    schedule: ScheduleAttr
    state: list[object]
    copy: func.FuncOp


_KEPT: ContextVar[dict[func.FuncOp, _Tried] | None] = ContextVar("tried_schedules", default=None)


@contextmanager
def keep_tried_schedules() -> Generator[None]:
    """Keeps scheduled copies of kernels inside of `with`; at its end those that nobody took go."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def keep_tried(kernel: func.FuncOp, schedule: ScheduleAttr, copy: func.FuncOp) -> None:
    """Notes that `copy` is `kernel` with `schedule` applied; outside of `keep_tried_schedules` it does nothing."""
    if (kept := _KEPT.get()) is not None:
        kept[kernel] = _Tried(schedule, _state_of(kernel), copy)


def take_tried(kernel: func.FuncOp, schedule: ScheduleAttr) -> bool:
    """Gives `kernel` the body to which `schedule` has been applied; False where there is none, or it has changed."""
    kept = _KEPT.get()
    tried = None if kept is None else kept.pop(kernel, None)
    if tried is None or tried.schedule != schedule or tried.state != _state_of(kernel):
        return False
    plain = kernel.detach_region(0)
    kernel.add_region(tried.copy.detach_region(0))
    dispose(plain)
    return True


def _state_of(kernel: func.FuncOp) -> list[object]:
    """All that the text of a kernel says; ops and values stand for themselves, so that comparing is quick."""
    attributes = {name: value for name, value in kernel.attributes.items() if name not in _NO_PART_OF_IT}
    return [attributes, *(part for op in all_ops(kernel) for part in _parts(op, is_kernel=op is kernel))]


def _parts(op: Operation, *, is_kernel: bool) -> tuple[object, ...]:
    values = defined_values(op)
    return (
        op,
        op.location,
        None if is_kernel else dict(op.attributes),
        dict(op.properties),
        tuple(op.operands),
        values,
        [(value.type, value.name_hint) for value in values],
    )
