"""`topi.scatter` on whole index spaces: updates are arrays over the space, applied in order to a copy."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.topi import Combine, ScatterOp
from xrelay.errors import InterpreterError
from xrelay.interpreters.topi.body import BodyEvaluator
from xrelay.interpreters.topi.indices import Array, Box

_COMBINED: dict[Combine, np.ufunc] = {
    Combine.ADD: np.add,
    Combine.MUL: np.multiply,
    Combine.MIN: np.minimum,
    Combine.MAX: np.maximum,
}


def evaluate_scatter(op: ScatterOp, tensors: dict[SSAValue, Array]) -> Array:
    """Returns the result of a scatter of `tensors`. Raises `InterpreterError` for an index out of range."""
    result = np.array(tensors[op.into])
    if 0 in op.known_spatial:
        return result
    body = BodyEvaluator(Box({v: (0, n) for v, n in zip(op.spatial_vars, op.known_spatial, strict=True)}), tensors)
    body.run(op.body.block.ops)
    indices = [np.broadcast_to(body.value(index), op.known_spatial).reshape(-1) for index in op.indices]
    for axis, (index, size) in enumerate(zip(indices, result.shape, strict=True)):
        _check(index, size, axis, result)
    updates = np.broadcast_to(body.value(op.value), op.known_spatial)
    values = np.ascontiguousarray(updates).reshape(-1).view(result.dtype)
    indices = np.ravel_multi_index(indices, result.shape) if indices else np.zeros(values.size, np.int64)
    _put(result.reshape(-1), indices, values, op.combine)
    return result


def _check(index: Array, size: int, axis: int, tensor: Array) -> None:
    wrong = (index < 0) | (index >= size)
    if wrong.any():
        raise InterpreterError(
            f"update at index {index[wrong][0]} of axis {axis} of a tensor of shape {list(tensor.shape)}",
            help="put topi.checked_index before",
        )


def _put(elements: Array, indices: Array, values: Array, combine: Combine) -> None:
    """Applies updates in order; `ufunc.at` also processes repeated indices in order."""
    if combine is not Combine.UPDATE:
        with np.errstate(all="ignore"):
            _COMBINED[combine].at(elements, indices, values)
        return
    # The last update of each index is the first in reverse order.
    distinct, last = np.unique(indices[::-1], return_index=True)
    elements[distinct] = values[::-1][last]
