"""Windows over arrays, tap by tap, for convolutions and pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xrelay.dialects.relay.meaning.element_types import value_range
from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.windows import WindowAxis


def taps(data: Array, window: Sequence[WindowAxis[int]], counts: Sequence[int], value: float) -> Iterator[Array]:
    """Yields the elements under each tap, in order, in all windows of (N, C, …): (N, C, *counts).

    Elements outside of the data, also beyond the padding, are `value`. Memory use does not depend on the distance of
    windows.
    """
    # One element of `value` at the end of each axis represents all elements outside.
    edged = np.pad(data, [(0, 0), (0, 0), *[(0, 1)] * len(window)], constant_values=value)
    for tap in np.ndindex(*(axis.size for axis in window)):
        yield edged[seen_by(tap, window, counts, data.shape[2:])]


def seen_by(
    tap: Sequence[int], window: Sequence[WindowAxis[int]], counts: Sequence[int], extents: Sequence[int]
) -> tuple[Any, ...]:
    """Returns the indices of the elements under a tap in all windows of (N, C, …); the extent for elements outside."""
    rows = zip(window, tap, counts, extents, strict=True)
    places = (places_in_steps(a.place(0, at), a.stride, count, extent) for a, at, count, extent in rows)
    return (slice(None), slice(None), *np.ix_(*places))


def places_in_steps(first: int, step: int, count: int, extent: int) -> Array:
    """Returns `count` indices along an axis, `step` apart; `extent` for indices outside of the data."""
    places = np.full(count, extent, np.intp)
    begin, end = steps_inside(first, step, count, extent)
    if begin < end:
        places[begin:end] = first + begin * step + step * np.arange(end - begin, dtype=np.intp)
    return places


def steps_inside(first: int, step: int, count: int, extent: int) -> tuple[int, int]:
    """Returns the half-open range of steps whose index is within the data."""
    begin = min(max(0, -(first // step)), count)
    return begin, min(max(begin, -((first - extent) // step)), count)


def counted_places(axis: WindowAxis[int], extent: int, count: int, *, padded: bool) -> Array:
    """Returns the number of elements of each window along an axis that a mean counts; `padded` includes the padding."""
    low, high = (-axis.before, extent + axis.after) if padded else (0, extent)
    places = np.arange(count)[:, None] * axis.stride + np.arange(axis.size)[None, :] * axis.dilation - axis.before
    return np.sum((places >= low) & (places < high), axis=1)


def first_maxima(plain: Array, numbers: Array, window: Sequence[WindowAxis[int]], counts: Sequence[int]) -> Array:
    """Returns the numbers of the first greatest elements of all windows of (N, C, …); -1 for windows without data.

    `numbers` has the number of each element of an image. NaN is the greatest.
    """
    best = np.full((*plain.shape[:2], *counts), value_range(plain.dtype)[0], plain.dtype)
    found = np.full(best.shape, -1, np.int64)
    seen = zip(taps(plain, window, counts, 0), taps(numbers[None, None], window, counts, -1), strict=True)
    for values, at in seen:
        better = (found == -1) | (values > best) | (np.isnan(values) & ~np.isnan(best))
        taken = (at != -1) & better
        best, found = np.where(taken, values, best), np.where(taken, at, found)
    return found
