"""Translates the steps of a schedule to primitives on the loops of a kernel.

An axis of one iteration has no loop, so a step on it has no effect. Consumers are scheduled first, since the extents of
a stage that is computed at an axis depend on its consumer's schedule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects import func

from xrelay.dialects.loop import BlockOp, ForOp, SchedulePrimitive
from xrelay.dialects.loop.schedule import (
    CacheWrite,
    ComputeAt,
    Fuse,
    Guard,
    Parallelize,
    Reorder,
    Split,
    Unroll,
    Vectorize,
)
from xrelay.errors import ScheduleError
from xrelay.passes.loop.schedule import Schedule as KernelSchedule
from xrelay.te.expr import IterVar
from xrelay.te.schedule import CacheOp, Schedule, Stage, Step

Loops = dict[IterVar, str | None]
"""The loop of each axis; `None` for an axis of one iteration."""

_MARKS = {"parallel": Parallelize, "unroll": Unroll}


def stage_loops(kernel: func.FuncOp, schedule: Schedule, labels: Mapping[object, str]) -> Loops:
    """Returns the loops of the axes of all computes in the unscheduled kernel."""
    blocks = {op.block_name: op for op in kernel.walk() if isinstance(op, BlockOp)}
    loops: Loops = {}
    for stage in schedule.stages:
        block = blocks.get(labels.get(stage.op, ""))
        if block is not None:
            names = iter(_loops_around(block))
            for axis in (*stage.op.axis, *stage.op.reduce_axis):
                loops[axis] = next(names, None) if axis.extent > 1 else None
    return loops


def _loops_around(block: BlockOp) -> list[str]:
    """Returns the names of the loops around a block, outermost first."""
    names: list[str] = []
    parent = block.parent_op()
    while isinstance(parent, ForOp):
        names.append(parent.loop_name)
        parent = parent.parent_op()
    return names[::-1]


def bind_steps(
    kernel: func.FuncOp, schedule: Schedule, loops: Loops, labels: Mapping[object, str]
) -> list[SchedulePrimitive]:
    """Returns the primitives of all steps, after applying them to `kernel`.

    Raises `ScheduleError` for an illegal step.
    """
    binder = _Binder(kernel, loops, dict(labels))
    for stage in schedule.stages:
        if isinstance(stage.op, CacheOp):
            binder.cache(stage.op)
    for stage in reversed(schedule.stages):
        if stage.op in binder.blocks and not stage.is_inlined:
            binder.attach(stage)
            leaves = [*stage.op.axis, *stage.op.reduce_axis]
            for step in stage.steps:
                binder.step(stage, step, leaves)
                leaves = step.applied(leaves)
    return binder.target.primitives


class _Binder:
    """Applies steps one by one, and tracks the loop of each axis."""

    def __init__(self, kernel: func.FuncOp, loops: Loops, blocks: dict[object, str]):
        self.target, self.loops, self.blocks = KernelSchedule(kernel), loops, blocks

    def cache(self, op: CacheOp) -> None:
        """Computes a tensor in its own buffer. Its existing loops compute the buffer, and new loops copy from it."""
        block = self.blocks[op.of]
        names = tuple(f"{block}_write_{number}" for number in range(len(op.axis)))
        self._apply(op.name, CacheWrite(block, op.scope, names))
        self.blocks[op], self.blocks[op.of] = block, f"{block}_write"
        for axis, old in zip((*op.axis, *op.reduce_axis), (*op.of.axis, *op.of.reduce_axis), strict=True):
            self.loops[axis] = self.loops.get(old)
        for axis, name in zip(op.of.axis, names, strict=True):
            self.loops[axis] = name

    def attach(self, stage: Stage) -> None:
        """Moves a stage into the loop of its consumer axis, or the innermost existing loop around it."""
        if stage.attached is None:
            return
        parent, scope = stage.attached
        leaves = parent.leaf_iter_vars
        around = [self._loop(axis) for axis in leaves[: leaves.index(scope) + 1]]
        loop = next((name for name in reversed(around) if name is not None), None)
        if loop is not None:
            self._apply(stage.op.name, ComputeAt(self.blocks[stage.op], loop))

    def step(self, stage: Stage, step: Step, leaves: list[IterVar]) -> None:
        """Applies one step of a stage whose axes are `leaves`, outermost first."""
        names = [self._loop(axis) for axis in step.taken]
        found = [name for name in names if name is not None]
        if step.kind == "split":
            self._split(stage, step, names[0])
        elif step.kind == "fuse":
            name = found[0] if found else None
            for other in found[1:]:
                self._apply(stage.op.name, Fuse(str(name), other))
                name = f"{name}_{other}"
            self.loops[step.made[0]] = name
        elif step.kind == "reorder":
            self._reorder(stage.op.name, step, leaves)
        elif found and step.kind == "vectorize":
            self._vectorize(stage.op.name, found[0])
        elif found:
            self._apply(stage.op.name, _MARKS[step.kind](found[0]))

    def _reorder(self, stage: str, step: Step, leaves: list[IterVar]) -> None:
        """Reorders the loops of the axes. Axes without a loop count as positions too, so other loops may move."""
        before, after = (self._loops_of(axes) for axes in (leaves, step.applied(leaves)))
        moved = tuple(self._loops_of(step.taken))
        moved_names = iter(moved)
        if [next(moved_names) if name in moved else name for name in before] != after:
            moved = tuple(after)
        if len(moved) > 1:
            self._apply(stage, Reorder(moved))

    def _loops_of(self, axes: Iterable[IterVar]) -> list[str]:
        return [name for axis in axes if (name := self._loop(axis)) is not None]

    def _vectorize(self, stage: str, loop: str) -> None:
        """Vectorises a loop, also if its accesses are not contiguous."""
        try:
            self.target.apply(Vectorize(loop))
        except ScheduleError:
            self._apply(stage, Vectorize(loop, access="any"))

    def _split(self, stage: Stage, step: Step, name: str | None) -> None:
        outer, inner = step.made
        extent = self._extents().get(name, 1) if name is not None else 1
        self.loops[outer] = self.loops[inner] = None
        if name is None:
            return
        if step.factor >= extent:
            self.loops[inner] = name
        elif step.factor == 1:
            self.loops[outer] = name
        else:
            self._apply_guarded(stage.op.name, Split(name, step.factor))
            self.loops[outer], self.loops[inner] = f"{name}_o", f"{name}_i"

    def _apply_guarded(self, stage: str, split: Split) -> None:
        """Splits a loop, with a guard if its blocks do not skip iterations beyond its extent."""
        try:
            self.target.apply(split)
        except ScheduleError:
            self._apply(stage, Guard(split.loop))
            self._apply(stage, split)

    def _loop(self, axis: IterVar) -> str | None:
        """Returns the loop of an axis; `None` if the kernel has no such loop."""
        name = self.loops.get(axis)
        return name if name in self._extents() else None

    def _extents(self) -> dict[str | None, int]:
        return {op.loop_name: _extent(op) for op in self.target.kernel.walk() if isinstance(op, ForOp)}

    def _apply(self, stage: str, primitive: SchedulePrimitive) -> None:
        try:
            self.target.apply(primitive)
        except ScheduleError as error:
            raise ScheduleError(f"stage {stage!r}: {error.message}", help=error.help) from error


def _extent(loop: ForOp) -> int:
    return loop.extent if isinstance(loop.extent, int) else 1 << 62
