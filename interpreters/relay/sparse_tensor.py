"""Sparse tensors as lists of places and of values: sparse_to_dense."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.sparse_tensor import SparseToDenseOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.gather import checked
from xrelay.interpreters.relay.registry import evaluates
from xrelay.interpreters.rounding import cast_once


@evaluates(SparseToDenseOp)
def evaluate_sparse_to_dense(op: SparseToDenseOp, indices: Array, values: Array, default: Array) -> Array:
    """Value by value."""
    return filled_in(ints(op.output_shape), indices, values, default)


def filled_in(shape: tuple[int, ...], indices: Array, values: Array, default: Array) -> Array:
    """A tensor of `shape` with the values at their places, put one after the other."""
    result = np.full(shape, cast_once(default, values.dtype), values.dtype)
    columns = indices.T if indices.ndim == 2 else indices.reshape(1, -1)
    parts = [checked(column, size, from_end=False) for column, size in zip(columns, shape, strict=True)]
    count = indices.shape[0] if indices.ndim else 1
    for number, value in enumerate(np.broadcast_to(values, (count,))):
        result[tuple(part[number] for part in parts)] = value
    return result
