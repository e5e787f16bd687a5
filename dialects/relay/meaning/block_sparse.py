"""Products with block-sparse matrices, given by values, column indices and row pointers."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.checked_indices import checked
from xrelay.dialects.relay.meaning.element_types import widest
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once


def times_transpose(dense: Array, data: Array, indices: Array, indptr: Array) -> Array:
    """Multiplies a matrix by the transpose of a sparse matrix, block by block.

    Sums are in the widest type of the same kind.
    """
    blocks = data.reshape((*data.shape, *(1,) * (3 - data.ndim)))
    count, rows, columns = blocks.shape
    wide = widest(data.dtype)
    starts = checked(indices, dense.shape[1] // columns, from_end=False) * columns
    places: Array = starts[:, None] + np.arange(int(columns))
    sums = np.zeros((len(indptr), rows, dense.shape[0]), wide)
    with np.errstate(all="ignore"):
        parts = np.einsum("krc,mkc->krm", blocks.astype(wide), dense.astype(wide)[:, places])
        np.add.at(sums, _rows_or_end(indptr, count), parts)
        return cast_once(sums[:-1].reshape((len(indptr) - 1) * rows, dense.shape[0]).T, data.dtype)


def _rows_or_end(indptr: Array, count: int) -> Array:
    """Returns the row of each of `count` values; the number of rows for values in no row."""
    begins = np.sort(checked(indptr, count + 1, from_end=False))
    rows = np.searchsorted(begins, np.arange(count), side="right") - 1
    return np.where(rows < 0, len(indptr) - 1, rows)


def rows_of(indptr: Array, count: int) -> Array:
    """Returns the row of each of `count` values. Raises `InterpreterError` for a value in no row."""
    return checked(_rows_or_end(indptr, count), len(indptr) - 1, from_end=False)
