"""Shape rules for symbolic extents: Relay's reshape codes (0, -1, -2, -3, -4), and numpy's slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xrelay.dialects.relay.core.facts import Facts
from xrelay.index_algebra.dims import (
    ANY,
    MAX_EXTENT,
    AnyDim,
    Dim,
    Polynomial,
    Selection,
    Shape,
    ceil_div,
    greatest,
    is_nonnegative,
    is_positive,
    least,
    names_of,
    product,
    quotient,
    remainder,
    shape_text,
    single_atom,
)


def reshaped(facts: Facts, shape: Shape, codes: Sequence[int], *, allow_zero: bool) -> Shape:
    """Returns the shape for `codes` applied to `shape`; constraints C1 to C3 of the op (see `relay.reshape`)."""
    reader = _CodeReader(facts, shape, codes, allow_zero)
    reader.read()
    return reader.finish()


def reshaped_to(facts: Facts, shape: Shape, elements: Sequence[Dim], *, copies: bool) -> Shape:
    """Returns the shape for a dynamic list of extents applied to `shape`, as far as `elements` determine it.

    -1 is the remaining extent, and 0 copies an extent if `copies`. An expression is assumed not to be -1. It is
    required not to be 0, unless it is the extent that would be copied. Constraints C2 and C3 of the op.
    """
    result: list[Dim] = []
    rest: int | None = None
    for index, element in enumerate(elements):
        if isinstance(element, AnyDim):
            result.append(facts.new_extent("e", index))
            continue
        if element == -1:
            facts.require(rest is None, "C2", f"the shape {shape_text(elements)} has -1 twice")
            rest = index
            result.append(1)
        elif element == 0 and copies:
            facts.require(
                index < len(shape),
                "C2",
                f"0 at index {index} of the shape has no extent to copy, the data has {len(shape)}",
            )
            result.append(shape[index])
        else:
            facts.require(not isinstance(element, int) or element >= 0, "C2", f"the shape has the extent {element}")
            if copies and element != (shape[index] if index < len(shape) else None):
                facts.require_at_least(element, 1, "C2", "an extent that is not copied")
            result.append(element)
    return _with_rest(facts, shape, result, rest)


def _with_rest(facts: Facts, shape: Shape, result: list[Dim], rest: int | None) -> Shape:
    """Returns the extents with the one at position `rest` inferred; C3."""
    total, known = product(shape), product(result)
    unknown = ANY in (total, known) or any(name.startswith("%") for name in names_of(known))
    if rest is None:
        if not unknown:
            what = f"element counts of {shape_text(shape)} and {shape_text(result)} differ:"
            facts.require_equal(total, known, "C3", what)
        return tuple(result)
    if unknown:
        result[rest] = facts.new_extent("e", rest)
        return tuple(result)
    facts.require_at_least(known, 1, "C3", "the count beside -1")
    facts.require_equal(remainder(total, known), 0, "C3", f"{total} elements modulo {known}:")
    result[rest] = quotient(total, known)
    return tuple(result)


def codes_of(shape: Shape, result: Shape) -> Iterator[tuple[int, ...]]:
    """Yields the candidate lists of codes from `shape` to `result`: copies and merges first, then one inferred extent.

    A constant extent is its own code, so `result` must not contain 0. The op's rule decides whether codes yield
    `result`.
    """
    pending: list[tuple[int, ...]] = [()]
    while pending:
        codes = pending.pop()
        if len(codes) == len(result):
            yield codes
            continue
        wanted, source = result[len(codes)], len(codes) + codes.count(-3)
        if isinstance(wanted, int):
            pending += [(*codes, wanted)] if wanted > 0 else []
            continue
        # The last one is tried first.
        pending += [(*codes, -1)] if -1 not in codes else []
        pending += [(*codes, -3)] if wanted == product(shape[source : source + 2]) else []
        pending += [(*codes, 0)] if (wanted,) == shape[source : source + 1] else []


class _CodeReader:
    """Processes codes and source extents in parallel."""

    def __init__(self, facts: Facts, shape: Shape, codes: Sequence[int], allow_zero: bool):
        self.facts, self.shape, self.codes, self.allow_zero = facts, shape, codes, allow_zero
        self.result: list[Dim] = []
        self.source = 0
        self.inferred: int | None = None

    def read(self) -> None:
        """Converts all codes to extents; an extent to infer is recorded, with the value 1."""
        position = 0
        while position < len(self.codes):
            code = self.codes[position]
            position += 1
            if code > 0 or (code == 0 and self.allow_zero):
                self.result.append(code)
                self.source += 1
            elif code == 0:
                self.result.append(self._take())
            elif code == -1:
                self._note_inferred()
            elif code == -2:
                self.result.extend(self.shape[self.source :])
                self.source = len(self.shape)
            elif code == -3:
                self.result.append(self._take() * self._take())
            elif code == -4:
                self._split(self.codes[position : position + 2])
                position += 2
            else:
                self.facts.require(False, "C1", f"reshape code {code} is not one of 0, -1, -2, -3, -4 or an extent")

    def finish(self) -> Shape:
        """Infers the extent of -1 and compares the element counts."""
        total, known = product(self.shape), product(self.result)
        what = f"element counts of {_text(self.shape)} and {_text(self.result)} differ:"
        if self.inferred is None:
            self.facts.require_equal(total, known, "C3", what)
            return tuple(self.result)
        self.facts.require(known != 0, "C3", "-1 is ambiguous with an extent of 0")
        if isinstance(total, AnyDim) or isinstance(known, AnyDim):
            self.result[self.inferred] = ANY
            return tuple(self.result)
        self.facts.require_at_least(known, 1, "C3", "the elements beside -1")
        self.facts.require_equal(remainder(total, known), 0, "C3", f"{total} elements modulo {known}:")
        self.result[self.inferred] = quotient(total, known)
        return tuple(self.result)

    def _take(self) -> Dim:
        self.facts.require(
            self.source < len(self.shape), "C2", f"codes {list(self.codes)} use more than the {len(self.shape)} extents"
        )
        self.source += 1
        return self.shape[self.source - 1]

    def _note_inferred(self) -> None:
        self.facts.require(self.inferred is None, "C1", f"codes {list(self.codes)} have -1 twice")
        self.inferred = len(self.result)
        self.result.append(1)
        self.source += 1

    def _split(self, parts: Sequence[int]) -> None:
        self.facts.require(
            len(parts) == 2 and all(part > 0 or part == -1 for part in parts) and tuple(parts) != (-1, -1),
            "C1",
            f"-4 needs two extents after it, at most one -1, found {list(parts)}",
        )
        whole = self._take()
        known = parts[0] if parts[0] > 0 else parts[1]
        self.facts.require_equal(whole % known, 0, "C3", f"extent {whole} modulo {known}:")
        first = parts[0] if parts[0] > 0 else whole // known
        second = parts[1] if parts[1] > 0 else whole // known
        self.facts.require_equal(first * second, whole, "C3", f"extents {first} * {second} do not equal {whole}:")
        self.result += (first, second)


def _text(shape: Sequence[Dim]) -> str:
    return "(" + ", ".join(str(dim) for dim in shape) + ")"


MAX_NESTING = 8
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
    if any(isinstance(dim, Polynomial) and dim.depth >= MAX_NESTING for dim in (extent, begin, end)):
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
    if isinstance(left, Polynomial) and left.depth > MAX_NESTING // 2:
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
