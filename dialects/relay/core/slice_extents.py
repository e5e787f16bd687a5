"""How many elements a slice keeps of an axis of which only an expression is known, by the rules of numpy."""

from __future__ import annotations

from xrelay.index_algebra.dims import (
    MAX_EXTENT,
    AnyDim,
    Dim,
    Polynomial,
    Selection,
    ceil_div,
    greatest,
    is_nonnegative,
    is_positive,
    least,
    single_atom,
)

DEEPEST = 8
"""How deep least and greatest ones may stand in each other: what is sliced again and again gets a name instead."""


def kept_by_slice(extent: Dim, begin: Dim, end: Dim, stride: Dim) -> Dim | None:
    """The number of elements from `begin` to before `end`; `None` where no short expression says it.

    Of `begin` and `end` it has to be known from which side they count, and the stride has to be a number from 1 on:
    `x[2:]` of `n` elements keeps `max(0, n - 2)`, `x[-1:]` of them `min(1, n)`, `x[:m]` of 40 keeps `min(40, m)`.
    """
    if begin == 0 and stride == 1 and isinstance(end, int) and end >= MAX_EXTENT:
        return extent
    if not isinstance(stride, int) or stride < 1 or any(isinstance(dim, AnyDim) for dim in (extent, begin, end)):
        return None
    if any(isinstance(dim, Polynomial) and dim.depth >= DEEPEST for dim in (extent, begin, end)):
        return None
    first, last = _place(extent, begin), _place(extent, end)
    if first is None or last is None:
        return None
    stop = least(last, extent)
    if not is_nonnegative(first) and isinstance(single_atom(stop), Selection):
        return None
    # Places before the axis leave what lies in it: x - max(y, 0) is min(x, x - y), which has no name twice.
    left = stop - first if is_nonnegative(first) else least(stop, stop - first)
    return _in_steps(greatest(left, 0), stride)


def within_reach(step: int) -> int:
    """A step, or the nearest one that leads no further than `MAX_EXTENT`: both take the same elements of an axis."""
    return max(-MAX_EXTENT, min(step, MAX_EXTENT))


def places_of_slice(extent: Dim, begin: int, end: int, stride: int) -> tuple[Dim, Dim | None]:
    """The first place of a slice of an axis, and the number of elements; `None` where no short expression says that.

    Strides may be below 0: `x[::-1]` of `n` elements begins at `n - 1`. The first place is one of the axis wherever an
    element is left. Of an axis of unknown extent nothing is known.
    """
    if isinstance(extent, int):
        places = range(*slice(begin, end, stride).indices(extent))
        return places[0] if places else 0, len(places)
    if isinstance(extent, AnyDim):
        return begin, extent
    if (begin >= MAX_EXTENT or end <= -MAX_EXTENT) if stride > 0 else (begin <= -MAX_EXTENT or end >= MAX_EXTENT):
        return 0, 0
    if abs(begin) >= MAX_EXTENT:
        begin = 0 if stride > 0 else -1
    if stride > 0:
        first = begin if begin >= 0 else greatest(extent + begin, 0)
        kept = kept_by_slice(extent, begin, end, stride)
        if kept is not None:
            return first, kept
        stop = extent if end >= MAX_EXTENT else least(end if end >= 0 else extent + end, extent)
        left = stop - first
    else:
        first = least(begin if begin >= 0 else extent + begin, extent - 1)
        left = first - (end if end >= 0 else -1 if end <= -MAX_EXTENT else greatest(extent + end, -1))
        first = greatest(first, 0)
    if isinstance(left, Polynomial) and left.depth > DEEPEST // 2:
        return first, None
    return first, _in_steps(greatest(left, 0), abs(stride))


def _in_steps(length: Dim, step: int) -> Dim:
    """How many of `length` elements, at least 0, are a step apart from the first on."""
    return least(length, 1) if step >= MAX_EXTENT else ceil_div(length, step)


def _place(extent: Dim, place: Dim) -> Dim | None:
    """A place counted from the front, which may lie outside of the axis; `None` if the side is not known.

    A number that no extent reaches is the end of the axis on its side.
    """
    if isinstance(place, int) and abs(place) >= MAX_EXTENT:
        return extent if place > 0 else 0
    if is_nonnegative(place):
        return place
    return extent + place if is_positive(-place) else None
