"""Compilation of kernel bodies to Python closures: loops, blocks, conditions, accesses and scalar ops."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np
from xdsl.dialects import func, memref, scf
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, IterKind, LoadOp, SortOp, StoreOp, SuppressOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import range_of
from xrelay.dialects.shared.numerics import stable_order
from xrelay.interpreters.loop.accesses import Axis, LaneAccesses, compile_load, compile_store
from xrelay.interpreters.loop.filtering import Branch, is_buffer, outer_values, run_both, run_filtered
from xrelay.interpreters.loop.frame import Array, Frame, Slots, Step, compile_index, is_lanes, outside
from xrelay.interpreters.loop.lane_loops import indices_of, lane_loops
from xrelay.interpreters.scalar import Value, compile_scalar, numpy_dtype
from xrelay.interpreters.suppression import selected_boxes


def compile_sort(op: SortOp, slots: Slots) -> Step:
    """Compiles the sort of the row at the current indices, which raises `InterpreterError` if they are out of range."""
    axis, descending = op.axis.value.data, op.descending is not None
    row_slots = [slots.use(index) for index in op.row]
    source, values, indices = (slots.use(buffer) for buffer in (op.source, op.values, op.indices))

    def sort(frame: Frame) -> None:
        row = [int(frame[slot]) for slot in row_slots]
        at = (*row[:axis], slice(None), *row[axis:])
        shape = frame[source].shape
        for dimension, (index, size) in enumerate(zip(at, shape, strict=True)):
            if isinstance(index, int) and not 0 <= index < size:
                raise outside(op, dimension, index, index, shape)
        keys = frame[source][at]
        order = stable_order(keys, descending=descending)[: frame[values].shape[axis]]
        frame[values][at], frame[indices][at] = keys[order], order

    return sort


def compile_suppress(op: SuppressOp, slots: Slots) -> Step:
    """Compiles the selection in the current row, which raises `InterpreterError` if its indices are out of range."""
    numbers = [slots.use(index) for index in op.numbers]
    reads, kept = [slots.use(buffer) for buffer in op.read_buffers], slots.use(op.kept)

    def suppress(frame: Frame) -> None:
        row = tuple(int(frame[slot]) for slot in numbers)
        shape = frame[kept].shape
        for dimension, (index, size) in enumerate(zip(row, shape, strict=False)):
            if not 0 <= index < size:
                raise outside(op, dimension, index, index, shape)
        sides, order, scores, *limits = (frame[slot] for slot in reads)
        frame[kept][row] = selected_boxes(sides[row[0]], order[row], scores[row], *limits)

    return suppress


class BodyCompiler:
    """Compiles the ops of one kernel.

    Without `same`, iterations run one by one in program order. It maps each buffer argument to the first that is the
    same buffer; other arguments must not overlap.
    """

    slots: Slots

    def __init__(self, kernel: Block, same: Mapping[SSAValue, SSAValue] | None):
        self.slots = Slots()
        self._same: Mapping[SSAValue, SSAValue] = {} if same is None else same
        self._lane_loops = {} if same is None else lane_loops(kernel, same)
        self._written = {self._same.get(op.memref, op.memref) for op in kernel.walk() if isinstance(op, StoreOp)}
        self._axes: tuple[Axis, ...] = ()
        self._is_filtered = False
        self._private: dict[SSAValue, int] = {}
        """The number of axes for which buffers that are allocated in lanes have a copy per iteration."""

    def block(self, block: Block) -> Step:
        """Compiles the ops of a block in order, except for the terminator."""
        steps = [self.op(op) for op in block.ops if not isinstance(op, func.ReturnOp | scf.YieldOp)]
        if len(steps) == 1:
            return steps[0]

        def run(frame: Frame) -> None:
            for step in steps:
                step(frame)

        return run

    def op(self, op: Operation) -> Step:
        """Compiles an op."""
        match op:
            case ForOp():
                return self._for(op)
            case BlockOp():
                return self._block(op)
            case LoadOp():
                return self._load(op)
            case StoreOp():
                return self._store(op)
            case SortOp():
                return compile_sort(op, self.slots)
            case SuppressOp():
                return compile_suppress(op, self.slots)
            case scf.IfOp():
                return self._if(op)
            case memref.AllocOp():
                return self._alloc(op)
            case memref.DeallocOp():
                return _nothing
            case _:
                return self._scalar(op)

    def _load(self, op: LoadOp) -> Step:
        if not self._axes:
            return compile_load(op, self.slots)
        is_written = self._same.get(op.memref, op.memref) in self._written
        return self._accesses().load(op, self._private.get(op.memref, 0), is_written=is_written)

    def _store(self, op: StoreOp) -> Step:
        if not self._axes:
            return compile_store(op, self.slots)
        return self._accesses().store(op, self._private.get(op.memref, 0))

    def _accesses(self) -> LaneAccesses:
        return LaneAccesses(self.slots, self._axes, self._is_filtered)

    def _for(self, op: ForOp) -> Step:
        if op in self._lane_loops:
            return self._lanes(op, op.extent or 0, self._lane_loops[op])
        extent = op.extent
        bound = None if op.dynamic_extent is None else self.slots.use(op.dynamic_extent)
        index = self.slots.define(op.index)
        body = self.block(op.body.block)

        def loop(frame: Frame) -> None:
            count = int(frame[bound]) if bound is not None else extent
            for value in range(count if count is not None else 0):
                frame[index] = value
                body(frame)

        return loop

    def _lanes(self, op: ForOp, extent: int, at_once: int) -> Step:
        axis = Axis(op.index, self.slots.define(op.index), self.slots.add(), self.slots.add())
        outer = self._axes
        self._axes = (*outer, axis)
        body = self.block(op.body.block)
        self._axes = outer

        def loop(frame: Frame) -> None:
            for start in range(0, extent, at_once):
                axis.set(frame, start, min(at_once, extent - start), len(outer))
                body(frame)

        return loop

    @contextmanager
    def _filtering(self, value: bool) -> Generator[None]:
        """Compiles ops that may run in some of the lanes only, if `value` is true."""
        before = self._is_filtered
        self._is_filtered = before or value
        yield
        self._is_filtered = before

    def _parts(self, op: BlockOp) -> tuple[list[int], Step | None, Step]:
        """Returns the slots of the variables (shared by init and body), and the compiled init and body."""
        variables = [self.slots.define(variable) for variable in op.variables]
        init = None
        if op.has_init:
            inner = [self.slots.define(argument) for argument in op.init.block.args]
            init = _with_copies(self.block(op.init.block), [variables[k] for k in op.spatial], inner)
        return variables, init, self.block(op.body.block)

    def _block(self, op: BlockOp) -> Step:
        bindings = compile_index(op.bindings, self.slots)
        reduce = [k for k, kind in enumerate(op.kinds) if kind is not IterKind.SPATIAL]
        with self._filtering(bool(self._axes) and not _is_inside(op)):
            variables, init, body = self._parts(op)
        parts = [(variable, self._limit(extent)) for variable, extent in zip(variables, op.extents, strict=True)]
        reduce_slots = [variables[k] for k in reduce]
        outer = [*variables, *self._outer_slots(op.body.block), *(self._outer_slots(op.init.block) if init else ())]

        def point(frame: Frame) -> None:
            if init is not None and not any(frame[slot] for slot in reduce_slots):
                init(frame)
            body(frame)

        def block(frame: Frame) -> None:
            inside: Value = True
            for value, (variable, limit) in zip(bindings(frame), parts, strict=True):
                inside = inside & (value >= 0) & (value < limit(frame))
                frame[variable] = value
            if np.all(inside):
                point(frame)
            elif np.any(inside):
                run_filtered(frame, np.asarray(inside), outer, point)

        return block

    def _limit(self, extent: Extent) -> Callable[[Frame], float]:
        """Compiles the upper bound of a block's variable: a number, the value of an extent, or infinity."""
        if isinstance(extent, int):
            limit = inf if extent == DYNAMIC else extent
            return lambda frame: limit
        slot = self.slots.use(extent)
        return lambda frame: int(frame[slot])

    def _alloc(self, op: memref.AllocOp) -> Step:
        type = memref_type(op.memref)
        shape, dtype = type.get_shape(), numpy_dtype(type.element_type)
        given = [self.slots.use(size) for size in op.dynamic_sizes]
        result = self.slots.define(op.memref)
        axes = self._axes
        self._private[op.memref] = len(axes)

        def alloc(frame: Frame) -> None:
            known = iter(given)
            copies = [frame[axis.count] for axis in axes]
            sizes = [size if size >= 0 else int(frame[next(known)]) for size in shape]
            frame[result] = undefined([*copies, *sizes], dtype)

        return alloc

    def _scalar(self, op: Operation) -> Step:
        function = compile_scalar(op)
        operands = [self.slots.use(operand) for operand in op.operands]
        result = self.slots.define(op.results[0])

        if len(operands) == 2:
            first, second = operands

            def binary(frame: Frame) -> None:
                frame[result] = function(frame[first], frame[second])

            return binary

        def scalar(frame: Frame) -> None:
            frame[result] = function(*[frame[slot] for slot in operands])

        return scalar

    def _if(self, op: scf.IfOp) -> Step:
        condition = self.slots.use(op.cond)
        with self._filtering(not indices_of(op.cond).isdisjoint(axis.index for axis in self._axes)):
            branches = [self._branch(region.block if region.blocks else None) for region in op.regions]
        results = [(self.slots.define(r), numpy_dtype(r.type)) for r in op.results]

        def run(frame: Frame) -> None:
            chosen = frame[condition]
            if not is_lanes(chosen) or chosen.all() or not chosen.any():
                step, yields, _ = branches[0 if np.all(chosen) else 1]
                step(frame)
                values = [frame[slot] for slot in yields]
            else:
                values = run_both(frame, chosen, branches, [dtype for _, dtype in results])
            for (slot, _), value in zip(results, values, strict=True):
                frame[slot] = value

        return run

    def _branch(self, block: Block | None) -> Branch:
        if block is None:
            return _nothing, [], []
        step = self.block(block)
        last = block.last_op
        yields = [self.slots.use(value) for value in last.operands] if isinstance(last, scf.YieldOp) else []
        return step, yields, self._outer_slots(block)

    def _outer_slots(self, block: Block) -> list[int]:
        """Returns the slots of outer values that differ between lanes and are used in `block`.

        A buffer with a copy for each iteration uses the indices of the loops around its allocation.
        """
        used = outer_values(block)
        copies = max((self._private.get(value, 0) for value in used), default=0)
        indices = [axis.slot for axis in self._axes[:copies]]
        return [*indices, *(self.slots.use(value) for value in used if not is_buffer(value))]


def _is_inside(block: BlockOp) -> bool:
    """Returns whether the values of all variables of a block are provably in its domain."""
    for k, extent in enumerate(block.extents):
        interval = range_of(block.bindings[k])
        if interval is None or interval[0] < 0 or not isinstance(extent, int):
            return False
        if extent != DYNAMIC and interval[1] >= extent:
            return False
    return True


def undefined(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Returns a buffer of undefined elements: NaN or the greatest integer, so that a read of them is noticed."""
    if dtype.kind in "biu":
        return np.full(shape, True if dtype.kind == "b" else np.iinfo(dtype).max, dtype)
    return np.full(shape, np.nan, dtype)


def _nothing(frame: Frame) -> None:
    """Does nothing, for ops without effect."""


def _with_copies(step: Step, sources: Sequence[int], targets: Sequence[int]) -> Step:
    def run(frame: Frame) -> None:
        for source, target in zip(sources, targets, strict=True):
            frame[target] = frame[source]
        step(frame)

    return run
