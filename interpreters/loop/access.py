"""Loads and stores with bounds checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.loop import LoadOp, StoreOp
from xrelay.interpreters.loop.frame import Array, Frame, Slots, Step, compile_index, is_lanes, outside
from xrelay.interpreters.scalar_meaning import Value, signless_view


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
