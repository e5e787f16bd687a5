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
    places = (places_in_steps(a.place(0, at), a.stride, count, extent) for a, at, count, extent in rows)
    return (slice(None), slice(None), *np.ix_(*places))


def places_in_steps(first: int, step: int, count: int, extent: int) -> Array:
    """So many places along an axis, a step apart; `extent` for what is outside of the data."""
    places = np.full(count, extent, np.intp)
    begin, end = steps_inside(first, step, count, extent)
    if begin < end:
        places[begin:end] = first + begin * step + step * np.arange(end - begin, dtype=np.intp)
    return places


def steps_inside(first: int, step: int, count: int, extent: int) -> tuple[int, int]:
    """The first of so many steps that is at a place of the data, and the one behind the last; equal where none is."""
    begin = min(max(0, -(first // step)), count)
    return begin, min(max(begin, -((first - extent) // step)), count)
