"""Sparse tensors in coordinate format: sparse_to_dense, sparse_reshape."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.meaning.integer_division import truncated_quotient
from xrelay.dialects.relay.ops.sparse_tensor import DynSparseToDenseOp, SparseReshapeOp, SparseToDenseOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.gather import checked
from xrelay.interpreters.relay.registry import evaluates


@evaluates(SparseToDenseOp)
def evaluate_sparse_to_dense(op: SparseToDenseOp, indices: Array, values: Array, default: Array) -> Array:
    """Assigns value by value."""
    return filled_in(ints(op.output_shape), indices, values, default)


@evaluates(DynSparseToDenseOp)
def evaluate_dyn_sparse_to_dense(
    op: DynSparseToDenseOp, indices: Array, shape: Array, values: Array, default: Array
) -> Array:
    """Assigns value by value. Raises `InterpreterError` for a negative extent."""
    if (shape < 0).any():
        raise InterpreterError(f"[{op.name} C2] a negative extent in the shape {shape.tolist()}")
    return filled_in(tuple(shape.tolist()), indices, values, default)


def filled_in(shape: tuple[int, ...], indices: Array, values: Array, default: Array) -> Array:
    """Returns a tensor of `shape` with the values assigned at their coordinates in order."""
    result = np.full(shape, cast_once(default, values.dtype), values.dtype)
    columns = indices.T if indices.ndim == 2 else indices.reshape(1, -1)
    parts = [checked(column, size, from_end=False) for column, size in zip(columns, shape, strict=True)]
    count = indices.shape[0] if indices.ndim else 1
    for number, value in enumerate(np.broadcast_to(values, (count,))):
        result[tuple(part[number] for part in parts)] = value
    return result


@evaluates(SparseReshapeOp)
def evaluate_sparse_reshape(op: SparseReshapeOp, indices: Array, old: Array, new: Array) -> tuple[Array, Array]:
    """Converts coordinates to row-major indices in the old shape, and these to coordinates in the new shape."""
    with np.errstate(over="ignore"):
        wide, sizes, wanted = (each.astype(np.int64) for each in (indices, old, new))
        known = np.prod(wanted, where=wanted != -1)
        shape = np.where(wanted == -1, truncated_quotient(np.asarray(np.prod(sizes)), np.maximum(known, 1)), wanted)
        number = (wide * _inner(sizes)).sum(axis=1)
        places = np.empty((indices.shape[0], new.shape[0]), np.int64)
        for axis, (inner, extent) in enumerate(zip(np.maximum(_inner(shape), 1), np.maximum(shape, 1), strict=True)):
            outer = truncated_quotient(number, inner)
            places[:, axis] = outer if axis == 0 else outer - truncated_quotient(outer, extent) * extent
    stays = np.array_equal(sizes, shape)
    return indices.copy() if stays else places.astype(indices.dtype), shape.astype(new.dtype)


def _inner(shape: Array) -> Array:
    """Returns the row-major stride of each axis."""
    return np.append(np.cumprod(shape[::-1])[::-1], 1)[1:] if shape.size else shape
