"""`ShapeEnvironment`: facts about named dimensions, and the requirements that they prove or refute.

Facts are requirements that are known to hold. An equation is solved for an atom, which is replaced from then on, so
that equal dimensions become the same expression. Bounds and residues of atoms, and polynomials that are 0 or more,
decide the rest. A verdict holds for all sizes that satisfy the facts and for which both sides are defined; an undecided
requirement is `UNKNOWN`. Of two equal names the first to occur is kept, unless more is known of the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import Enum, auto
from math import gcd

from xrelay.errors import ContradictionError, DimensionError
from xrelay.index_algebra.dim_expressions import (
    AnyDim,
    Atom,
    Dim,
    Operation,
    Polynomial,
    Selection,
    Symbol,
    as_dim,
    from_terms,
    is_nonnegative,
    parts_of,
    single_atom,
    terms_of,
)
from xrelay.index_algebra.dim_intervals import UNKNOWN_RESIDUE, Interval, both, intersect, may_be_one, solved
from xrelay.index_algebra.dim_knowledge import DimKnowledge
from xrelay.index_algebra.polynomial_terms import divided, without_factors
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Divides, Equal, Requirement


class DimFacts:
    """The assumed facts. A fact about several atoms is watched: it is assumed again when one of them is solved."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.knowledge = DimKnowledge()
        self.broadcasts: set[frozenset[Dim]] = set()
        """Pairs of dimensions that broadcast."""
        self._watchers: dict[Atom, dict[Requirement, None]] = {}
        self._ranks: dict[str, int] = {}
        """The names in order of first occurrence."""
        self._weights: dict[Atom, int] = {}
        """The number of atoms that an atom has replaced."""
        self._meet(names)

    def copy(self) -> DimFacts:
        """The same facts as an independent object."""
        other = DimFacts()
        other.knowledge = self.knowledge.copy()
        other.broadcasts = set(self.broadcasts)
        other._watchers = {atom: dict(facts) for atom, facts in self._watchers.items()}
        other._ranks, other._weights = dict(self._ranks), dict(self._weights)
        return other

    def assume(self, requirement: Requirement) -> None:
        """Assumes `requirement` and its consequences; raises `ContradictionError` if it cannot hold."""
        pending = [requirement]
        while pending:
            fact = pending.pop()
            self._meet(sorted(fact.names))
            if not self._assume(fact, pending):
                what = f": {fact.text}" if fact != requirement else ""
                raise ContradictionError(f"{requirement.text} contradicts known facts{what}")
            self.knowledge.forget_results()

    def _meet(self, names: Iterable[str]) -> None:
        for name in names:
            self._ranks.setdefault(name, len(self._ranks))

    def _assume(self, fact: Requirement, pending: list[Requirement]) -> bool:
        """Processes `fact` and appends its consequences to `pending`; returns whether it can hold."""
        match fact:
            case Equal():
                return self._assume_equal(fact, pending)
            case AtLeast():
                return self._assume_at_least(fact, pending)
            case Divides():
                return self._assume_divides(fact, pending)
            case Broadcasts():
                return self._assume_broadcasts(fact, pending)
            case _:
                raise TypeError(f"{type(fact).__name__} is not a supported kind of requirement")

    # --- equations -------------------------------------------------------------------------------------------------

    def _assume_equal(self, fact: Equal, pending: list[Requirement]) -> bool:
        difference = fact.lhs - fact.rhs
        normal = self.knowledge.normal(difference)
        for form in (self.knowledge.rewritten(difference), self.knowledge.rewritten(normal)):
            equation = _primitive(form)
            if isinstance(equation, int):
                return equation == 0
            if isinstance(equation, Polynomial) and self._solve(equation, fact, pending):
                return True
        remainder, modulus = self.knowledge.residue(normal)
        if modulus and remainder % modulus:
            return False
        self._watch(fact, normal)
        pending += (AtLeast(normal, 0), AtLeast(0, normal))
        return True

    def _solve(self, equation: Polynomial, fact: Equal, pending: list[Requirement]) -> bool:
        """Solves `equation == 0` for an atom that occurs only as a term of its own; returns whether there is one."""
        found = [
            (monomial[0], coefficient)
            for monomial, coefficient in equation.terms
            if len(monomial) == 1 and abs(coefficient) == 1 and not _occurs_elsewhere(monomial[0], equation)
        ]
        if not found:
            return False
        atom, coefficient = min(found, key=lambda pair: self._cost(pair[0]))
        value = from_terms({m: -coefficient * c for m, c in equation.terms if m != (atom,)})
        self._replace(atom, value, pending)
        if not isinstance(atom, Symbol):
            self._watch(fact, as_dim(atom))
            pending += _consequences(atom, value)
        return True

    def _cost(self, atom: Atom) -> tuple[bool, int, int]:
        """Sort key of atoms to replace: names first, then atoms with few facts, then atoms that occurred late."""
        weight = self._weights.get(atom, 0) + len(self._watchers.get(atom, ()))
        rank = self._ranks.get(atom.name, 0) if isinstance(atom, Symbol) else 0
        return not isinstance(atom, Symbol), weight, -rank

    def _replace(self, atom: Atom, value: Dim, pending: list[Requirement]) -> None:
        """Replaces `atom` by `value` from now on, and transfers the knowledge about it to `value`."""
        knowledge = self.knowledge
        low, high = knowledge.bound(atom)
        pending += [AtLeast(value, low)] if low is not None else []
        pending += [AtLeast(high, value)] if high is not None else []
        if atom in knowledge.residues:
            remainder, modulus = knowledge.residues.pop(atom)
            pending.append(Divides(modulus, value - remainder))
        knowledge.bounds.pop(atom, None)
        knowledge.solved[atom] = value
        pending += self._watchers.pop(atom, {})
        heir = single_atom(value)
        if heir is not None:
            self._weights[heir] = self._weights.get(heir, 0) + self._weights.get(atom, 0) + 1

    # --- bounds, residues and the rest -----------------------------------------------------------------------------

    def _assume_at_least(self, fact: AtLeast, pending: list[Requirement]) -> bool:
        dim = self.knowledge.normal(fact.lhs - fact.rhs)
        if not isinstance(dim, Polynomial):
            return not isinstance(dim, int) or dim >= 0
        common = gcd(*(coefficient for monomial, coefficient in dim.terms if monomial))
        dim = from_terms(divided(terms_of(dim), common))
        low, high = self.knowledge.interval(dim)
        if high is not None and high < 0:
            return False
        if low is not None and low >= 0:
            return True
        terms = dict(terms_of(dim))
        constant = terms.pop((), 0)
        ((monomial, coefficient), *others) = terms.items()
        if isinstance(dim, Polynomial) and (others or len(monomial) != 1):
            if self.knowledge.add_nonnegative(dim) and self.knowledge.is_recorded(-dim):
                pending.append(Equal(dim, 0))
            self._watch(AtLeast(dim, 0), dim)
            return True
        return self._bound(monomial[0], coefficient, constant, fact, pending)

    def _bound(
        self, atom: Atom, coefficient: int, constant: int, fact: Requirement, pending: list[Requirement]
    ) -> bool:
        """Assumes that `coefficient * atom + constant` is 0 or more, where `coefficient` is 1 or -1."""
        low, high = self.knowledge.bound(atom)
        if coefficient > 0:
            low = -constant if low is None else max(low, -constant)
        else:
            high = constant if high is None else min(high, constant)
        self.knowledge.bounds[atom] = (low, high)
        return self._tightened(atom, fact, pending)

    def _tightened(self, atom: Atom, fact: Requirement, pending: list[Requirement]) -> bool:
        """Rounds the interval of `atom` to its residue; returns whether the interval is not empty."""
        self.knowledge.tighten(atom)
        low, high = self.knowledge.bound(atom)
        if low is not None and low == high:
            pending.append(Equal(as_dim(atom), low))
        if not isinstance(atom, Symbol):
            self._watch(fact, as_dim(atom))
        return low is None or high is None or low <= high

    def _assume_divides(self, fact: Divides, pending: list[Requirement]) -> bool:
        divisor, dim = self.knowledge.simplify(fact.lhs), self.knowledge.normal(fact.rhs)
        if divisor == 0:
            return False
        pending.append(Equal(dim % divisor, 0))
        if not isinstance(divisor, int):
            if is_nonnegative(divisor):
                pending.append(AtLeast(divisor, 1))
            return True
        terms = dict(terms_of(dim))
        constant = terms.pop((), 0)
        atom = next((monomial[0] for monomial in terms if len(terms) == len(monomial) == 1), None)
        if atom is None:
            return True
        residue = solved(terms[(atom,)], (-constant, abs(divisor)))
        known = self.knowledge.residues.get(atom, UNKNOWN_RESIDUE)
        merged = both(known, residue) if residue is not None else None
        if merged is None:
            return False
        self.knowledge.residues[atom] = merged
        return self._tightened(atom, fact, pending)

    def _assume_broadcasts(self, fact: Broadcasts, pending: list[Requirement]) -> bool:
        knowledge = self.knowledge
        lhs, rhs = knowledge.simplify(fact.lhs), knowledge.simplify(fact.rhs)
        if 1 in (lhs, rhs) or lhs == rhs:
            return True
        if not may_be_one(knowledge.interval(lhs)) and not may_be_one(knowledge.interval(rhs)):
            pending.append(Equal(lhs, rhs))
            return True
        for known, other in ((lhs, rhs), (rhs, lhs)):
            if isinstance(known, int):
                pending += (AtLeast(max(known, 1), other), AtLeast(other, min(known, 1)))
        self.broadcasts.add(frozenset((lhs, rhs)))
        self._watch(fact, lhs)
        self._watch(fact, rhs)
        return True

    def _watch(self, fact: Requirement, dim: Dim) -> None:
        """Registers `fact` to be assumed again when an atom of `dim` is replaced."""
        pending = [dim]
        while pending:
            current = pending.pop()
            for monomial, _ in current.terms if isinstance(current, Polynomial) else ():
                for atom in monomial:
                    self._watchers.setdefault(atom, {})[fact] = None
                    pending += parts_of(atom)


