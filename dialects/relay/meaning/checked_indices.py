"""Indices from an operand, which are checked, along an axis or as tuples."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.checked_index import out_of_range
from xrelay.errors import InterpreterError


def checked(indices: Array, size: int, *, from_end: bool = True) -> Array:
    """Returns indices in [0, size); with `from_end`, negative ones count from the end.

    Raises `InterpreterError` for an index out of range.
    """
    least = 0 if indices.dtype.kind == "u" or not from_end else -size
    wrong = (indices < least) | (indices >= size) if size else np.ones(indices.shape, np.bool_)
    if wrong.any():
        raise InterpreterError(out_of_range(int(indices[wrong].flat[0]), (least, size)))
    places = indices.astype(np.int64)
    return np.where(places < 0, places + size, places)


def indices_along(indices: Array, axis: int, size: int) -> tuple[Array, ...]:
    """Returns an index for each axis of the data: `indices`, checked, along `axis`, and their own along the others."""
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = checked(indices, size)
    return tuple(places)


def index_tuples(indices: Array, sizes: tuple[int, ...]) -> list[Array]:
    """Returns the components of the index tuples, each checked against the extent of its axis."""
    return [checked(part, size) for part, size in zip(indices, sizes, strict=False)]
