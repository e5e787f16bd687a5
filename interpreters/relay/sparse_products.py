"""Sums and products with sparse matrices."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.nn_sparse import SparseAddOp, SparseConv2dOp, SparseDenseOp, SparseTransposeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.interpreters.relay.gather import checked
from xrelay.interpreters.relay.registry import evaluates


@evaluates(SparseDenseOp)
def evaluate_sparse_dense(op: SparseDenseOp, dense: Array, data: Array, indices: Array, indptr: Array) -> Array:
    """Multiplies with sums in the widest type of the same kind."""
    product = times_transpose(dense, data, indices, indptr)
    return product.T.copy() if op.sparse_lhs.value.data else product


def times_transpose(dense: Array, data: Array, indices: Array, indptr: Array) -> Array:
    """Multiplies a matrix by the transpose of a sparse matrix, block by block."""
    blocks = data.reshape((*data.shape, *(1,) * (3 - data.ndim)))
    count, rows, columns = blocks.shape
    wide = np.int64 if data.dtype.kind in "iu" else np.float64
    starts = checked(indices, dense.shape[1] // columns, from_end=False) * columns
    places: Array = starts[:, None] + np.arange(int(columns))
    sums = np.zeros((len(indptr), rows, dense.shape[0]), wide)
    with np.errstate(all="ignore"):
        parts = np.einsum("krc,mkc->krm", blocks.astype(wide), dense.astype(wide)[:, places])
        np.add.at(sums, rows_of(indptr, count), parts)
        product = sums[:-1].reshape((len(indptr) - 1) * rows, dense.shape[0]).T
        return product.astype(data.dtype) if wide is np.int64 else cast_once(product, data.dtype)


def rows_of(indptr: Array, count: int) -> Array:
    """Returns the row of each of `count` values; the number of rows for values in no row."""
    begins = np.sort(checked(indptr, count + 1, from_end=False))
    rows = np.searchsorted(begins, np.arange(count), side="right") - 1
    return np.where(rows < 0, len(indptr) - 1, rows)


@evaluates(SparseConv2dOp)
def evaluate_sparse_conv2d(op: SparseConv2dOp, data: Array, weight: Array, indices: Array, indptr: Array) -> Array:
    """Multiplies the matrix of all windows by the weight."""
    axis, (size, _) = op.channel_axis, ints(op.kernel_size)
    images = np.moveaxis(data, axis, -1)
    count, height, width, channels = images.shape
    # An image without rows or columns has no windows, but numpy requires space for one.
    room = [
        (0, 0) if edge in (0, 3) else (size // 2, max(size // 2, size - extent))
        for edge, extent in enumerate(images.shape)
    ]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(images, room), (size, size), (1, 2))[:, :height, :width]
    order = (0, 1, 2, 4, 5, 3) if axis == 3 else (0, 1, 2, 3, 4, 5)
    matrix = windows.transpose(order).reshape(count * height * width, channels * size * size)
    blocks = weight.reshape((*weight.shape, *(1,) * (3 - weight.ndim)))
    product = times_transpose(matrix, blocks, indices, indptr)
    return np.moveaxis(product.reshape(count, height, width, product.shape[1]), -1, axis).copy()


@evaluates(SparseAddOp)
def evaluate_sparse_add(op: SparseAddOp, dense: Array, data: Array, indices: Array, indptr: Array) -> Array:
    """Adds value by value."""
    wide = np.int64 if data.dtype.kind in "iu" else np.float64
    columns, rows = checked(indices, dense.shape[1], from_end=False), _in_rows(indptr, data.shape[0])
    result = dense.astype(wide)
    with np.errstate(all="ignore"):
        np.add.at(result, (rows, columns), data.astype(wide))
        return result.astype(dense.dtype) if wide is np.int64 else cast_once(result, dense.dtype)


@evaluates(SparseTransposeOp)
def evaluate_sparse_transpose(op: SparseTransposeOp, data: Array, indices: Array, indptr: Array) -> tuple[Array, ...]:
    """Sorts values by column."""
    size = len(indptr) - 1
    columns, rows = checked(indices, size, from_end=False), _in_rows(indptr, data.shape[0])
    order = np.lexsort((rows, columns))
    begins = np.append(0, np.cumsum(np.bincount(columns, minlength=size)[:size]))
    return data[order], rows[order].astype(indices.dtype), begins.astype(indptr.dtype)


def _in_rows(indptr: Array, count: int) -> Array:
    """Returns the row of each of `count` values. Raises `InterpreterError` for a value in no row."""
    return checked(rows_of(indptr, count), len(indptr) - 1, from_end=False)