def _primitive(dim: Dim | None) -> Dim | None:
    """`dim` divided by the greatest common divisor of its terms; a non-zero integer if `dim` cannot be 0."""
    if not isinstance(dim, Polynomial):
        return dim
    common = gcd(*(coefficient for monomial, coefficient in dim.terms if monomial))
    constant = terms_of(dim).get((), 0)
    return constant % common if constant % common else from_terms(divided(terms_of(dim), common))


def _occurs_elsewhere(atom: Atom, equation: Polynomial) -> bool:
    """Whether `atom` occurs in `equation` outside the term that consists of it alone."""
    pending: list[Dim] = []
    for monomial, _ in equation.terms:
        if len(monomial) > 1 and atom in monomial:
            return True
        pending += [part for other in monomial for part in parts_of(other)]
    while pending:
        current = pending.pop()
        for monomial, _ in current.terms if isinstance(current, Polynomial) else ():
            if atom in monomial:
                return True
            pending += [part for other in monomial for part in parts_of(other)]
    return False


def _consequences(atom: Operation | Selection, value: Dim) -> list[Requirement]:
    """The requirements on the operands of `atom` that follow from `atom == value`."""
    if isinstance(atom, Selection):
        if atom.kind == "broadcast":
            return [Equal(part, 1) for part in atom.parts] if value == 1 else []
        return [AtLeast(value, part) if atom.kind == "max" else AtLeast(part, value) for part in atom.parts]
    if not isinstance(atom.rhs, int) or atom.rhs < 1:
        return []
    if atom.kind == "mod":
        return [Divides(atom.rhs, atom.lhs - value)]
    first = atom.rhs * value
    return [AtLeast(atom.lhs, first), AtLeast(first + (atom.rhs - 1), atom.lhs)]


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
        """Adds a fact; returns whether it is new.

        Raises `ContradictionError` if the fact contradicts known ones. Not all contradictions are found; after an error
        the environment is unusable.
        """
        verdict = self.prove(requirement)
        if verdict is Verdict.REFUTED:
            raise ContradictionError(f"{requirement.text} contradicts known facts{self._simplified_sides(requirement)}")
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
        knowledge = self._facts.knowledge
        normal = knowledge.normal(dim)
        low, high = knowledge.lower_bound(normal), knowledge.lower_bound(-normal)
        return intersect((low, None if high is None else -high), knowledge.interval(knowledge.simplify(dim)))

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
        return self._facts.knowledge.lower_bound(dim, enough)

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

    def _simplified_sides(self, requirement: Requirement) -> str:
        """The simplified sides of a refuted requirement, for a message; empty if simplification changes nothing."""
        sides = [(dim, self.simplify(dim)) for dim in (requirement.lhs, requirement.rhs)]
        changes = [f"{dim} is {simplified}" for dim, simplified in sides if dim != simplified]
        return f": {' and '.join(changes)}" if changes else ""


def _has_any(requirement: Requirement) -> bool:
    return isinstance(requirement.lhs, AnyDim) or isinstance(requirement.rhs, AnyDim)


def _size(dim: Dim) -> tuple[int, int]:
    return len(dim.terms) if isinstance(dim, Polynomial) else 0, len(str(dim))
