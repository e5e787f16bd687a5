"""Selections whose size depends on the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xrelay.dialects.relay.ops.algorithm_select import ArgwhereOp, DynStridedSliceOp, UniqueOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.sorting import stable_order
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(ArgwhereOp)
def evaluate_argwhere(op: ArgwhereOp, condition: Array) -> Array:
    """Finds row-major indices, and their coordinates. `np.argwhere` does not return rows without columns."""
    rows = np.flatnonzero(condition)
    columns = np.unravel_index(rows, condition.shape) if condition.ndim else ()
    return np.array(columns, np.int32).reshape(condition.ndim, rows.size).T.copy()


@evaluates(UniqueOp)
def evaluate_unique(op: UniqueOp, data: Array) -> tuple[Array, ...]:
    """Uses a stable sort, after which equal elements are adjacent and in order of occurrence."""
    length = data.size
    order = stable_order(data)
    ordered = data[order]
    is_new = np.ones(length, np.bool_)
    both_nan = (ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1])
    is_new[1:] = (ordered[1:] != ordered[:-1]) & ~both_nan
    starts = np.flatnonzero(is_new)
    rank = np.cumsum(is_new) - 1
    first = order[starts].astype(np.int32)
    chosen = np.arange(starts.size) if op.is_sorted.value.data else np.argsort(first)
    inverse = np.empty(length, np.int32)
    inverse[order] = np.argsort(chosen)[rank]
    lists = ordered[starts], first, np.diff(np.append(starts, length)).astype(np.int32)
    values, places, counts = (np.pad(each[chosen], (0, length - starts.size)) for each in lists)
    results = values, places, inverse, np.array([starts.size], np.int32), counts
    return results if op.return_counts.value.data else results[:4]


@evaluates(DynStridedSliceOp)
def evaluate_dyn_strided_slice(op: DynStridedSliceOp, data: Array, begin: Array, end: Array, strides: Array) -> Array:
    """Slices as in numpy, with nonzero steps; with `slice_mode` "size", all indices have to be in range."""
    if op.slice_mode.data == "size":
        return _taken(op, data, list(zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)))
    if not strides.all():
        raise InterpreterError(f"a stride of {strides.tolist()} is 0", help="give steps other than 0")
    for axis, numbers in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)):
        data = np.take(data, np.arange(*slice(*numbers).indices(data.shape[axis])), axis)
    return data


def _taken(op: DynStridedSliceOp, data: Array, numbers: Sequence[tuple[int, int, int]]) -> Array:
    for axis, (first, size, step) in enumerate(numbers):
        extent, last = data.shape[axis], first + (size - 1) * step
        if size < 0 or (size > 0 and not (0 <= first < extent and 0 <= last < extent)):
            told = f"{size} elements from {first} on in steps of {step}"
            raise InterpreterError(f"[{op.name} C3] axis {axis} of extent {extent} has not {told}")
        data = np.take(data, first + step * np.arange(size), axis)
    return data
