"""Knowledge about the atoms of dimensions: simplification by it, and inequalities that follow from known ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import gcd

from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import (
    Atom,
    Dim,
    Monomial,
    Operation,
    Polynomial,
    Selection,
    Symbol,
    as_dim,
    divide,
    from_terms,
    modulo,
    select,
    single_atom,
    terms_of,
)
from xrelay.index_algebra.dim_intervals import (
    ANYTHING,
    EXTENT,
    UNKNOWN_RESIDUE,
    Interval,
    Residue,
    interval_of,
    may_be_one,
    monomial_residue,
    residue_of,
)

_MAX_STEPS = 64
"""The maximum length of a chain of replacements."""

_MAX_TERMS = 64
"""The maximum number of terms that replacements may produce; a larger result is discarded."""

_MAX_ROUNDS = 8
"""The maximum number of rounds that expand quotients."""


class _TooLargeError(Exception):
    """A replacement chain or its result exceeds its limit."""


class DimKnowledge:
    """Atoms that equal other dimensions, and intervals and residues of the others.

    Rewriting terminates: the dimension that replaces an atom contains, once rewritten, no atom that is replaced itself.
    """

    def __init__(self) -> None:
        self.solved: dict[Atom, Dim] = {}
        """The dimension that an atom equals."""
        self.bounds: dict[Atom, Interval] = {}
        self.residues: dict[Atom, Residue] = {}
        self._simplified: dict[Dim, Dim | None] = {}
        self._values: dict[Atom, Dim] = {}
        self._intervals: dict[Dim, Interval] = {}
        self._facts: dict[tuple[Monomial, bool], list[Polynomial]] = {}
        """The polynomials that are 0 or more, by their terms and the signs of these."""
        self._known: set[Polynomial] = set()
        self._lows: dict[tuple[Dim, int | None], int | None] = {}

    def copy(self) -> DimKnowledge:
        """The same knowledge as an independent object."""
        other = DimKnowledge()
        other.solved, other.bounds, other.residues = dict(self.solved), dict(self.bounds), dict(self.residues)
        other._facts = {key: list(facts) for key, facts in self._facts.items()}
        other._known = set(self._known)
        return other

    def forget_results(self) -> None:
        """Discards cached results after knowledge is added, since they may be simpler now."""
        self._simplified.clear()
        self._values.clear()
        self._intervals.clear()
        self._lows.clear()

    def bound(self, atom: Atom) -> Interval:
        """The known interval of `atom` itself."""
        return self.bounds.get(atom, EXTENT if isinstance(atom, Symbol) else ANYTHING)

    def interval(self, dim: Dim) -> Interval:
        """The interval of `dim`, computed from those of its atoms."""
        found = self._intervals.get(dim)
        if found is None:
            found = self._intervals[dim] = interval_of(dim, self.bounds, self.interval)
        return found

    def residue(self, dim: Dim) -> Residue:
        """The residue of `dim`, computed from those of its atoms."""
        return residue_of(dim, self.residues)

    def tighten(self, atom: Atom) -> None:
        """Moves the bounds of the atom's interval to numbers of its residue."""
        remainder, modulus = self.residues.get(atom, UNKNOWN_RESIDUE)
        low, high = self.bound(atom)
        low = None if low is None else low + (remainder - low) % modulus
        high = None if high is None else high - (high - remainder) % modulus
        self.bounds[atom] = (low, high)

    # --- rewriting -------------------------------------------------------------------------------------------------

    def simplify(self, dim: Dim) -> Dim:
        """`dim` with every atom replaced by the dimension it equals, and decidable quotients folded.

        Returns `dim` itself if the result is too large or undefined.
        """
        found = self.rewritten(dim)
        return dim if found is None else found

    def rewritten(self, dim: Dim) -> Dim | None:
        """The result of `simplify`, or `None` if that is too large or undefined."""
        if not isinstance(dim, Polynomial):
            return dim
        if dim not in self._simplified:
            try:
                self._simplified[dim] = self._rewrite(dim, 0)
            except (_TooLargeError, DimensionError):
                self._simplified[dim] = None
        return self._simplified[dim]

    def normal(self, dim: Dim) -> Dim:
        """`dim` simplified, with `16 * (n floordiv 16)` as `n - n mod 16`: more equal sums then have equal forms."""
        current = self.simplify(dim)
        for _ in range(_MAX_ROUNDS):
            try:
                following = self.simplify(self._expanded(current))
            except DimensionError:  # the expanded form is too large
                break
            if following == current:
                break
            current = following
        return current

    def _rewrite(self, dim: Dim, step: int) -> Dim:
        if not isinstance(dim, Polynomial):
            return dim
        if step > _MAX_STEPS:
            raise _TooLargeError
        values = {atom: self._value(atom, step) for monomial, _ in dim.terms for atom in monomial}
        total: Dim = dim
        if any(single_atom(value) != atom for atom, value in values.items()):
            total = _replaced(dim.terms, values)
        low, high = self.interval(total)
        return low if low is not None and low == high else total

    def _value(self, atom: Atom, step: int) -> Dim:
        """The dimension that `atom` equals, rewritten."""
        found = self._values.get(atom)
        if found is None:
            if atom in self.solved:
                found = self.solved[atom] = self._rewrite(self.solved[atom], step + 1)
            elif isinstance(atom, Symbol):
                found = as_dim(atom)
            else:
                found = self._rebuilt(atom, [self._rewrite(part, step + 1) for part in atom.parts], step)
            self._values[atom] = found
        return found

    def _rebuilt(self, atom: Operation | Selection, parts: Sequence[Dim], step: int) -> Dim:
        if isinstance(atom, Selection):
            made = select(atom.kind, self._selected(atom, parts))
        elif atom.kind == "floordiv":
            made = self._quotient(*parts)
        else:
            made = self._remainder(*parts)
        if isinstance(made, Polynomial) and any(part in self.solved for monomial, _ in made.terms for part in monomial):
            return self._rewrite(made, step + 1)
        return made

    def _selected(self, atom: Selection, parts: Sequence[Dim]) -> Sequence[Dim]:
        """The operands without those that another operand certainly dominates."""
        if atom.kind == "broadcast":
            # A part that cannot be 1 is the extent.
            return [part for part in parts if not may_be_one(self.interval(part))][:1] or parts
        kept: list[Dim] = []
        sign = 1 if atom.kind == "max" else -1
        for part in parts:
            if not any(self._at_least_zero(sign * (other - part)) for other in kept):
                kept = [other for other in kept if not self._at_least_zero(sign * (part - other))]
                kept.append(part)
        return kept

    def _at_least_zero(self, dim: Dim) -> bool:
        low, _ = self.interval(dim)
        return low is not None and low >= 0

    def _quotient(self, lhs: Dim, rhs: Dim) -> Dim:
        whole = self._constant_quotient(lhs, rhs)
        return whole if whole is not None else divide(lhs, rhs, positive=self._at_least_zero(rhs - 1))

    def _remainder(self, lhs: Dim, rhs: Dim) -> Dim:
        whole = self._constant_quotient(lhs, rhs)
        if whole is not None:
            return lhs - whole * rhs
        if not isinstance(rhs, int) or rhs < 1:
            return modulo(lhs, rhs, positive=self._at_least_zero(rhs - 1))
        reduced = modulo(self._reduced(lhs, rhs), rhs)
        remainder, modulus = self.residue(lhs)
        return remainder % rhs if modulus % rhs == 0 else reduced

    def _constant_quotient(self, lhs: Dim, rhs: Dim) -> int | None:
        """The quotient if the intervals decide it."""
        low, high = self.interval(lhs)
        if isinstance(rhs, int):
            decided = rhs > 0 and low is not None and high is not None and low // rhs == high // rhs
            return low // rhs if decided and low is not None else None
        return 0 if low is not None and low >= 0 and self._at_least_zero(rhs - lhs - 1) else None

    def _reduced(self, dim: Dim, modulus: int) -> Dim:
        """A dimension with the same remainder, with terms replaced by their known remainders."""
        total: Dim = 0
        for monomial, coefficient in terms_of(dim).items():
            remainder, known = monomial_residue(monomial, coefficient, self.residues)
            term: Dim = from_terms({monomial: coefficient})
            if known % modulus == 0:
                term = remainder
            elif len(monomial) == 1:
                term = _without_inner_remainder(monomial[0], coefficient, modulus)
            total = total + term
        return total

    def _expanded(self, dim: Dim) -> Dim:
        """`dim` with `d * (x floordiv d)` as `x - x mod d`, and common factors moved out of `mod`."""
        if not isinstance(dim, Polynomial):
            return dim
        total: Dim = 0
        for monomial, coefficient in dim.terms:
            total = total + _expanded_term(monomial, coefficient)
        return total

    # --- inequalities ------------------------------------------------------------------------------------------------

    def add_nonnegative(self, dim: Polynomial) -> bool:
        """Records that `dim` is 0 or more; returns whether that is new."""
        if dim in self._known:
            return False
        self._known.add(dim)
        for monomial, coefficient in dim.terms:
            if monomial:
                self._facts.setdefault((monomial, coefficient > 0), []).append(dim)
        return True

    def is_recorded(self, dim: Dim) -> bool:
        """Whether `dim` itself is one of the recorded polynomials."""
        return dim in self._known

    def lower_bound(self, dim: Dim, enough: int | None = None) -> int | None:
        """A lower bound of `dim`, or `None` if none is found. The search ends at a bound of `enough` or more.

        A known polynomial that shares a term with `dim` is subtracted as often as makes the term vanish; since it is 0
        or more, `dim` is at least the rest. So `n - k >= 0` gives `n + 1 - k` the lower bound 1.
        """
        low = self.interval(dim)[0]
        if not isinstance(dim, Polynomial) or not self._facts or _reaches(low, enough):
            return low
        if (dim, enough) not in self._lows:
            self._lows[dim, enough] = self._search(dim, low, enough)
        return self._lows[dim, enough]

    def _search(self, dim: Polynomial, low: int | None, enough: int | None) -> int | None:
        pending, seen = deque([(dim, low)]), {dim}
        best = low
        while pending and len(seen) <= _STEPS and not _reaches(best, enough):
            for rest in self._rests(*pending.popleft()):
                found = self.interval(rest)[0]
                if found is not None and (best is None or found > best):
                    best = found
                if isinstance(rest, Polynomial) and rest not in seen:
                    seen.add(rest)
                    pending.append((rest, found))
        return best

    def _rests(self, dim: Polynomial, low: int | None) -> list[Dim]:
        """The rests of `dim` after a known polynomial cancels one of its terms, negative terms first.

        If `dim` has no lower bound, a term without one must vanish in any proof: only the first such term is tried.
        """
        terms = sorted((term for term in dim.terms if term[0]), key=lambda term: term[1] > 0)
        if low is None:
            terms = [term for term in terms if self.interval(from_terms(dict([term])))[0] is None][:1]
        left: list[Dim] = []
        for monomial, coefficient in terms:
            for part in self._divisors(monomial):
                for fact in reversed(self._facts.get((part, coefficient > 0), [])[-_FACTS:]):
                    own = terms_of(fact)[part]
                    rest = _without(monomial, part)
                    if coefficient % own == 0 and self._at_least_zero(from_terms({rest: 1})):
                        with suppress(DimensionError):  # the difference is too large
                            left.append(dim - from_terms({rest: coefficient // own}) * fact)
        return left

    def _divisors(self, monomial: Monomial) -> list[Monomial]:
        """The product itself and its single factors; the other factors then multiply the known polynomial."""
        return [monomial, *((atom,) for atom in dict.fromkeys(monomial) if len(monomial) > 1)]


def _without_inner_remainder(atom: Atom, coefficient: int, modulus: int) -> Dim:
    """`coefficient * atom`, or a simpler dimension with the same remainder: `n mod 8` and `n` are equal modulo 4."""
    if not isinstance(atom, Operation) or atom.kind != "mod" or not isinstance(atom.rhs, int):
        return coefficient * as_dim(atom)
    return coefficient * (as_dim(atom) if coefficient * atom.rhs % modulus else atom.lhs)


def _replaced(terms: Sequence[tuple[Monomial, int]], values: Mapping[Atom, Dim]) -> Dim:
    total: Dim = 0
    for monomial, coefficient in terms:
        term: Dim = coefficient
        for atom in monomial:
            term = term * values[atom]
            _check_size(term)
        total = total + term
        _check_size(total)
    return total


def _check_size(dim: Dim) -> None:
    if isinstance(dim, Polynomial) and len(dim.terms) > _MAX_TERMS:
        raise _TooLargeError


def _expanded_term(monomial: Monomial, coefficient: int) -> Dim:
    for position, atom in enumerate(monomial):
        if not isinstance(atom, Operation):
            continue
        others = (*monomial[:position], *monomial[position + 1 :])
        divisor = single_atom(atom.rhs)
        if atom.kind == "mod":
            common = _common_factor(atom)
            if common > 1:
                inner = modulo(divide(atom.lhs, common), divide(atom.rhs, common))
                return from_terms({others: coefficient * common}) * inner
        elif isinstance(atom.rhs, int) and abs(coefficient) >= atom.rhs > 0:
            times, left = divmod(abs(coefficient), atom.rhs)
            sign = 1 if coefficient > 0 else -1
            multiple = from_terms({others: sign * times}) * (atom.lhs - modulo(atom.lhs, atom.rhs))
            return multiple + from_terms({monomial: sign * left})
        elif divisor is not None and divisor in others:
            rest = list(others)
            rest.remove(divisor)
            return from_terms({tuple(rest): coefficient}) * (atom.lhs - modulo(atom.lhs, atom.rhs))
    return from_terms({monomial: coefficient})


def _common_factor(atom: Operation) -> int:
    """The greatest common divisor of all coefficients of both operands."""
    return gcd(*terms_of(atom.lhs).values(), *terms_of(atom.rhs).values())


_STEPS = 24
"""The maximum number of combinations that one search tries."""

_FACTS = 8
"""The maximum number of facts that are tried for one term, latest first."""


def _reaches(low: int | None, enough: int | None) -> bool:
    return low is not None and enough is not None and low >= enough


def _without(monomial: Monomial, part: Monomial) -> Monomial:
    rest = list(monomial)
    for atom in part:
        rest.remove(atom)
    return tuple(rest)
