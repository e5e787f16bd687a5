"""Indices of gathered and scattered elements."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.checked_indices import checked
from xrelay.dialects.relay.structure.weights import Array


def indices_along(indices: Array, axis: int, size: int) -> tuple[Array, ...]:
    """Returns an index for each axis of the data: `indices`, checked, along `axis`, and their own along the others."""
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = checked(indices, size)
    return tuple(places)


def index_tuples(indices: Array, sizes: tuple[int, ...]) -> list[Array]:
    """Returns the components of the index tuples, each checked against the extent of its axis."""
    return [checked(part, size) for part, size in zip(indices, sizes, strict=False)]
