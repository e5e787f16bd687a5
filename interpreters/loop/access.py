"""Reading and writing elements of buffers, with every index checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.loop import LoadOp, StoreOp
from xrelay.interpreters.loop.frame import Array, Frame, IndexFunction, Slots, Step, compile_index, outside
from xrelay.interpreters.scalar import Value


def compile_load(op: LoadOp, slots: Slots) -> Step:
    """`loop.load`."""
    buffer, index = slots.use(op.memref), compile_index(op.index, slots)
    result = slots.define(op.result)

    def load(frame: Frame) -> None:
        array = frame[buffer]
        frame[result] = array[checked(op, array, index, frame)]

    return load


def compile_store(op: StoreOp, slots: Slots) -> Step:
    """`loop.store`."""
    value, buffer = slots.use(op.value), slots.use(op.memref)
    index = compile_index(op.index, slots)

    def store(frame: Frame) -> None:
        array = frame[buffer]
        array[checked(op, array, index, frame)] = frame[value]

    return store


def checked(op: Operation, array: Array, index: Sequence[IndexFunction], frame: Frame) -> tuple[Value, ...]:
    """The values of the index expressions; `InterpreterError` where one lies outside."""
    values = tuple(function(frame) for function in index)
    for dimension, (value, size) in enumerate(zip(values, array.shape, strict=True)):
        if isinstance(value, np.ndarray) and value.ndim > 0:
            low, high = int(value.min()), int(value.max())
        else:
            low = high = int(value)
        if low < 0 or high >= size:
            raise outside(op, dimension, low, high, array.shape)
    return values
