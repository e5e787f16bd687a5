"""Requirements: relations between dimensions that an op demands, as immutable data.

Text form: `n == m`, `n >= 1`, `n mod 4 == 0`, `broadcastable(n, m)`. Each has the id of the constraint that demands it,
and names the property that it compares.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import parenthesised
from xrelay.index_algebra.dims import Dim, Operation, evaluate, names_of, single_atom, substitute

LHS: Final = "{lhs}"
RHS: Final = "{rhs}"
"""Placeholders for the values of the two sides in the text of a check."""


@dataclass(frozen=True)
class Requirement(ABC):
    """A relation between two dimensions that must hold at run time."""

    lhs: Dim
    rhs: Dim
    constraint: str = field(default="", kw_only=True)
    """The id of the op's constraint, such as C2."""
    about: str = field(default="", kw_only=True)
    """The compared property, such as `in-channels`."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The relation in text form."""

    @abstractmethod
    def _compare(self, lhs: int, rhs: int) -> bool:
        """Whether the relation holds between two numbers."""

    @property
    def label(self) -> str:
        """Constraint and property: `C2 in-channels`; empty if both are."""
        return f"{self.constraint} {self.about}".rstrip()

    @property
    def names(self) -> frozenset[str]:
        """The named dimensions that occur."""
        return names_of(self.lhs) | names_of(self.rhs)

    def substitute(self, values: Mapping[str, Dim]) -> Self:
        """The requirement with named dimensions replaced; raises `DimensionError` if a side becomes undefined."""
        lhs, rhs = substitute((self.lhs, self.rhs), values)
        return replace(self, lhs=lhs, rhs=rhs)

    def evaluate(self, values: Mapping[str, int]) -> tuple[int, int]:
        """The two sides as numbers; raises `DimensionError` if one is undefined."""
        return evaluate(self.lhs, values), evaluate(self.rhs, values)

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether the relation holds for `values`; raises `DimensionError` if a side is undefined."""
        return self._compare(*self.evaluate(values))

    def failure(self, values: Mapping[str, int], shown: Requirement | None = None) -> str | None:
        """The reason why the relation fails for `values`: `in-channels: n == m is 3 == 5`; `None` if it holds.

        `shown` is an equivalent requirement whose text the message shows.
        """
        lhs, rhs = self.evaluate(values)
        if self._compare(lhs, rhs):
            return None
        shown = self if shown is None else shown
        subject = f"{shown.about}: " if shown.about else ""
        return f"{subject}{shown.text} is {replace(self, lhs=lhs, rhs=rhs).text}"

    def canonical(self) -> Requirement:
        """The requirement in the form of its text: `n mod 4 == 0` is a `Divides`; a decided one compares integers."""
        return self


@dataclass(frozen=True)
class Equal(Requirement):
    """`lhs` and `rhs` are equal."""

    @property
    def text(self) -> str:
        """`n == m`."""
        return f"{self.lhs} == {self.rhs}"

    def _compare(self, lhs: int, rhs: int) -> bool:
        return lhs == rhs

    def canonical(self) -> Requirement:
        """A `Divides` if the equation compares a remainder with 0."""
        atom = single_atom(self.lhs)
        if self.rhs == 0 and isinstance(atom, Operation) and atom.kind == "mod":
            return Divides(atom.rhs, atom.lhs, constraint=self.constraint, about=self.about)
        return self


@dataclass(frozen=True)
class AtLeast(Requirement):
    """`lhs` is `rhs` or more: `AtLeast(n, 1)`, and `AtLeast(n, k)` for `k <= n`."""

    @property
    def text(self) -> str:
        """`n >= 1`."""
        return f"{self.lhs} >= {self.rhs}"

    def _compare(self, lhs: int, rhs: int) -> bool:
        return lhs >= rhs


@dataclass(frozen=True)
class Divides(Requirement):
    """`lhs` divides `rhs` without remainder: `Divides(4, n)`. It never holds for an `lhs` of 0."""

    @property
    def text(self) -> str:
        """`n mod 4 == 0`."""
        return f"{parenthesised(str(self.rhs))} mod {parenthesised(str(self.lhs))} == 0"

    def _compare(self, lhs: int, rhs: int) -> bool:
        return lhs != 0 and rhs % lhs == 0

    def canonical(self) -> Requirement:
        """The requirement with its dividend reduced modulo the divisor."""
        try:
            rest = self.rhs % self.lhs
        except (DimensionError, ZeroDivisionError):
            return Equal(1, 0, constraint=self.constraint, about=self.about)
        atom = single_atom(rest)
        if isinstance(atom, Operation) and atom.kind == "mod":
            return replace(self, lhs=atom.rhs, rhs=atom.lhs)
        return Equal(rest, 0, constraint=self.constraint, about=self.about)


@dataclass(frozen=True)
class Broadcasts(Requirement):
    """`lhs` and `rhs` are equal, or one of them is 1."""

    @property
    def text(self) -> str:
        """`broadcastable(n, m)`."""
        return f"broadcastable({self.lhs}, {self.rhs})"

    def _compare(self, lhs: int, rhs: int) -> bool:
        return lhs == rhs or 1 in (lhs, rhs)
