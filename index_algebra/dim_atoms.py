"""Atoms of expressions over named dimensions: names, quotients and remainders, and selections.

Atoms are nested and serve as keys of tables, so each caches its hash and text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from xrelay.index_algebra.dim_text import parenthesised

if TYPE_CHECKING:
    from xrelay.index_algebra.dim_expressions import Dim


@dataclass(frozen=True, order=True)
class Symbol:
    """An atom: a named dimension."""

    name: str

    @property
    def size(self) -> int:
        """A name counts as 1."""
        return 1

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Operation:
    """An atom: a quotient or remainder that does not simplify further. It is undefined if `rhs` is 0."""

    kind: Literal["floordiv", "mod"]
    lhs: Dim
    rhs: Dim

    @cached_property
    def _text(self) -> str:
        return f"{parenthesised(str(self.lhs))} {self.kind} {parenthesised(str(self.rhs))}"

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.lhs, self.rhs))

    def __hash__(self) -> int:
        return self._hash

    @property
    def parts(self) -> tuple[Dim, ...]:
        """The operands."""
        return (self.lhs, self.rhs)

    @cached_property
    def size(self) -> int:
        """The number of names, operations and bytes of numbers in its text."""
        return 1 + size_of(self.lhs) + size_of(self.rhs)

    def __str__(self) -> str:
        return self._text


SelectionKind: TypeAlias = Literal["max", "min", "broadcast"]


@dataclass(frozen=True)
class Selection:
    """An atom: the maximum or minimum of two or more dimensions, or the extent to which they broadcast.

    The broadcast extent is the dimension that is not 1, or 1; it is undefined if two differ and neither is 1.
    """

    kind: SelectionKind
    parts: tuple[Dim, ...]

    @cached_property
    def _text(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.parts))})"

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.parts))

    @cached_property
    def size(self) -> int:
        """The number of names, operations and bytes of numbers in its text."""
        return 1 + sum(map(size_of, self.parts))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self._text


Atom: TypeAlias = Symbol | Operation | Selection


def parts_of(atom: Atom) -> tuple[Dim, ...]:
    """The operands of `atom`; none for a name."""
    return () if isinstance(atom, Symbol) else atom.parts


def number_size(number: int) -> int:
    """The number of bytes of `number` beyond the first."""
    return abs(number).bit_length() // 8


def size_of(dim: Dim) -> int:
    """The number of names, operations and bytes of numbers in the text of `dim`."""
    return 1 + number_size(dim) if isinstance(dim, int) else dim.size
