"""Quotients and remainders by non-constant divisors: `(i * n + j) floordiv n`.

The results hold wherever the division is defined, that is, for a divisor other than 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.index_algebra.affine_products import factors_of, monomial_of, without_factors
from xrelay.index_algebra.linear_form import LinearForm, atom_form, spread

Interval = tuple[int, int]
"""Inclusive lower and upper bound."""

_STEPS = 16
"""The maximum number of terms in a quotient by a sum; the division fails beyond it."""

_FACTORS = 6
"""The maximum number of factors of a product in a proof, which replaces each by its limit and multiplies out."""


@dataclass(frozen=True)
class Ranges:
    """Known ranges of dimensions, for proofs."""

    interval: Callable[[LinearForm], Interval | None]
    limits: Mapping[int, AffineExpr]
    """Dimensions that run from 0 to an expression minus 1."""

    def is_nonnegative(self, form: LinearForm) -> bool:
        """Whether `form` is provably 0 or more."""
        found = self.interval(form)
        return (found is not None and found[0] >= 0) or self.has_no_negative_term(form)

    def has_no_negative_term(self, form: LinearForm) -> bool:
        """Whether the constant, all coefficients and all factors are 0 or more."""
        return form.constant >= 0 and all(
            coefficient >= 0 and all(self._is_nonnegative_factor(factor) for factor in factors_of(atom))
            for atom, coefficient in form.terms
        )

    def _is_nonnegative_factor(self, factor: AffineExpr) -> bool:
        if isinstance(factor, AffineDimExpr) and factor.position in self.limits:
            return True
        found = self.interval(atom_form(factor))
        return found is not None and found[0] >= 0

    def greatest(self, form: LinearForm, kept: set[int]) -> LinearForm | None:
        """An upper bound of `form` over the dimensions in `kept` and those of limits; `None` if none is found."""
        total = LinearForm((), form.constant)
        for atom, coefficient in form.terms:
            term = LinearForm((), coefficient)
            for factor in factors_of(atom):
                largest = self._greatest_factor(factor, kept)
                if largest is None:
                    return None
                term = term.times(largest)
            total = total.plus(term)
        return total

    def _greatest_factor(self, factor: AffineExpr, kept: set[int]) -> LinearForm | None:
        if not self._is_nonnegative_factor(factor):
            return None
        if isinstance(factor, AffineDimExpr):
            if factor.position in self.limits:
                return spread(self.limits[factor.position]).plus(LinearForm((), -1))
            if factor.position in kept:
                return atom_form(factor)
        if isinstance(factor, AffineBinaryOpExpr) and factor.kind is AffineBinaryOpKind.Mod:
            return spread(factor.rhs).plus(LinearForm((), -1))
        found = self.interval(atom_form(factor))
        return atom_form(factor) if found is None else LinearForm((), found[1])


def divided(form: LinearForm, divisor: LinearForm, ranges: Ranges) -> tuple[LinearForm, LinearForm]:
    """The quotient and remainder of `form` by `divisor`; the part that cannot be decided becomes an atom."""
    whole, rest = _split(form, divisor, ranges)
    if rest == LinearForm(()) or _is_below(rest, divisor, ranges):
        return whole, rest
    quotient, remainder = (
        atom_form(AffineBinaryOpExpr(kind, rest.expr(), divisor.expr()))
        for kind in (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)
    )
    return whole.plus(_nested(rest, divisor, ranges) or quotient), remainder


def _split(form: LinearForm, divisor: LinearForm, ranges: Ranges) -> tuple[LinearForm, LinearForm]:
    """Split `form` as `whole * divisor + rest`."""
    if len(divisor.terms) == 1 and divisor.constant == 0:
        return _split_by_monomial(form, *divisor.terms[0])
    whole, rest = LinearForm(()), form
    lead, coefficient = max(divisor.terms, key=lambda term: len(factors_of(term[0])))
    for _ in range(_STEPS):
        step = next((s for term in rest.terms if (s := _share(*term, lead, coefficient)) is not None), None)
        if step is None:
            break
        whole, rest = whole.plus(step), rest.plus(step.times(divisor).scaled(-1))
        if rest == LinearForm(()) or _is_below(rest, divisor, ranges):
            return whole, rest
    return LinearForm(()), form


def _split_by_monomial(form: LinearForm, monomial: AffineExpr, coefficient: int) -> tuple[LinearForm, LinearForm]:
    whole, rest = LinearForm(()), LinearForm((), form.constant)
    for term in form.terms:
        share = _share(*term, monomial, coefficient)
        if share is None:
            rest = rest.plus(LinearForm((term,)))
        else:
            whole = whole.plus(share)
    return whole, rest


def _share(atom: AffineExpr, value: int, monomial: AffineExpr, coefficient: int) -> LinearForm | None:
    """`value * atom` divided by `coefficient * monomial`; `None` if there is a remainder."""
    left = without_factors(atom, factors_of(monomial))
    if left is None or value % coefficient:
        return None
    share = value // coefficient
    return LinearForm(((monomial_of(left), share),)) if left else LinearForm((), share)


def _is_below(form: LinearForm, divisor: LinearForm, ranges: Ranges) -> bool:
    """Whether `form` is provably in [0, divisor), so that it is its own remainder."""
    if any(len(factors_of(atom)) > _FACTORS for atom, _ in (*form.terms, *divisor.terms)):
        return False
    if not ranges.is_nonnegative(form) or any(coefficient < 0 for _, coefficient in form.terms):
        return False
    kept = set[int]().union(*(atom.used_dims() for atom, _ in divisor.terms))
    greatest = ranges.greatest(form, kept)
    if greatest is None:
        return False
    room = divisor.plus(LinearForm((), -1)).plus(greatest.scaled(-1))
    if ranges.is_nonnegative(room):
        return True
    return len(divisor.terms) == 1 and divisor.constant == 0 and _is_nonnegative_from_one(room, divisor, ranges)


def _is_nonnegative_from_one(form: LinearForm, divisor: LinearForm, ranges: Ranges) -> bool:
    """Whether `form` is 0 or more if no factor of the divisor is 0.

    Each nonnegative factor `f` is then at least 1, and is replaced by `f' + 1` with a nonnegative `f'`.
    """
    factors = {f for f in factors_of(divisor.terms[0][0]) if ranges.is_nonnegative(atom_form(f))}
    total = LinearForm((), form.constant)
    for atom, coefficient in form.terms:
        term = LinearForm((), coefficient)
        for factor in factors_of(atom):
            term = term.times(LinearForm(((factor, 1),), 1 if factor in factors else 0))
        total = total.plus(term)
    return ranges.has_no_negative_term(total)


def _nested(rest: LinearForm, divisor: LinearForm, ranges: Ranges) -> LinearForm | None:
    """Fold `(x floordiv y) floordiv z` to `x floordiv (y * z)`, for `z` of 1 or more; `None` if it does not apply."""
    if rest.constant or len(rest.terms) != 1 or rest.terms[0][1] != 1 or not ranges.is_nonnegative(divisor):
        return None
    inner = rest.terms[0][0]
    if not isinstance(inner, AffineBinaryOpExpr) or inner.kind is not AffineBinaryOpKind.FloorDiv:
        return None
    if isinstance(inner.rhs, AffineConstantExpr):
        by = divisor.scaled(inner.rhs.value)
    else:
        by = spread(inner.rhs).times(divisor)
    return divided(spread(inner.lhs), by, ranges)[0]
