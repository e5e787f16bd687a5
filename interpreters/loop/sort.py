"""`loop.sort` on one row."""

from __future__ import annotations

from xrelay.dialects.loop import SortOp
from xrelay.dialects.shared.numerics.sorting import stable_order
from xrelay.interpreters.loop.frame import Frame, Slots, Step, outside


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
