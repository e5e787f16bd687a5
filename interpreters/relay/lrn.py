"""Local response normalisation."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.nn_lrn import LRNOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.powers import float_power
from xrelay.interpreters.relay.registry import evaluates


@evaluates(LRNOp)
def evaluate_lrn(op: LRNOp, data: Array) -> Array:
    """Sum each window, then divide, all in double precision."""
    axis, size = op.axis.value.data % data.ndim, op.size.value.data
    squares = np.moveaxis(data.astype(np.float64) ** 2, axis, 0)
    extent = squares.shape[0]
    total = np.zeros_like(squares)
    for channel in range(extent):
        first, last = channel - (size - 1) // 2, channel + size // 2
        total[channel] = squares[max(first, 0) : last + 1].sum(axis=0)
    base = op.bias.value.data + op.alpha.value.data / size * np.moveaxis(total, 0, axis)
    return (data.astype(np.float64) / float_power(base, op.beta.value.data)).astype(data.dtype)
