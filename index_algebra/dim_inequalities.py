"""Polynomials known to be 0 or more, and the inequalities that follow by adding multiples of them."""

from __future__ import annotations

from collections import deque
from contextlib import suppress

from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import Dim, Monomial, Polynomial, from_terms, terms_of
from xrelay.index_algebra.dim_knowledge import DimKnowledge

_STEPS = 24
"""The maximum number of combinations that one search tries."""

_FACTS = 8
"""The maximum number of facts that are tried for one term, latest first."""


class DimInequalities:
    """The known polynomials, indexed by their terms and the signs of these."""

    def __init__(self, knowledge: DimKnowledge):
        self._knowledge = knowledge
        self._facts: dict[tuple[Monomial, bool], list[Polynomial]] = {}
        self._known: set[Polynomial] = set()
        self._lows: dict[tuple[Dim, int | None], int | None] = {}

    def copy(self, knowledge: DimKnowledge) -> DimInequalities:
        """The same polynomials over a copy of the knowledge."""
        other = DimInequalities(knowledge)
        other._facts = {key: list(facts) for key, facts in self._facts.items()}
        other._known = set(self._known)
        return other

    def add(self, dim: Polynomial) -> bool:
        """Record that `dim` is 0 or more; returns whether that is new."""
        if dim in self._known:
            return False
        self._known.add(dim)
        for monomial, coefficient in dim.terms:
            if monomial:
                self._facts.setdefault((monomial, coefficient > 0), []).append(dim)
        return True

    def holds(self, dim: Dim) -> bool:
        """Whether `dim` itself is one of the recorded polynomials."""
        return dim in self._known

    def forget_results(self) -> None:
        """Discard cached bounds after a fact is added, since they may be tighter now."""
        self._lows.clear()

    def lower_bound(self, dim: Dim, enough: int | None = None) -> int | None:
        """A lower bound of `dim`, or `None` if none is found. The search ends at a bound of `enough` or more.

        A known polynomial that shares a term with `dim` is subtracted as often as makes the term vanish; since it is 0
        or more, `dim` is at least the rest. So `n - k >= 0` gives `n + 1 - k` the lower bound 1.
        """
        low = self._knowledge.interval(dim)[0]
        if not isinstance(dim, Polynomial) or not self._facts or _reaches(low, enough):
            return low
        if (dim, enough) not in self._lows:
            self._lows[dim, enough] = self._search(dim, low, enough)
        return self._lows[dim, enough]

    def _search(self, dim: Polynomial, low: int | None, enough: int | None) -> int | None:
        pending, seen = deque([(dim, low)]), {dim}
        best = low
        while pending and len(seen) <= _STEPS and not _reaches(best, enough):
            for rest in self._reduced(*pending.popleft()):
                found = self._knowledge.interval(rest)[0]
                if found is not None and (best is None or found > best):
                    best = found
                if isinstance(rest, Polynomial) and rest not in seen:
                    seen.add(rest)
                    pending.append((rest, found))
        return best

    def _reduced(self, dim: Polynomial, low: int | None) -> list[Dim]:
        """The rests of `dim` after a known polynomial cancels one of its terms, negative terms first.

        If `dim` has no lower bound, a term without one must vanish in any proof: only the first such term is tried.
        """
        terms = sorted((term for term in dim.terms if term[0]), key=lambda term: term[1] > 0)
        if low is None:
            terms = [term for term in terms if self._knowledge.interval(from_terms(dict([term])))[0] is None][:1]
        left: list[Dim] = []
        for monomial, coefficient in terms:
            for part in self._parts(monomial):
                for fact in reversed(self._facts.get((part, coefficient > 0), [])[-_FACTS:]):
                    own = terms_of(fact)[part]
                    rest = _without(monomial, part)
                    if coefficient % own == 0 and self._is_nonnegative(rest):
                        with suppress(DimensionError):  # the difference is too large
                            left.append(dim - from_terms({rest: coefficient // own}) * fact)
        return left

    def _parts(self, monomial: Monomial) -> list[Monomial]:
        """The product itself and its single factors; the other factors then multiply the known polynomial."""
        return [monomial, *((atom,) for atom in dict.fromkeys(monomial) if len(monomial) > 1)]

    def _is_nonnegative(self, monomial: Monomial) -> bool:
        low, _ = self._knowledge.interval(from_terms({monomial: 1}))
        return low is not None and low >= 0


def _reaches(low: int | None, enough: int | None) -> bool:
    return low is not None and enough is not None and low >= enough


def _without(monomial: Monomial, part: Monomial) -> Monomial:
    rest = list(monomial)
    for atom in part:
        rest.remove(atom)
    return tuple(rest)
