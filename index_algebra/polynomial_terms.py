"""Sums of monomials with integer coefficients, over any atoms: the arithmetic that `dim_expressions` uses.

A monomial is a tuple of atoms in the order of their text, and the empty tuple is 1; a sum maps monomials to
coefficients. Atoms are hashable, and atoms of equal text are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from math import gcd
from typing import TypeAlias, TypeVar

AtomT = TypeVar("AtomT", bound=Hashable)
Monomial: TypeAlias = tuple[AtomT, ...]
Terms: TypeAlias = Mapping[Monomial[AtomT], int]

_LAST = "\U0010ffff"
"""Sorts after the text of every atom."""

_DIVISION_STEPS = 64
"""The maximum number of terms in a quotient of two sums; the division fails beyond it."""


def ordered(terms: Terms[AtomT]) -> tuple[tuple[Monomial[AtomT], int], ...]:
    """The non-zero terms, by descending degree, then by text."""
    kept = [(monomial, coefficient) for monomial, coefficient in terms.items() if coefficient]
    if len(kept) < 2:
        return tuple(kept)
    return tuple(sorted(kept, key=lambda term: (-len(term[0]), [str(atom) for atom in term[0]])))


def plus(lhs: Terms[AtomT], rhs: Terms[AtomT], factor: int = 1) -> dict[Monomial[AtomT], int]:
    """`lhs + factor * rhs`, without terms that cancel."""
    total = dict(lhs)
    for monomial, coefficient in rhs.items():
        value = total.get(monomial, 0) + factor * coefficient
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def times(lhs: Terms[AtomT], rhs: Terms[AtomT]) -> dict[Monomial[AtomT], int]:
    """The product of two sums."""
    total: dict[Monomial[AtomT], int] = {}
    for left, left_coefficient in lhs.items():
        for right, right_coefficient in rhs.items():
            monomial = tuple(sorted(left + right, key=str)) if left and right else left + right
            total[monomial] = total.get(monomial, 0) + left_coefficient * right_coefficient
    return total


def content(terms: Terms[AtomT]) -> int:
    """The greatest common divisor of all coefficients; 0 if there are no terms."""
    return gcd(*terms.values())


def divided(terms: Terms[AtomT], divisor: int) -> dict[Monomial[AtomT], int]:
    """Every coefficient divided by the positive `divisor` and rounded down."""
    return {monomial: coefficient // divisor for monomial, coefficient in terms.items()}


def without_factors(monomial: Monomial[AtomT], factors: Monomial[AtomT]) -> Monomial[AtomT] | None:
    """`monomial` divided by the product of `factors`; `None` if one of them is missing."""
    rest = list(monomial)
    for atom in factors:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def exact_quotient(lhs: Terms[AtomT], rhs: Terms[AtomT]) -> dict[Monomial[AtomT], int] | None:
    """The sum whose product with `rhs` is `lhs`; `None` if none is found. `rhs` is not zero.

    Long division by the leading monomial, in lexicographic order.
    """
    rest, quotient = dict(lhs), dict[Monomial[AtomT], int]()
    lead = min(rhs, key=_lexicographic)
    for _ in range(_DIVISION_STEPS):
        if not rest:
            return quotient
        greatest = min(rest, key=_lexicographic)
        monomial = without_factors(greatest, lead)
        if monomial is None or rest[greatest] % rhs[lead]:
            return None
        coefficient = rest[greatest] // rhs[lead]
        quotient[monomial] = coefficient
        rest = plus(rest, times({monomial: coefficient}, rhs), -1)
    return None


def _lexicographic(monomial: Monomial[AtomT]) -> tuple[str, ...]:
    """Sort key with `x * x` before `x * y` before `x` before `y` before 1, an order that multiplication preserves."""
    return (*map(str, monomial), _LAST)


def split_multiples(
    terms: Terms[AtomT],
    factors: Monomial[AtomT],
    coefficient: int,
    splits: Callable[[Monomial[AtomT]], bool],
) -> tuple[dict[Monomial[AtomT], int], dict[Monomial[AtomT], int]]:
    """Splits the sum as `whole * (coefficient * factors) + rest`, with `whole` as large as possible; `coefficient` > 0.

    If `splits` holds for its monomial, a term may contribute to both; its coefficient in `rest` is then in
    `[0, coefficient)`.
    """
    whole: dict[Monomial[AtomT], int] = {}
    rest: dict[Monomial[AtomT], int] = {}
    for monomial, value in terms.items():
        quotient = without_factors(monomial, factors)
        times_whole, left = divmod(value, coefficient)
        if quotient is None or (left and not splits(monomial)):
            rest[monomial] = value
            continue
        whole[quotient] = times_whole
        if left:
            rest[monomial] = left
    return whole, rest
