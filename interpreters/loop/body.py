"""Compilation of kernel bodies to Python closures: loops, blocks, conditions, accesses and scalar ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, IterKind, LoadOp, SortOp, StoreOp, SuppressOp
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.shared.numerics import stable_order
from xrelay.interpreters.loop.frame import Array, Frame, Slots, Step, compile_index, is_lanes, outside
from xrelay.interpreters.loop.lanes import LaneNest, lane_nest
from xrelay.interpreters.scalar import Value, compile_scalar, numpy_dtype, signless_view
from xrelay.interpreters.suppression import selected_boxes


def compile_load(op: LoadOp, slots: Slots, *, lanes: bool) -> Step:
    """Compiles `loop.load`; with `lanes`, index values may be arrays."""
    buffer, index = slots.use(op.memref), compile_index(op.index, slots)
    result = slots.define(op.result)

    def load(frame: Frame) -> None:
        array, indices = signless_view(frame[buffer]), index(frame)
        if min(indices, default=0) < 0:
            check(op, array, indices)
        try:
            frame[result] = array[indices]
        except IndexError:
            check(op, array, indices)
            raise

    def load_lanes(frame: Frame) -> None:
        array, indices = signless_view(frame[buffer]), index(frame)
        check(op, array, indices)
        flat = _flat(array, indices)
        frame[result] = array[indices] if flat is None else array.reshape(-1).take(flat)

    return load_lanes if lanes else load


def compile_store(op: StoreOp, slots: Slots, *, lanes: bool) -> Step:
    """Compiles `loop.store`; with `lanes`, index values may be arrays."""
    value, buffer = slots.use(op.value), slots.use(op.memref)
    index = compile_index(op.index, slots)

    def store(frame: Frame) -> None:
        array, indices = signless_view(frame[buffer]), index(frame)
        if min(indices, default=0) < 0:
            check(op, array, indices)
        try:
            array[indices] = frame[value]
        except IndexError:
            check(op, array, indices)
            raise

    def store_lanes(frame: Frame) -> None:
        array, indices = signless_view(frame[buffer]), index(frame)
        check(op, array, indices)
        flat = _flat(array, indices)
        if flat is None:
            array[indices] = frame[value]
        else:
            array.reshape(-1)[flat] = frame[value]

    return store_lanes if lanes else store


def check(op: Operation, array: Array, indices: Sequence[Value]) -> None:
    """Raises `InterpreterError` if an index is out of bounds."""
    for dimension, (value, size) in enumerate(zip(indices, array.shape, strict=True)):
        low, high = (int(value.min()), int(value.max())) if is_lanes(value) else (int(value), int(value))
        if low < 0 or high >= size:
            raise outside(op, dimension, low, high, array.shape)


def _flat(array: Array, values: Sequence[Value]) -> Array | None:
    """Returns one linear index for each lane, which numpy indexes much faster than one array for each dimension.

    None for a single element, and for an array that is not contiguous.
    """
    if not array.flags.c_contiguous or not any(is_lanes(value) for value in values):
        return None
    flat: Value = 0
    for value, size in zip(values, array.shape, strict=True):
        flat = flat * size + value
    return np.asarray(flat)


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


Branch: TypeAlias = tuple[Step, list[int], list[int]]
"""The step of a branch, the slots that it yields, and the captured slots that it uses."""


class BodyCompiler:
    """Compiles the ops of one kernel. Without `lanes`, iterations run one by one in program order."""

    slots: Slots
    lanes: bool

    def __init__(self, *, lanes: bool):
        self.slots, self.lanes = Slots(), lanes
        self._in_lanes = False

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
                return compile_load(op, self.slots, lanes=self._in_lanes)
            case StoreOp():
                return compile_store(op, self.slots, lanes=self._in_lanes)
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

    def _for(self, op: ForOp) -> Step:
        nest = lane_nest(op) if self.lanes else None
        if nest is not None:
            return self._lanes(nest)
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

    def _lanes(self, nest: LaneNest) -> Step:
        for loop in nest.loops:
            self.slots.define(loop.index)
        bindings = compile_index(nest.block.bindings, self.slots)
        self._in_lanes = True
        variables, init, body = self._parts(nest.block)
        self._in_lanes = False
        return nest.compile(self.slots, bindings, variables, init, body)

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
        variables, init, body = self._parts(op)
        parts = [(variable, self._limit(extent)) for variable, extent in zip(variables, op.extents, strict=True)]
        reduce_slots = [variables[k] for k in reduce]

        def block(frame: Frame) -> None:
            for value, (variable, limit) in zip(bindings(frame), parts, strict=True):
                if not 0 <= value < limit(frame):
                    return
                frame[variable] = value
            if init is not None and not any(frame[slot] for slot in reduce_slots):
                init(frame)
            body(frame)

        return block

    def _limit(self, extent: Extent) -> Callable[[Frame], float]:
        """Compiles the upper bound of a block's variable: a number, the value of an extent, or infinity."""
        if isinstance(extent, int):
            limit = inf if extent == DYNAMIC else extent
            return lambda frame: limit
        slot = self.slots.use(extent)
        return lambda frame: int(frame[slot])

    def _alloc(self, op: memref.AllocOp) -> Step:
        buffer_type = SSAValue.get(op.memref, type=MemRefType).type
        shape, dtype = buffer_type.get_shape(), numpy_dtype(buffer_type.element_type)
        sizes = [self.slots.use(size) for size in op.dynamic_sizes]
        result = self.slots.define(op.memref)

        def alloc(frame: Frame) -> None:
            known = iter(sizes)
            frame[result] = undefined([size if size >= 0 else int(frame[next(known)]) for size in shape], dtype)

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
        branches = [self._branch(region.block if region.blocks else None) for region in op.regions]
        results = [(self.slots.define(r), numpy_dtype(r.type)) for r in op.results]

        def run(frame: Frame) -> None:
            chosen = frame[condition]
            if not is_lanes(chosen) or chosen.all() or not chosen.any():
                step, yields, _ = branches[0 if np.all(chosen) else 1]
                step(frame)
                values = [frame[slot] for slot in yields]
            else:
                values = _both(frame, chosen, branches, [dtype for _, dtype in results])
            for (slot, _), value in zip(results, values, strict=True):
                frame[slot] = value

        return run

    def _branch(self, block: Block | None) -> Branch:
        if block is None:
            return _nothing, [], []
        step = self.block(block)
        last = block.last_op
        yields = [self.slots.use(value) for value in last.operands] if isinstance(last, scf.YieldOp) else []
        return step, yields, [self.slots.use(value) for value in _captured_values(block)]


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


def _captured_values(block: Block) -> list[SSAValue]:
    """Returns the values that are defined outside of `block` and used in it, except for buffers."""
    inside: set[SSAValue] = set(block.args)
    used: dict[SSAValue, None] = {}
    for op in block.walk():
        inside.update(op.results)
        for region in op.regions:
            for inner in region.blocks:
                inside.update(inner.args)
        used.update(dict.fromkeys(op.operands))
    return [value for value in used if value not in inside and not isa(value.type, MemRefType)]


def _both(frame: Frame, chosen: Array, branches: Sequence[Branch], dtypes: Sequence[np.dtype[Any]]) -> list[Array]:
    """Runs each branch on its own lanes and merges the results."""
    results = [np.empty(chosen.shape, dtype) for dtype in dtypes]
    for lanes, (step, yields, captured) in zip((chosen, ~chosen), branches, strict=True):
        saved = {slot: frame[slot] for slot in captured if is_lanes(frame[slot])}
        for slot, value in saved.items():
            frame[slot] = value[lanes]
        step(frame)
        for result, slot in zip(results, yields, strict=True):
            result[lanes] = frame[slot]
        for slot, value in saved.items():
            frame[slot] = value
    return results
