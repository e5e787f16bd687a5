"""Composite reductions, with which tests compare their decompositions."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.ops.composite_reduce import LogsumexpOp, StdOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(LogsumexpOp)
def evaluate_logsumexp(op: LogsumexpOp, data: Array) -> Array:
    """Computes the logarithm of a sum of exponentials scaled by the greatest element."""
    wide = data.astype(accumulator(data.dtype), copy=False)
    axes = op.reduced_axes(data.ndim)
    result = np.logaddexp.reduce(wide, axis=axes, keepdims=bool(op.keepdims.value.data))
    return np.asarray(result, data.dtype)


@evaluates(StdOp)
def evaluate_std(op: StdOp, data: Array) -> Array:
    """Computes the standard deviation in double precision."""
    axes, keepdims = op.reduced_axes(data.ndim), bool(op.keepdims.value.data)
    ddof = int(bool(op.unbiased.value.data))
    return np.asarray(np.std(data.astype(np.float64), axis=axes, keepdims=keepdims, ddof=ddof), data.dtype)
