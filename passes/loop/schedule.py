"""Scheduling from Python: applies primitives to a kernel one by one and records them as data.

schedule = Schedule(kernel).split("ow", 14).reorder("ow_o", "oc", "ow_i").vectorize("oc")
schedule.attr          # #loop.schedule<[split("ow", 14), …]>: the form of tests and tuning records
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, ParamSpec, Self

from xdsl.dialects import func

from xrelay.dialects.loop import ScheduleAttr, SchedulePrimitive
from xrelay.dialects.loop.schedule import (
    CacheInplace,
    CacheRead,
    CacheWrite,
    ComputeAt,
    Contract,
    Cut,
    DisableUnroll,
    ExitEarly,
    Fuse,
    Guard,
    Parallelize,
    PartialSums,
    Prefetch,
    Reorder,
    ReverseComputeAt,
    Rfactor,
    SetTail,
    ShareResult,
    Split,
    StorageAlign,
    Tensorize,
    Tile,
    Unroll,
    Vectorize,
)
from xrelay.errors import ScheduleError
from xrelay.passes.loop.primitives.rewrites import apply_primitive

Arguments = ParamSpec("Arguments")


class _Method(Generic[Arguments]):
    """A method of `Schedule` that applies a primitive; it has the parameters of the primitive's class."""

    def __init__(self, primitive: Callable[Arguments, SchedulePrimitive]):
        self._primitive = primitive
        self.__doc__ = primitive.__doc__

    def __get__(self, schedule: Schedule, owner: type[Schedule]) -> Callable[Arguments, Schedule]:
        def method(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Schedule:
            return schedule.apply(self._primitive(*args, **kwargs))

        return method


class Schedule:
    """The schedule of a kernel. Every method applies a primitive to the kernel, records it and returns self.

    If the primitive is not legal, the method raises `ScheduleError` and leaves kernel and record unchanged.
    """

    kernel: func.FuncOp
    primitives: list[SchedulePrimitive]

    def __init__(self, kernel: func.FuncOp):
        self.kernel, self.primitives = kernel, []

    @property
    def attr(self) -> ScheduleAttr:
        """The primitives applied so far."""
        return ScheduleAttr(self.primitives)

    def apply(self, *steps: SchedulePrimitive) -> Self:
        """Applies primitives given as data."""
        for step in steps:
            self.apply_one(step)
        return self

    def apply_one(self, step: SchedulePrimitive) -> Sequence[str]:
        """Applies a primitive; returns the names of the loops and blocks that it made.

        A name is unique in a kernel, and identifies a loop also after another primitive has replaced its op.
        """
        made = apply_primitive(self.kernel, step)
        self.primitives.append(step)
        return made

    split = _Method(Split)
    cut = _Method(Cut)
    fuse = _Method(Fuse)
    tile = _Method(Tile)
    guard = _Method(Guard)
    unroll = _Method(Unroll)
    vectorize = _Method(Vectorize)
    contract = _Method(Contract)
    tensorize = _Method(Tensorize)
    exit_early = _Method(ExitEarly)
    parallelize = _Method(Parallelize)
    cache_read = _Method(CacheRead)
    cache_write = _Method(CacheWrite)
    cache_inplace = _Method(CacheInplace)
    compute_at = _Method(ComputeAt)
    reverse_compute_at = _Method(ReverseComputeAt)
    partial_sums = _Method(PartialSums)
    share_result = _Method(ShareResult)
    storage_align = _Method(StorageAlign)
    rfactor = _Method(Rfactor)
    set_tail = _Method(SetTail)
    disable_unroll = _Method(DisableUnroll)
    prefetch = _Method(Prefetch)

    def reorder(self, *loops: str) -> Self:
        """Applies `Reorder`; the loops are separate arguments, as in the text."""
        return self.apply(Reorder(loops))


def apply_schedule(kernel: func.FuncOp, steps: Iterable[SchedulePrimitive]) -> Schedule:
    """Applies primitives to a kernel; an error names the kernel and the number of the step."""
    schedule = Schedule(kernel)
    for number, step in enumerate(steps, 1):
        try:
            schedule.apply(step)
        except ScheduleError as error:
            place = f"@{kernel.sym_name.data}, step {number}"
            raise ScheduleError(error.message, location=place, help=error.help) from error
    return schedule
