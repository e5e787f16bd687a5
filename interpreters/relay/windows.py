"""Windows over arrays: what convolutions and pools do tap by tap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.windows import WindowAxis


def taps(data: Array, window: Sequence[WindowAxis[int]], counts: Sequence[int], value: float) -> Iterator[Array]:
    """For every tap of the window, in order, what it sees in all windows of (N, C, …): (N, C, *counts).

    Around the data is `value`, in the padding and where windows stick out of that too. What is in no window takes no
    memory, however far windows are apart.
    """
    # One element of `value` behind each axis is what all places outside are.
    edged = np.pad(data, [(0, 0), (0, 0), *[(0, 1)] * len(window)], constant_values=value)
    for tap in np.ndindex(*(axis.size for axis in window)):
        yield edged[seen_by(tap, window, counts, data.shape[2:])]


def seen_by(
    tap: Sequence[int], window: Sequence[WindowAxis[int]], counts: Sequence[int], extents: Sequence[int]
) -> tuple[Any, ...]:
    """The index of what a tap of each window sees in (N, C, …); of one outside along an axis, the extent there."""
    rows = zip(window, tap, counts, extents, strict=True)
    return (slice(None), slice(None), *np.ix_(*(_places(*row) for row in rows)))


def _places(axis: WindowAxis[int], tap: int, count: int, extent: int) -> Array:
    """Where a tap of each window is along an axis; `extent` for what is outside of the data."""
    first = tap * axis.dilation - axis.before
    places = (first + number * axis.stride for number in range(count))
    return np.array([place if 0 <= place < extent else extent for place in places], np.intp)
