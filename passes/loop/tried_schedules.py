"""Kernels that `loop-assign-schedules` has scheduled on trial, kept for `loop-apply-schedules`.

A schedule is found by applying primitives to a copy of the kernel. Inside `keep_tried_schedules` this copy is kept
until the schedule is applied. It is used only if kernel and schedule are unchanged. If a pass changes one of them, or a
module is read from text, the primitives of the attribute are applied again.
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
from xrelay.dialects.shared.op_lists import all_ops, defined_values
from xrelay.passes.infra.conversion import dispose

_NO_PART_OF_IT = frozenset({SCHEDULE, SCHEDULE_REASON, SOURCES})
"""Attributes of a kernel that no primitive reads."""


@dataclass(frozen=True)
class _Tried:
    """A kernel's schedule, the state of the kernel at that time, and the scheduled copy."""

    schedule: ScheduleAttr
    state: list[object]
    copy: func.FuncOp


_KEPT: ContextVar[dict[func.FuncOp, _Tried] | None] = ContextVar("tried_schedules", default=None)


@contextmanager
def keep_tried_schedules() -> Generator[None]:
    """Keeps scheduled copies of kernels inside of `with`; unused copies are dropped at the end."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def keep_tried(kernel: func.FuncOp, schedule: ScheduleAttr, copy: func.FuncOp) -> None:
    """Stores `copy`, which is `kernel` with `schedule` applied; does nothing outside of `keep_tried_schedules`."""
    if (kept := _KEPT.get()) is not None:
        kept[kernel] = _Tried(schedule, _state_of(kernel), copy)


def take_tried(kernel: func.FuncOp, schedule: ScheduleAttr) -> bool:
    """Replaces the body of `kernel` by the scheduled body, or returns False if none fits the current kernel."""
    kept = _KEPT.get()
    tried = None if kept is None else kept.pop(kernel, None)
    if tried is None or tried.schedule != schedule or tried.state != _state_of(kernel):
        return False
    plain = kernel.detach_region(0)
    kernel.add_region(tried.copy.detach_region(0))
    dispose(plain)
    return True


def _state_of(kernel: func.FuncOp) -> list[object]:
    """The state of a kernel for comparison; ops and values are compared by identity, which is quick."""
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
