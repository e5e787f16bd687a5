"""The number of elements that a slice keeps of an axis with a symbolic extent, with numpy's semantics."""

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
"""The nesting limit of minima and maxima. Beyond it the extent gets a name."""


def kept_by_slice(extent: Dim, begin: Dim, end: Dim, stride: Dim) -> Dim | None:
    """Returns the number of elements from `begin` up to `end`, or None if there is no short expression for it.

    The sign of `begin` and `end` has to be known, and the stride has to be a positive number: `x[2:]` of `n` elements
    keeps `max(0, n - 2)`, `x[-1:]` keeps `min(1, n)`, and `x[:m]` of 40 keeps `min(40, m)`.
    """
    if begin == 0 and stride == 1 and isinstance(end, int) and end >= MAX_EXTENT:
        return extent
    if not isinstance(stride, int) or stride < 1 or any(isinstance(dim, AnyDim) for dim in (extent, begin, end)):
        return None
    if any(isinstance(dim, Polynomial) and dim.depth >= DEEPEST for dim in (extent, begin, end)):
        return None
    first, last = _clipped_bound(extent, begin), _clipped_bound(extent, end)
    if first is None or last is None:
        return None
    stop = least(last, extent)
    if not is_nonnegative(first) and isinstance(single_atom(stop), Selection):
        return None
    # Clamps a negative begin: x - max(y, 0) is min(x, x - y), in which each name occurs once.
    left = stop - first if is_nonnegative(first) else least(stop, stop - first)
    return _in_steps(greatest(left, 0), stride)


def within_reach(step: int) -> int:
    """Clamps a step to ±`MAX_EXTENT`, which selects the same elements of an axis."""
    return max(-MAX_EXTENT, min(step, MAX_EXTENT))


def places_of_slice(extent: Dim, begin: int, end: int, stride: int) -> tuple[Dim, Dim | None]:
    """Returns the first index of a slice, and the number of elements, or None if there is no short expression for it.

    Strides may be negative: `x[::-1]` of `n` elements begins at `n - 1`. The first index is valid if an element is
    kept. For an axis of unknown extent, the number is unknown.
    """
    if isinstance(extent, int):
        indices = range(*slice(begin, end, stride).indices(extent))
        return indices[0] if indices else 0, len(indices)
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
    """Returns how many of `length` elements, at least 0, a step selects, starting with the first."""
    return least(length, 1) if step >= MAX_EXTENT else ceil_div(length, step)


def _clipped_bound(extent: Dim, bound: Dim) -> Dim | None:
    """Returns an index counted from the front, which may be out of range; None if its sign is not known.

    A number beyond all extents is the end of the axis on its side.
    """
    if isinstance(bound, int) and abs(bound) >= MAX_EXTENT:
        return extent if bound > 0 else 0
    if is_nonnegative(bound):
        return bound
    return extent + bound if is_positive(-bound) else None
