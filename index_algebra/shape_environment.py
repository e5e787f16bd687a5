"""`ShapeEnvironment`: facts about named dimensions, and the requirements that they prove or refute.

Facts are requirements that are known to hold. An equation is solved for an atom, which is replaced from then on, so
that equal dimensions become the same expression. Bounds and residues of atoms, and polynomials that are 0 or more,
decide the rest. A verdict holds for all sizes that satisfy the facts and for which both sides are defined; an undecided
requirement is `UNKNOWN`. Of two equal names the first to occur is kept, unless more is known of the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import Enum, auto

from xrelay.errors import ContradictionError, DimensionError
from xrelay.index_algebra.dim_expressions import AnyDim, Dim, Polynomial, Selection, from_terms, single_atom
from xrelay.index_algebra.dim_facts import DimFacts
from xrelay.index_algebra.dim_intervals import Interval, intersected
from xrelay.index_algebra.polynomial_terms import without_factors
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Divides, Equal, Requirement


class Verdict(Enum):
    """The result of checking a requirement against the facts."""

    PROVEN = auto()
    """It holds for all sizes that satisfy the facts."""
    REFUTED = auto()
    """No size that satisfies the facts satisfies it."""
    UNKNOWN = auto()
    """It may depend on the sizes."""


class ShapeEnvironment:
    """Facts about named dimensions, each 0 or more. `names` are preferred, in this order, over other equal names."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._facts = DimFacts(names)
        self._decided: dict[Hashable, Verdict] = {}
        self._unknown: set[Hashable] = set()

    def copy(self) -> ShapeEnvironment:
        """The same facts as an independent object."""
        other = ShapeEnvironment()
        other._facts = self._facts.copy()
        return other

    def add(self, requirement: Requirement) -> bool:
        """Add a fact; returns whether it is new.

        Raises `ContradictionError` if the fact contradicts known ones. Not all contradictions are found; after an error
        the environment is unusable.
        """
        verdict = self.prove(requirement)
        if verdict is Verdict.REFUTED:
            raise ContradictionError(f"{requirement.text} contradicts known facts{self._known(requirement)}")
        if verdict is Verdict.PROVEN or _has_any(requirement):
            return False
        self._facts.assume(requirement)
        # Proven and refuted requirements stay decided.
        self._unknown.clear()
        return True

    def prove(self, requirement: Requirement) -> Verdict:
        """Whether the facts prove or refute `requirement`; a requirement on Any is `UNKNOWN`."""
        if _has_any(requirement):
            return Verdict.UNKNOWN
        key = (type(requirement), requirement.lhs, requirement.rhs)
        if key in self._unknown:
            return Verdict.UNKNOWN
        found = self._decided.get(key)
        if found is not None:
            return found
        try:
            found = self._prove(requirement)
        except DimensionError:  # a side is undefined or too large
            found = Verdict.UNKNOWN
        if found is Verdict.UNKNOWN:
            self._unknown.add(key)
        else:
            self._decided[key] = found
        return found

    def simplify(self, dim: Dim) -> Dim:
        """`dim` as the shortest equal expression that is found."""
        knowledge = self._facts.knowledge
        return min((knowledge.simplify(dim), knowledge.normal(dim)), key=_size)

    def interval(self, dim: Dim) -> Interval:
        """Bounds of `dim`; a bound is `None` if it is not known."""
        if isinstance(dim, AnyDim):
            return None, None
        knowledge, inequalities = self._facts.knowledge, self._facts.inequalities
        normal = knowledge.normal(dim)
        low, high = inequalities.lower_bound(normal), inequalities.lower_bound(-normal)
        return intersected((low, None if high is None else -high), knowledge.interval(knowledge.simplify(dim)))

    # --- verdicts --------------------------------------------------------------------------------------------------

    def _prove(self, requirement: Requirement) -> Verdict:
        lhs, rhs = requirement.lhs, requirement.rhs
        match requirement:
            case Equal():
                return self._equal(lhs, rhs)
            case AtLeast():
                return self._at_least(self._facts.knowledge.normal(lhs - rhs))
            case Divides():
                return self._divides(lhs, rhs)
            case Broadcasts():
                return self._broadcasts(lhs, rhs)
            case _:
                raise TypeError(f"{type(requirement).__name__} is not a supported kind of requirement")

    def _equal(self, lhs: Dim, rhs: Dim) -> Verdict:
        if lhs == rhs:
            return Verdict.PROVEN
        knowledge = self._facts.knowledge
        difference = self._without_positive_factors(knowledge.normal(lhs - rhs))
        if isinstance(difference, int):
            return Verdict.REFUTED if difference else Verdict.PROVEN
        remainder, modulus = knowledge.residue(difference)
        if remainder % modulus if modulus else remainder:
            return Verdict.REFUTED
        lows = [self._low(side, 1) for side in (difference, -difference)]
        if all(low == 0 for low in lows) or self._broadcast_without_one(lhs, rhs):
            return Verdict.PROVEN
        return Verdict.REFUTED if any(low is not None and low > 0 for low in lows) else Verdict.UNKNOWN

    def _at_least(self, difference: Dim) -> Verdict:
        """Whether `difference` is 0 or more."""
        low = self._low(difference, 0)
        if low is not None and low >= 0:
            return Verdict.PROVEN
        negated = self._low(-difference, 1)
        return Verdict.REFUTED if negated is not None and negated > 0 else Verdict.UNKNOWN

    def _divides(self, lhs: Dim, rhs: Dim) -> Verdict:
        knowledge = self._facts.knowledge
        divisor = knowledge.simplify(lhs)
        if divisor == 0:
            return Verdict.REFUTED
        rest = knowledge.normal(knowledge.normal(rhs) % divisor)
        if rest == 0:
            nonzero = isinstance(divisor, int) or self._equal(divisor, 0) is Verdict.REFUTED
            return Verdict.PROVEN if nonzero else Verdict.UNKNOWN
        return Verdict.REFUTED if self._equal(rest, 0) is Verdict.REFUTED else Verdict.UNKNOWN

    def _broadcasts(self, lhs: Dim, rhs: Dim) -> Verdict:
        refuted = True
        for left, right in ((lhs, rhs), (lhs, 1), (rhs, 1)):
            verdict = self._equal(left, right)
            if verdict is Verdict.PROVEN:
                return Verdict.PROVEN
            refuted = refuted and verdict is Verdict.REFUTED
        if self._is_known_to_broadcast(lhs, rhs):
            return Verdict.PROVEN
        return Verdict.REFUTED if refuted else Verdict.UNKNOWN

    def _is_known_to_broadcast(self, lhs: Dim, rhs: Dim) -> bool:
        """Whether each extent on one side is known to broadcast with each extent on the other."""
        left, right = self._extents(lhs), self._extents(rhs)
        together = [set(parts) for parts in (left, right)]
        return all(
            any(first in parts and second in parts for parts in together)
            or frozenset((first, second)) in self._facts.broadcasts
            for first in left
            for second in right
        )

    def _extents(self, dim: Dim) -> tuple[Dim, ...]:
        simplified = self._facts.knowledge.simplify(dim)
        atom = single_atom(simplified)
        return atom.parts if isinstance(atom, Selection) and atom.kind == "broadcast" else (simplified,)

    def _broadcast_without_one(self, lhs: Dim, rhs: Dim) -> bool:
        """Whether both are known to broadcast and neither is 1, so that they are equal."""
        knowledge = self._facts.knowledge
        pair = frozenset((knowledge.simplify(lhs), knowledge.simplify(rhs)))
        return pair in self._facts.broadcasts and all(self._equal(dim, 1) is Verdict.REFUTED for dim in pair)

    def _low(self, dim: Dim, enough: int) -> int | None:
        return self._facts.inequalities.lower_bound(dim, enough)

    def _without_positive_factors(self, dim: Dim) -> Dim:
        """`dim` without common factors of its terms that are known to be positive; it is 0 for the same sizes."""
        if not isinstance(dim, Polynomial) or not dim.terms[-1][0]:
            return dim
        terms = dict(dim.terms)
        for atom in dim.terms[-1][0]:
            rests = [without_factors(monomial, (atom,)) for monomial in terms]
            low, _ = self._facts.knowledge.interval(from_terms({(atom,): 1}))
            if low is not None and low > 0 and None not in rests:
                kept = [rest for rest in rests if rest is not None]
                terms = dict(zip(kept, terms.values(), strict=True))
        return from_terms(terms)

    def _known(self, requirement: Requirement) -> str:
        """The simplified sides of a refuted requirement, for a message; empty if simplification changes nothing."""
        sides = [(dim, self.simplify(dim)) for dim in (requirement.lhs, requirement.rhs)]
        changes = [f"{dim} is {simplified}" for dim, simplified in sides if dim != simplified]
        return f": {' and '.join(changes)}" if changes else ""


def _has_any(requirement: Requirement) -> bool:
    return isinstance(requirement.lhs, AnyDim) or isinstance(requirement.rhs, AnyDim)


def _size(dim: Dim) -> tuple[int, int]:
    return len(dim.terms) if isinstance(dim, Polynomial) else 0, len(str(dim))
