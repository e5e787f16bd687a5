"""Accesses of kernels to buffers: of one element, or of the elements of all lanes at once.

Loops that run in lanes are axes of the arrays of values, the innermost loop first, so values of outer loops broadcast.
A value that is equal for all iterations of a loop has one element along its axis. An access whose indices are linear in
the loops is a strided view of the buffer; others gather and scatter elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from xrelay.dialects.loop import LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.extents import in_loop_indices
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.linear_form import LinearForm
from xrelay.interpreters.loop.frame import Array, Frame, Slots, Step, compile_index, is_lanes, outside
from xrelay.interpreters.scalar import Value, signless_view


@dataclass(frozen=True)
class Axis:
    """A loop that runs in lanes: its index, and the slots of the index, of its first value and of their number."""

    index: SSAValue
    slot: int
    start: int
    count: int

    def set(self, frame: Frame, start: int, count: int, outer: int) -> None:
        """Sets the slots to `count` iterations from `start`; the axis is before those of `outer` loops."""
        frame[self.start], frame[self.count] = start, count
        frame[self.slot] = np.arange(start, start + count).reshape(count, *[1] * outer)


def compile_load(op: LoadOp, slots: Slots) -> Step:
    """Compiles the load of one element."""
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

    return load


def compile_store(op: StoreOp, slots: Slots) -> Step:
    """Compiles the store of one element."""
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

    return store


def check(op: Operation, array: Array, indices: Sequence[Value]) -> None:
    """Raises `InterpreterError` if an index is out of bounds."""
    for dimension, (value, size) in enumerate(zip(indices, array.shape, strict=True)):
        low, high = (int(value.min()), int(value.max())) if is_lanes(value) else (int(value), int(value))
        if low < 0 or high >= size:
            raise outside(op, dimension, low, high, array.shape)


@dataclass(frozen=True)
class LaneAccesses:
    """Compiles accesses in loops that run in lanes."""

    slots: Slots
    axes: Sequence[Axis]
    is_filtered: bool
    """Whether some lanes may be inactive, so that the indices of the loops are no ranges."""

    def load(self, op: LoadOp, private: int, *, is_written: bool) -> Step:
        """Compiles a load; each iteration of the first `private` axes has its own copy of the buffer.

        The elements are copied if the kernel writes to the buffer.
        """
        view, indices = self._view(op, private), self._indices(op, private)
        buffer, result = self.slots.use(op.memref), self.slots.define(op.result)

        def load(frame: Frame) -> None:
            elements = view(frame)
            if elements is None:
                array = signless_view(frame[buffer])
                at = indices(frame, array)
                is_flat = array.flags.c_contiguous
                frame[result] = array.reshape(-1).take(_position(at, array.shape)) if is_flat else array[at]
            else:
                frame[result] = elements.copy(order="K") if is_written else elements

        return load

    def store(self, op: StoreOp, private: int) -> Step:
        """Compiles a store; each iteration of the first `private` axes has its own copy of the buffer."""
        view, indices = self._view(op, private), self._indices(op, private)
        buffer, value = self.slots.use(op.memref), self.slots.use(op.value)

        def store(frame: Frame) -> None:
            elements = view(frame)
            if elements is None:
                array = signless_view(frame[buffer])
                at = indices(frame, array)
                if array.flags.c_contiguous:
                    array.reshape(-1)[_position(at, array.shape)] = frame[value]
                else:
                    array[at] = frame[value]
            else:
                elements[...] = frame[value]

        return store

    def _indices(self, op: LoadOp | StoreOp, private: int) -> Callable[[Frame, Array], tuple[Value, ...]]:
        """Compiles the indices of all lanes' elements, with the check of their bounds."""
        index, copies = compile_index(op.index, self.slots), self.axes[:private]

        def indices(frame: Frame, array: Array) -> tuple[Value, ...]:
            found = index(frame)
            check(op, array[(0,) * private] if private else array, found)
            return (*(frame[axis.slot] - frame[axis.start] for axis in copies), *found)

        return indices

    def _view(self, op: LoadOp | StoreOp, private: int) -> Callable[[Frame], Array | None]:
        """Compiles the view of all lanes' elements; its function returns None if the indices are not linear."""
        linear = None if self.is_filtered else _linear(in_loop_indices(op.index), self.axes)
        if linear is None:
            return lambda frame: None
        buffer, base = self.slots.use(op.memref), compile_index(linear.base, self.slots)
        steps, axes = linear.steps, self.axes

        def view(frame: Frame) -> Array | None:
            array, first = signless_view(frame[buffer]), base(frame)
            if not array.flags.c_contiguous or any(is_lanes(value) for value in first):
                return None
            starts, counts = [frame[axis.start] for axis in axes], [frame[axis.count] for axis in axes]
            strides = [array.strides[k] if k < private else 0 for k in range(len(axes))]
            offset, sizes = 0, array.shape[private:]
            for dimension, (value, row) in enumerate(zip(first, steps, strict=True)):
                low = high = value + sum(step * starts[k] for k, step in row)
                offset += low * array.strides[private + dimension]
                for k, step in row:
                    strides[k] += step * array.strides[private + dimension]
                    low, high = low + min(step * (counts[k] - 1), 0), high + max(step * (counts[k] - 1), 0)
                if low < 0 or high >= sizes[dimension]:
                    raise outside(op, dimension, low, high, sizes)
            shape = [count if stride else 1 for count, stride in zip(counts, strides, strict=True)]
            memory = array.reshape(-1).view(np.uint8)
            return np.ndarray(shape[::-1], array.dtype, memory, int(offset), strides[::-1])

        return view


def _position(indices: Sequence[Value], shape: Sequence[int]) -> Value:
    """Returns the positions of elements in a flattened buffer, which numpy indexes faster than several dimensions."""
    flat: Value = 0
    for value, size in zip(indices, shape, strict=True):
        flat = flat * size + value
    return flat


_Row: TypeAlias = list[tuple[int, int]]
"""The axes on which an index depends, by number, each with its coefficient."""


@dataclass(frozen=True)
class _Linear:
    base: ValueMap
    steps: list[_Row]


def _linear(index: ValueMap, axes: Sequence[Axis]) -> _Linear | None:
    """Splits indices into a part without loops that run in lanes and multiples of the indices of these loops.

    None if an index is not linear in one of these loops.
    """
    numbers = {axis.index: number for number, axis in enumerate(axes)}
    bases: list[AffineExpr] = []
    steps: list[_Row] = []
    for expr in index.exprs:
        form, row = linear_form(expr), _Row()
        rest: list[tuple[AffineExpr, int]] = []
        for atom, coefficient in form.terms:
            used = [numbers[value] for d in atom.used_dims() if (value := index.operands[d]) in numbers]
            if not used:
                rest.append((atom, coefficient))
            elif isinstance(atom, AffineDimExpr):
                row.append((used[0], coefficient))
            else:
                return None
        bases.append(LinearForm(tuple(rest), form.constant).expr())
        steps.append(row)
    return _Linear(ValueMap.make(bases, index.operands), steps)
