"""The topi ops on whole tensors: `topi.positions`, `topi.sort`, `topi.suppress` and `topi.scatter`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.shared.numerics import stable_order
from xrelay.dialects.topi import Combine, ScatterOp, SortOp
from xrelay.dialects.topi.shapes import known_shape_of
from xrelay.errors import InterpreterError
from xrelay.interpreters.suppression import selected_boxes
from xrelay.interpreters.topi.body import Array, BodyEvaluator, Box


def evaluate_positions(mask: Array) -> list[Array]:
    """Returns the positions of true elements, followed by zeros, and their number."""
    found = np.flatnonzero(mask)
    positions = np.zeros(mask.size, np.int64)
    positions[: found.size] = found
    return [positions, np.asarray(found.size, np.int64)]


def evaluate_sort(op: SortOp, data: Array) -> list[Array]:
    """Returns the kept sorted elements and their indices."""
    axis = op.axis.value.data
    count = known_shape_of(op.values)[axis]
    order = stable_order(data, axis, descending=op.descending is not None)
    indices = np.take(order, range(count), axis)
    return [np.take_along_axis(data, indices, axis), indices]


def evaluate_suppress(operands: Sequence[Array]) -> list[Array]:
    """Selects boxes row by row. Raises `InterpreterError` if the shapes of the operands do not match."""
    sides, order, scores, *limits = operands
    if order.shape[0] != sides.shape[0] or order.shape != scores.shape:
        raise InterpreterError(
            f"sides of {sides.shape[0]} batches do not fit an order of shape {order.shape} and scores of {scores.shape}"
        )
    kept = np.zeros(order.shape, np.bool_)
    for row in np.ndindex(*order.shape[:2]):
        kept[row] = selected_boxes(sides[row[0]], order[row], scores[row], *limits)
    return [kept]


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
