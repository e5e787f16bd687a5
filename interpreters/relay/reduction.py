"""Reductions."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.tensor_reduce import MaxOp, MeanOp, MinOp, ProdOp, ReduceOp, SumOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(SumOp, MeanOp, ProdOp)
def evaluate_accumulation(op: ReduceOp, data: Array) -> Array:
    """Sum, mean or product, accumulated in the widest type of the same kind."""
    axes = op.reduced_axes(data.ndim)
    keepdims = bool(op.keepdims.value.data)
    wide = data.astype(_wide(data.dtype), copy=False)
    if isinstance(op, ProdOp):
        return np.asarray(np.prod(wide, axis=axes, keepdims=keepdims)).astype(data.dtype)
    total = np.asarray(np.sum(wide, axis=axes, keepdims=keepdims))
    if isinstance(op, MeanOp):
        count = int(np.prod([data.shape[axis] for axis in axes], dtype=np.int64))
        total = total / max(count, 1) if count else total / np.float64(0)
    return total.astype(data.dtype)


@evaluates(MaxOp, MinOp)
def evaluate_extremum(op: ReduceOp, data: Array) -> Array:
    """The greatest or least element."""
    reduce = np.max if isinstance(op, MaxOp) else np.min
    axes = op.reduced_axes(data.ndim)
    return np.asarray(reduce(data, axis=axes, keepdims=bool(op.keepdims.value.data)), data.dtype)


def _wide(dtype: np.dtype) -> np.dtype:
    """int64 for integers and truth values, uint64 for unsigned, float64 for the rest."""
    kinds: dict[str, np.dtype] = {"i": np.dtype(np.int64), "b": np.dtype(np.int64), "u": np.dtype(np.uint64)}
    return kinds.get(dtype.kind, np.dtype(np.float64))
