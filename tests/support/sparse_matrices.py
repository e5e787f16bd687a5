"""Random sparse matrices as data, indices and row starts, and their dense form."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
RNG = np.random.default_rng(23)


def values(dtype: str, *shape: int) -> Array:
    """Small integers, so that sums do not round."""
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    return np.asarray(RNG.integers(-3, 4, shape)).astype(kind)


def sparse(rows: int, columns: int, block: tuple[int, int] | None, dtype: str, index: str = "int32") -> list[Array]:
    """A random sparse matrix (CSR or BSR): some rows are empty, some positions have several values."""
    high, wide = block or (1, 1)
    lengths = RNG.integers(0, 4, rows // high) if columns else np.zeros(rows // high, np.int64)
    indptr = np.append(0, np.cumsum(lengths)).astype(index)
    count = int(indptr[-1])
    data = values(dtype, count, *(block or ()))
    return [data, RNG.integers(0, max(columns // wide, 1), count).astype(index), indptr]


def dense_of(parts: list[Array], columns: int) -> Array:
    """The dense form in f64."""
    data, indices, indptr = parts
    blocks = data.astype(np.float64).reshape((*data.shape, *(1,) * (3 - data.ndim)))
    _, high, wide = blocks.shape
    result = np.zeros(((len(indptr) - 1) * high, columns))
    for row in range(len(indptr) - 1):
        for number in range(indptr[row], indptr[row + 1]):
            start = int(indices[number]) * wide
            result[row * high : (row + 1) * high, start : start + wide] += blocks[number]
    return result
