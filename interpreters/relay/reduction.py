"""Reductions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from xrelay.dialects.relay.meaning.integer_division import truncated_quotient
from xrelay.dialects.relay.ops.tensor_logic import AllOp, AnyOp
from xrelay.dialects.relay.ops.tensor_reduce import MaxOp, MeanOp, MinOp, ProdOp, ReduceOp, SumOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(SumOp, MeanOp, ProdOp)
def evaluate_accumulation(op: ReduceOp, data: Array) -> Array:
    """Computes sum, mean or product in the widest type of the same kind; means of integers are truncated."""
    axes = op.reduced_axes(data.ndim)
    keepdims = bool(op.keepdims.value.data)
    wide = data.astype(_wide(data.dtype), copy=False)
    if isinstance(op, ProdOp):
        return np.asarray(np.prod(wide, axis=axes, keepdims=keepdims)).astype(data.dtype)
    total = np.asarray(np.sum(wide, axis=axes, keepdims=keepdims))
    if isinstance(op, MeanOp):
        count = prod(data.shape[axis] for axis in axes)
        total = (
            truncated_quotient(total, total.dtype.type(count))
            if total.dtype.kind in "iu"
            else total / np.float64(count)
        )
    return total.astype(data.dtype)


@evaluates(MaxOp, MinOp)
def evaluate_extremum(op: ReduceOp, data: Array) -> Array:
    """Returns the greatest or least element; for no elements, the least or greatest value of the dtype."""
    axes, keepdims = op.reduced_axes(data.ndim), bool(op.keepdims.value.data)
    least, greatest = value_range(data.dtype)
    if isinstance(op, MaxOp):
        return np.asarray(np.max(data, axis=axes, keepdims=keepdims, initial=least), data.dtype)
    return np.asarray(np.min(data, axis=axes, keepdims=keepdims, initial=greatest), data.dtype)


@evaluates(AllOp, AnyOp)
def evaluate_logic(op: ReduceOp, data: Array) -> Array:
    """Returns whether all, or any, are true."""
    function = np.all if isinstance(op, AllOp) else np.any
    return np.asarray(function(data, axis=op.reduced_axes(data.ndim), keepdims=bool(op.keepdims.value.data)), np.bool_)


def value_range(dtype: np.dtype) -> tuple[Any, Any]:
    """Returns the least and the greatest value of a dtype, as scalars of it."""
    if dtype.kind == "b":
        return np.False_, np.True_
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(limits.min), dtype.type(limits.max)
    return dtype.type(-np.inf), dtype.type(np.inf)


def _wide(dtype: np.dtype) -> np.dtype:
    """Returns int64 for signed integers and booleans, uint64 for unsigned integers, float64 for floats."""
    kinds: dict[str, np.dtype] = {"i": np.dtype(np.int64), "b": np.dtype(np.int64), "u": np.dtype(np.uint64)}
    return kinds.get(dtype.kind, np.dtype(np.float64))
