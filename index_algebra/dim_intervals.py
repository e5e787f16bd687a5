"""Intervals and residues that contain every value of a dimension, given those of its atoms.

If an expression is undefined for some sizes (division by zero, extents that do not broadcast), the interval contains
its values for the other sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from math import gcd
from typing import TypeAlias

from xrelay.index_algebra.dim_expressions import Atom, Dim, Monomial, Operation, Polynomial, Selection, Symbol
from xrelay.index_algebra.polynomial_terms import times

Interval: TypeAlias = tuple[int | None, int | None]
"""Inclusive lower and upper bound; `None` if unbounded."""

Bounds: TypeAlias = Mapping[Atom, Interval]
"""The intervals of atoms; a name is always 0 or more."""

EXTENT: Interval = (0, None)
"""The interval of a name about which nothing more is known."""

ANYTHING: Interval = (None, None)

_SHIFTED_DEGREE = 4
"""The maximum degree of a monomial that is expanded in distances from lower bounds."""


def interval_of(dim: Dim, bounds: Bounds, inner: Callable[[Dim], Interval] | None = None) -> Interval:
    """The interval of `dim`. `inner` computes the interval of a nested dimension, for callers that cache them."""
    if isinstance(dim, int):
        return dim, dim
    if not isinstance(dim, Polynomial):
        return ANYTHING
    if inner is None:
        inner = partial(interval_of, bounds=bounds)
    atoms = {atom: _atom_interval(atom, bounds, inner) for atom in dict.fromkeys(chain(*(m for m, _ in dim.terms)))}
    plain = _sum_interval(dict(dim.terms), atoms)
    if plain != ANYTHING and all(len(monomial) < 2 for monomial, _ in dim.terms):
        return plain
    if any(len(monomial) > _SHIFTED_DEGREE for monomial, _ in dim.terms):
        return plain
    return intersect(plain, _shifted_interval(dict(dim.terms), atoms))


def intersect(first: Interval, second: Interval) -> Interval:
    """The intersection."""
    return _extreme(max, first[0], second[0]), _extreme(min, first[1], second[1])


def _extreme(choose: Callable[[list[int]], int], *ends: int | None) -> int | None:
    """The maximum or minimum of the bounds that are not `None`."""
    known = [end for end in ends if end is not None]
    return choose(known) if known else None


def _sum_interval(terms: Mapping[Monomial, int], atoms: Mapping[Atom, Interval]) -> Interval:
    low: int | None = 0
    high: int | None = 0
    for monomial, coefficient in terms.items():
        interval: Interval = (coefficient, coefficient)
        for atom in monomial:
            interval = _times(interval, atoms[atom])
        low = None if low is None or interval[0] is None else low + interval[0]
        high = None if high is None or interval[1] is None else high + interval[1]
    return low, high


def _shifted_interval(terms: Mapping[Monomial, int], atoms: Mapping[Atom, Interval]) -> Interval:
    """The interval of the sum, expanded in distances from the lower bounds of the atoms.

    With n and m at least 1, `n * m - n` is `(n' + 1) * (m' + 1) - (n' + 1)`, which is `n' * m' + m'`: 0 or more.
    """
    lows = {atom: low for atom, (low, _) in atoms.items() if low}
    if not lows:
        return ANYTHING
    shifted: dict[Monomial, int] = {}
    for monomial, coefficient in terms.items():
        expanded: dict[Monomial, int] = {(): coefficient}
        for atom in monomial:
            expanded = times(expanded, {(atom,): 1, (): lows.get(atom, 0)})
        for part, factor in expanded.items():
            shifted[part] = shifted.get(part, 0) + factor
    distances = {atom: _less(interval, lows.get(atom, 0)) for atom, interval in atoms.items()}
    return _sum_interval({monomial: factor for monomial, factor in shifted.items() if factor}, distances)


def _less(interval: Interval, amount: int) -> Interval:
    low, high = interval
    return None if low is None else low - amount, None if high is None else high - amount


def _times(first: Interval, second: Interval) -> Interval:
    if (0, 0) in (first, second):
        return 0, 0
    if first[0] is not None and first[0] >= 0:
        return _times_nonnegative(first[0], first[1], second)
    if second[0] is not None and second[0] >= 0:
        return _times_nonnegative(second[0], second[1], first)
    if first[1] is not None and first[1] <= 0:
        return _negated(_times(_negated(first), second))
    if second[1] is not None and second[1] <= 0:
        return _negated(_times(first, _negated(second)))
    ends = [None if x is None or y is None else x * y for x in first for y in second]
    known = [end for end in ends if end is not None]
    return (min(known), max(known)) if len(known) == len(ends) else ANYTHING


def _times_nonnegative(low: int, high: int | None, other: Interval) -> Interval:
    """The product of `[low, high]`, with `low` 0 or more, and `other`."""

    def scaled(end: int | None, outwards: bool) -> int | None:
        factor = high if outwards else low
        return 0 if end == 0 else None if end is None or factor is None else end * factor

    left, right = other
    return scaled(left, left is None or left < 0), scaled(right, right is None or right > 0)


def _negated(interval: Interval) -> Interval:
    low, high = interval
    return None if high is None else -high, None if low is None else -low


def _atom_interval(atom: Atom, bounds: Bounds, inner: Callable[[Dim], Interval]) -> Interval:
    if isinstance(atom, Symbol):
        return bounds.get(atom, EXTENT)
    parts = [inner(part) for part in atom.parts]
    found = _operation_interval(atom, *parts) if isinstance(atom, Operation) else _selection_interval(atom, parts)
    return intersect(found, bounds.get(atom, ANYTHING))


def _operation_interval(atom: Operation, lhs: Interval, rhs: Interval) -> Interval:
    least, most = rhs
    if least is None or least < 0 or (most is not None and most < 1):
        return ANYTHING
    # A divisor of 0 is undefined, so the least relevant divisor is 1.
    divisor = (max(least, 1), most)
    return _quotient_interval(lhs, divisor) if atom.kind == "floordiv" else _remainder_interval(lhs, divisor)


def _quotient_interval(lhs: Interval, divisor: tuple[int, int | None]) -> Interval:
    least, most = divisor

    def shrunk(end: int) -> int:
        """`end` divided by the divisor that brings it nearest to 0."""
        return end // most if most is not None else (0 if end >= 0 else -1)

    low, high = lhs
    return (
        None if low is None else shrunk(low) if low >= 0 else low // least,
        None if high is None else high // least if high >= 0 else shrunk(high),
    )


def _remainder_interval(lhs: Interval, divisor: tuple[int, int | None]) -> Interval:
    (low, high), (least, most) = lhs, divisor
    if low is not None and high is not None and low // least == high // least and (low >= 0 or least == most):
        if least == most:
            return low % least, high % least
        if high < least:
            return low, high
    upper = None if most is None else most - 1
    return 0, _extreme(min, upper, high if low is not None and low >= 0 else None)


def _selection_interval(atom: Selection, intervals: Sequence[Interval]) -> Interval:
    lows, highs = [low for low, _ in intervals], [high for _, high in intervals]
    least = None if None in lows else _extreme(min, *lows)
    most = None if None in highs else _extreme(max, *highs)
    if atom.kind == "max":
        return _extreme(max, *lows), most
    if atom.kind == "min":
        return least, _extreme(min, *highs)
    found: Interval = (least, most)
    for interval in intervals:
        if not may_be_one(interval):
            found = intersect(found, interval)
    return found


def may_be_one(interval: Interval) -> bool:
    """Whether 1 lies in `interval`."""
    low, high = interval
    return (low is None or low <= 1) and (high is None or high >= 1)


Residue: TypeAlias = tuple[int, int]
"""`(r, m)`: the values `r + m * t`. Modulus 0 means the constant `r`, modulus 1 any value."""

UNKNOWN_RESIDUE: Residue = (0, 1)


def residue_of(dim: Dim, residues: Mapping[Atom, Residue]) -> Residue:
    """The residue of `dim`."""
    if isinstance(dim, int):
        return dim, 0
    if not isinstance(dim, Polynomial):
        return UNKNOWN_RESIDUE
    total: Residue = (0, 0)
    for monomial, coefficient in dim.terms:
        total = _plus(total, monomial_residue(monomial, coefficient, residues))
    return total


def monomial_residue(monomial: tuple[Atom, ...], coefficient: int, residues: Mapping[Atom, Residue]) -> Residue:
    """The residue of a product of atoms, times `coefficient`."""
    total: Residue = (coefficient, 0)
    for atom in monomial:
        r, m = _atom_residue(atom, residues)
        total = normalized(total[0] * r, gcd(total[0] * m, r * total[1], total[1] * m))
    return total


def normalized(remainder: int, modulus: int) -> Residue:
    """The residue with its remainder in `[0, modulus)`."""
    return (remainder % modulus if modulus else remainder), modulus


def both(first: Residue, second: Residue) -> Residue | None:
    """The intersection of two residues with non-zero moduli; `None` if it is empty."""
    (r, m), (s, n) = first, second
    common = gcd(m, n)
    if (s - r) % common:
        return None
    steps = (s - r) // common * pow(m // common, -1, n // common) if n > common else 0
    return normalized(r + m * steps, m // common * n)


def solved(factor: int, residue: Residue) -> Residue | None:
    """The residue of `x` given that of `factor * x`, whose modulus is not 0; `None` if there is no `x`."""
    remainder, modulus = residue
    common = gcd(factor, modulus)
    if remainder % common:
        return None
    reduced = modulus // common
    inverse = pow(factor // common, -1, reduced) if reduced > 1 else 0
    return normalized(remainder // common * inverse, reduced)


def _plus(first: Residue, second: Residue) -> Residue:
    return normalized(first[0] + second[0], gcd(first[1], second[1]))


def _atom_residue(atom: Atom, residues: Mapping[Atom, Residue]) -> Residue:
    known = residues.get(atom)
    if known is not None:
        return known
    if isinstance(atom, Operation) and isinstance(atom.rhs, int) and atom.rhs > 0:
        remainder, modulus = residue_of(atom.lhs, residues)
        if atom.kind == "mod":
            return normalized(remainder, gcd(modulus, atom.rhs))
        return (remainder // atom.rhs, modulus // atom.rhs) if modulus % atom.rhs == 0 else UNKNOWN_RESIDUE
    if isinstance(atom, Selection):
        found = [residue_of(part, residues) for part in atom.parts]
        first = found[0][0]
        return normalized(first, gcd(*(modulus for _, modulus in found), *(rest - first for rest, _ in found)))
    return UNKNOWN_RESIDUE
