"""Reads at indices from an operand: take, gather, gather_nd, one_hot."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.checked_indices import checked
from xrelay.dialects.relay.ops.tensor_gather import GatherNDOp, GatherOp, OneHotOp, TakeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(TakeOp)
def evaluate_take(op: TakeOp, data: Array, indices: Array) -> Array:
    """Takes slices along the axis, for each index of the batch."""
    axis, batch = op.axis_and_batch(data.ndim, indices.ndim)
    if axis is None:
        data, axis = data.reshape(-1), 0
    places = _in_mode(indices, data.shape[axis], op.mode.data)
    shape = (*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :])
    result = np.empty(shape, data.dtype)
    for point in np.ndindex(data.shape[:batch]):
        result[point] = data[point].take(places[point], axis - batch) if result[point].size else result[point]
    return result


def _in_mode(indices: Array, size: int, mode: str) -> Array:
    if mode == "raise":
        return checked(indices, size)
    wide = indices.astype(np.uint64 if indices.dtype.kind == "u" else np.int64)
    if not size:
        return wide.astype(np.int64)
    limit = wide.dtype.type(size)
    return (wide % limit if mode == "wrap" else np.clip(wide, 0, limit - wide.dtype.type(1))).astype(np.int64)


@evaluates(GatherOp)
def evaluate_gather(op: GatherOp, data: Array, indices: Array) -> Array:
    """Takes elements at the indices along the axis, and at the result's index along the others."""
    axis = op.axis.value.data % data.ndim
    return data[element_places(indices, axis, data.shape[axis])]


def element_places(indices: Array, axis: int, size: int) -> tuple[Array, ...]:
    """Returns for each axis of the data the indices of the gathered elements."""
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = checked(indices, size)
    return tuple(places)


def tuple_parts(indices: Array, sizes: tuple[int, ...]) -> list[Array]:
    """Returns the components of the index tuples, checked against their axes."""
    return [checked(part, size) for part, size in zip(indices, sizes, strict=False)]


@evaluates(GatherNDOp)
def evaluate_gather_nd(op: GatherNDOp, data: Array, indices: Array) -> Array:
    """Takes slices at index tuples, after the batch axes."""
    batch = op.batch_dims.value.data
    places = indices.shape[1:]
    own = [values.reshape(values.shape[: len(places)]) for values in np.indices(places, sparse=True)[:batch]]
    at = (*own, *tuple_parts(indices, data.shape[batch:]))
    return data[at] if at else np.broadcast_to(data, (*places, *data.shape))


@evaluates(OneHotOp)
def evaluate_one_hot(op: OneHotOp, indices: Array, on_value: Array, off_value: Array) -> Array:
    """Sets the on value at the index along the new axis."""
    axis = op.axis_index(indices.ndim)
    counts = np.arange(op.depth.value.data).reshape(-1, *(1,) * (indices.ndim - axis))
    return np.where(np.expand_dims(indices, axis) == counts, on_value, off_value)
