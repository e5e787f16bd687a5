"""Ops that depend on the indices of elements."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.tensor_places import (
    InvertPermutationOp,
    MatrixSetDiagOp,
    MeshgridOp,
    SequenceMaskOp,
    UnravelIndexOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(SequenceMaskOp)
def evaluate_sequence_mask(op: SequenceMaskOp, data: Array, valid_length: Array) -> Array:
    """Selects by index and length."""
    axis, value = op.axis.value.data, np.asarray(op.mask_value.value.data).astype(data.dtype)
    lengths = np.expand_dims(valid_length, axis)
    places: Array = np.expand_dims(np.arange(data.shape[axis], dtype=np.int64), 1 - axis)
    is_valid = (places < lengths).reshape(*data.shape[:2], *(1,) * (data.ndim - 2))
    return np.where(is_valid, data, value)


@evaluates(MatrixSetDiagOp)
def evaluate_matrix_set_diag(op: MatrixSetDiagOp, data: Array, diagonal: Array) -> Array:
    """Replaces diagonal by diagonal."""
    result, (first, last) = data.copy(), (op.k1.value.data, op.k2.value.data)
    rows = diagonal if first != last else diagonal[..., None, :]
    for k in range(first, last + 1):
        i, j = max(-k, 0), max(k, 0)
        count = max(0, min(data.shape[-2] - i, data.shape[-1] - j))
        right = op.super_diag_right_align if k >= 0 else op.sub_diag_right_align
        start = rows.shape[-1] - count if right.value.data else 0
        places: Array = np.arange(count, dtype=np.int64)
        result[..., places + i, places + j] = rows[..., last - k, start : start + count]
    return result


@evaluates(MeshgridOp)
def evaluate_meshgrid(op: MeshgridOp, data: tuple[Array, ...]) -> tuple[Array, ...]:
    """Uses `np.meshgrid`."""
    grids = np.meshgrid(*data, indexing="xy" if op.indexing.data == "xy" else "ij")
    return tuple(np.ascontiguousarray(grid) for grid in grids)


@evaluates(InvertPermutationOp)
def evaluate_invert_permutation(op: InvertPermutationOp, data: Array) -> Array:
    """Assigns the indices at the data."""
    count = len(data)
    if np.any((data >= count) | (data < -count)):
        raise InterpreterError(f"an index lies outside of [-{count}, {count - 1}]")
    result = data.copy()
    result[data] = np.arange(count)
    return result


@evaluates(UnravelIndexOp)
def evaluate_unravel_index(op: UnravelIndexOp, data: Array, shape: Array) -> Array:
    """Computes remainders and quotients by the extents, last axis first."""
    result, rest = np.empty((len(shape), *data.shape), data.dtype), data
    for axis in reversed(range(len(shape))):
        extent = np.maximum(shape[axis].astype(data.dtype), 1)
        result[axis], rest = np.mod(rest, extent), rest // extent
    return result
