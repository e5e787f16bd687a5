"""Scheduling from Python: apply primitives to a kernel one by one, and keep them as data.

schedule = Schedule(kernel).split("ow", 14).reorder("ow_o", "oc", "ow_i").vectorize("oc")
schedule.attr          # #loop.schedule<[split("ow", 14), …]>: what a test writes and a tuning record stores
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.attribute_names import LOOP_KERNEL
from xrelay.dialects.loop import LOCAL, ScheduleAttr, SchedulePrimitive, Tail
from xrelay.dialects.loop.schedule import (
    CacheWrite,
    ComputeAt,
    DisableUnroll,
    Fuse,
    Parallelize,
    Reorder,
    SetTail,
    Split,
    Tile,
    Unroll,
    Vectorize,
)
from xrelay.errors import ScheduleError
from xrelay.passes.loop.primitives import apply_primitive


class Schedule:
    """A kernel being scheduled. Every method changes the kernel at once, records the primitive and returns self.

    Each raises `ScheduleError`, and leaves kernel and record alone, where the primitive is not legal.
    """

    kernel: func.FuncOp
    primitives: list[SchedulePrimitive]

    def __init__(self, kernel: func.FuncOp):
        self.kernel, self.primitives = kernel, []

    @property
    def attr(self) -> ScheduleAttr:
        """What has been applied so far."""
        return ScheduleAttr(self.primitives)

    def apply(self, *steps: SchedulePrimitive) -> Self:
        """Apply primitives given as data."""
        for step in steps:
            apply_primitive(self.kernel, step)
            self.primitives.append(step)
        return self

    def split(self, loop: str, factor: int, *, tail: Tail = Tail.PEEL, names: tuple[str, ...] = ()) -> Self:
        """See `passes/loop/primitives/split.py`."""
        return self.apply(Split(loop, factor, tail, names))

    def fuse(self, outer: str, inner: str, name: str | None = None) -> Self:
        """See `passes/loop/primitives/fuse.py`."""
        return self.apply(Fuse(outer, inner, name))

    def reorder(self, *loops: str) -> Self:
        """See `passes/loop/primitives/reorder.py`."""
        return self.apply(Reorder(loops))

    def tile(self, outer: str, inner: str, outer_factor: int, inner_factor: int, *, tail: Tail = Tail.PEEL) -> Self:
        """See `passes/loop/primitives/tile.py`."""
        return self.apply(Tile(outer, inner, outer_factor, inner_factor, tail))

    def unroll(self, loop: str) -> Self:
        """See `passes/loop/primitives/unroll.py`."""
        return self.apply(Unroll(loop))

    def vectorize(self, loop: str) -> Self:
        """See `passes/loop/primitives/vectorize.py`."""
        return self.apply(Vectorize(loop))

    def parallelize(self, loop: str) -> Self:
        """See `passes/loop/primitives/parallelize.py`."""
        return self.apply(Parallelize(loop))

    def cache_write(self, block: str, *, space: str = LOCAL, names: tuple[str, ...] = ()) -> Self:
        """See `passes/loop/primitives/cache_write.py`."""
        return self.apply(CacheWrite(block, space, names))

    def compute_at(self, block: str, loop: str) -> Self:
        """See `passes/loop/primitives/compute_at.py`."""
        return self.apply(ComputeAt(block, loop))

    def set_tail(self, loop: str, tail: Tail) -> Self:
        """See `passes/loop/primitives/set_tail.py`."""
        return self.apply(SetTail(loop, tail))

    def disable_unroll(self, loop: str) -> Self:
        """See `passes/loop/primitives/disable_unroll.py`."""
        return self.apply(DisableUnroll(loop))


def apply_schedule(kernel: func.FuncOp, steps: Iterable[SchedulePrimitive]) -> Schedule:
    """Apply primitives to a kernel; an error names the kernel and the number of the step."""
    schedule = Schedule(kernel)
    for number, step in enumerate(steps, 1):
        try:
            schedule.apply(step)
        except ScheduleError as error:
            place = f"@{kernel.sym_name.data}, step {number}"
            raise ScheduleError(error.message, location=place, help=error.help) from error
    return schedule


def kernels_of(module: ModuleOp) -> list[func.FuncOp]:
    """The kernels of a module: the functions marked `loop.kernel`, in order."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and LOOP_KERNEL in op.attributes]
