"""Mirror padding, and FIFO buffers."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.nn_borders import FifoBufferOp, MirrorPadOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(MirrorPadOp)
def evaluate_mirror_pad(op: MirrorPadOp, data: Array) -> Array:
    """Pads with `np.pad`."""
    for extent, pair in zip(data.shape, op.pairs, strict=True):
        if any(pair) and extent - (op.mode.data == "REFLECT") < max(pair):
            raise InterpreterError(f"an axis of {extent} elements is padded by {pair[0]} and {pair[1]}")
    if not op.pairs:  # numpy rejects an empty list of widths
        return data
    return np.pad(data, op.pairs, mode="symmetric" if op.mode.data == "SYMMETRIC" else "reflect")


@evaluates(FifoBufferOp)
def evaluate_fifo_buffer(op: FifoBufferOp, data: Array, buffer: Array) -> Array:
    """Drops the first elements of the buffer and appends the data."""
    axis = op.axis.value.data % data.ndim
    if data.shape[axis] > buffer.shape[axis]:
        raise InterpreterError(f"{data.shape[axis]} elements for a buffer of {buffer.shape[axis]}")
    return np.concatenate([np.take(buffer, range(data.shape[axis], buffer.shape[axis]), axis), data], axis)
