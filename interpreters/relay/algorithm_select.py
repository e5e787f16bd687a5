"""What is found among elements."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.algorithm_select import ArgwhereOp, DynStridedSliceOp, UniqueOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates
from xrelay.interpreters.sorting import stable_order


@evaluates(ArgwhereOp)
def evaluate_argwhere(op: ArgwhereOp, condition: Array) -> Array:
    """Row by row; numpy's own has no row without columns."""
    rows = np.flatnonzero(condition)
    columns = np.unravel_index(rows, condition.shape) if condition.ndim else ()
    return np.array(columns, np.int32).reshape(condition.ndim, rows.size).T.copy()


@evaluates(UniqueOp)
def evaluate_unique(op: UniqueOp, data: Array) -> tuple[Array, ...]:
    """Equal elements lie side by side when sorted, the first of them first."""
    length = data.size
    order = stable_order(data)
    ordered = data[order]
    is_new = np.ones(length, np.bool_)
    both_nan = (ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1])
    is_new[1:] = (ordered[1:] != ordered[:-1]) & ~both_nan
    starts = np.flatnonzero(is_new)
    rank = np.cumsum(is_new) - 1
    first, counts = order[starts], np.diff(np.append(starts, length))
    chosen = np.arange(starts.size) if op.is_sorted.value.data else np.argsort(first)
    place = np.empty(starts.size, np.int64)
    place[chosen] = np.arange(starts.size)
    inverse = np.empty(length, np.int32)
    inverse[order] = place[rank]
    results = [_padded(ordered[starts][chosen], length), _padded(first[chosen].astype(np.int32), length), inverse]
    results.append(np.array([starts.size], np.int32))
    if op.return_counts.value.data:
        results.append(_padded(counts[chosen].astype(np.int32), length))
    return tuple(results)


def _padded(values: Array, length: int) -> Array:
    result = np.zeros(length, values.dtype)
    result[: values.size] = values
    return result


@evaluates(DynStridedSliceOp)
def evaluate_dyn_strided_slice(op: DynStridedSliceOp, data: Array, begin: Array, end: Array, strides: Array) -> Array:
    """As a slice of numpy, where a step may not be 0."""
    if not strides.all():
        raise InterpreterError(f"a stride of {strides.tolist()} is 0", help="give steps other than 0")
    for axis, numbers in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)):
        data = np.take(data, np.arange(*slice(*numbers).indices(data.shape[axis])), axis)
    return data
