"""`loop.suppress` on one row."""

from __future__ import annotations

from xrelay.dialects.loop import SuppressOp
from xrelay.interpreters.loop.frame import Frame, Slots, Step, outside
from xrelay.interpreters.suppression import selected_boxes


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
