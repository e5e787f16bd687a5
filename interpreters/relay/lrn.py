"""Local response normalisation."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.nn_lrn import LRNOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.powers import float_power
from xrelay.interpreters.relay.convolution import accumulator
from xrelay.interpreters.relay.registry import evaluates


@evaluates(LRNOp)
def evaluate_lrn(op: LRNOp, data: Array) -> Array:
    """Sum each window, then divide, in double precision; sums that overflow their type are infinite."""
    axis, size = op.axis.value.data % data.ndim, op.size.value.data
    squares = np.moveaxis(data.astype(np.float64) ** 2, axis, 0)
    extent = squares.shape[0]
    total = np.zeros_like(squares)
    for channel in range(extent):
        first, last = channel - (size - 1) // 2, channel + size // 2
        total[channel] = squares[max(first, 0) : last + 1].sum(axis=0)
    sums = accumulator(data.dtype)
    with np.errstate(over="ignore"):
        total = np.moveaxis(total, 0, axis).astype(sums).astype(np.float64)
        base = (op.bias.value.data + op.alpha.value.data / size * total).astype(sums).astype(np.float64)
    return (data.astype(np.float64) / float_power(base, op.beta.value.data)).astype(data.dtype)
