"""Reading and writing elements of buffers, with every index checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.loop import LoadOp, StoreOp
from xrelay.interpreters.loop.frame import Array, Frame, IndexFunction, Slots, Step, compile_index, is_lanes, outside
from xrelay.interpreters.scalar_meaning import Value, signless_view


def compile_load(op: LoadOp, slots: Slots) -> Step:
    """`loop.load`."""
    buffer, index = slots.use(op.memref), compile_index(op.index, slots)
    result = slots.define(op.result)

    def load(frame: Frame) -> None:
        array = signless_view(frame[buffer])
        values = checked(op, array, index, frame)
        flat = _flat(array, values)
        frame[result] = array[values] if flat is None else array.reshape(-1).take(flat)

    return load


def compile_store(op: StoreOp, slots: Slots) -> Step:
    """`loop.store`."""
    value, buffer = slots.use(op.value), slots.use(op.memref)
    index = compile_index(op.index, slots)

    def store(frame: Frame) -> None:
        array = signless_view(frame[buffer])
        values = checked(op, array, index, frame)
        flat = _flat(array, values)
        if flat is None:
            array[values] = frame[value]
        else:
            array.reshape(-1)[flat] = frame[value]

    return store


def checked(op: Operation, array: Array, index: Sequence[IndexFunction], frame: Frame) -> tuple[Value, ...]:
    """The values of the index expressions; `InterpreterError` where one lies outside."""
    values = tuple(function(frame) for function in index)
    for dimension, (value, size) in enumerate(zip(values, array.shape, strict=True)):
        low, high = (int(value.min()), int(value.max())) if is_lanes(value) else (int(value), int(value))
        if low < 0 or high >= size:
            raise outside(op, dimension, low, high, array.shape)
    return values


def _flat(array: Array, values: Sequence[Value]) -> Array | None:
    """One index per lane into the buffer's elements in a row, much faster for numpy than one array per dimension.

    `None` for a single element, and for an array whose elements do not lie in a row.
    """
    if not array.flags.c_contiguous or not any(is_lanes(value) for value in values):
        return None
    flat: Value = 0
    for value, size in zip(values, array.shape, strict=True):
        flat = flat * size + value
    return np.asarray(flat)
