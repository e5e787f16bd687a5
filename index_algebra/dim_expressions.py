"""Expressions over named dimensions, their arithmetic and their text (`dims` has the functions on them).

An expression is a polynomial over atoms with integer coefficients, so equal sums compare equal. Named dimensions are 0
or more. Text form (inside `#relay.dims<…>`): `n`, `n + 1`, `2 * n * m`, `(n + 1) floordiv 2`, `n mod 4`, `max(n, m)`,
`min(n, m)`, `broadcast(n, m)`, `?`. Expressions share subexpressions, so a few lines of a model can describe one whose
text is exponentially long: their size is limited.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Literal, TypeAlias

from xrelay.errors import DimensionError
from xrelay.index_algebra import polynomial_terms as sums

MAX_DEPTH = 64
"""The maximum nesting depth of quotients, remainders and selections."""

MAX_DEGREE = 12
"""The maximum number of factors in a product: proofs about products of more factors take too long."""

MAX_SIZE = 1000
"""The maximum number of names, operations and bytes of numbers in the text of an expression."""


def check_limit(found: int, limit: int, parts: str) -> None:
    """Raises `DimensionError` if an expression has `found` of its `parts`, more than `limit`."""
    if found > limit:
        raise DimensionError(f"an extent has more than {limit} {parts}", help="fix the extents of the inputs")


WORDS = frozenset({"max", "min", "broadcast", "floordiv", "mod", "broadcastable"})
"""Keywords of expressions and requirements, which cannot be names of dimensions."""


def sum_text(terms: Iterable[tuple[Sequence[str], int]]) -> str:
    """The text of a sum of products; a term is the text of its factors and a non-zero coefficient."""
    text = ""
    for factors, coefficient in terms:
        term = _product_text(factors, abs(coefficient))
        if text:
            text += f" {'-' if coefficient < 0 else '+'} {term}"
        else:
            text = f"-{parenthesised(term)}" if coefficient < 0 else term
    return text


def _product_text(factors: Sequence[str], coefficient: int) -> str:
    if not factors:
        return str(coefficient)
    if len(factors) == 1 and coefficient == 1:
        return factors[0]
    return " * ".join(([str(coefficient)] if coefficient != 1 else []) + [_factor_text(factor) for factor in factors])


def _factor_text(factor: str) -> str:
    """The text of a factor: a name or call without parentheses, a quotient or remainder in parentheses."""
    return factor if factor.isidentifier() or is_call(factor) else f"({factor})"


def is_call(text: str) -> bool:
    """Whether `text` as a whole is one call: `max(n, m)`, but not `max(n, m) mod 4`."""
    name, bracket, _ = text.partition("(")
    if not bracket or not name.isidentifier():
        return False
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return position == len(text) - 1
    return False


def parenthesised(text: str) -> str:
    """`text` as an operand of `floordiv`, `mod` or unary minus."""
    return f"({text})" if (" " in text and not is_call(text)) or text.startswith("-") else text


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


class DimExpr(ABC):
    """A dimension that is not a plain integer. Immutable and hashable; `==` is structural."""

    @abstractmethod
    def substitute(self, values: Mapping[str, Dim]) -> Dim:
        """The dimension with the named dimensions of `values` replaced.

        Raises `DimensionError` if that divides by zero, or if extents do not broadcast.
        """

    @property
    @abstractmethod
    def names(self) -> frozenset[str]:
        """The named dimensions that occur."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of names, operations and bytes of numbers in its text."""

    def __add__(self, other: Dim) -> Dim:
        return _add(self, other, 1)

    def __radd__(self, other: Dim) -> Dim:
        return _add(other, self, 1)

    def __sub__(self, other: Dim) -> Dim:
        return _add(self, other, -1)

    def __rsub__(self, other: Dim) -> Dim:
        return _add(other, self, -1)

    def __mul__(self, other: Dim) -> Dim:
        return _multiply(self, other)

    def __rmul__(self, other: Dim) -> Dim:
        return _multiply(other, self)

    def __neg__(self) -> Dim:
        return _multiply(-1, self)

    def __floordiv__(self, other: Dim) -> Dim:
        return divide(self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return divide(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return modulo(self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return modulo(other, self)


Dim: TypeAlias = int | DimExpr
"""A dimension: a known extent, an expression over named ones, or `ANY`."""

Shape: TypeAlias = tuple[Dim, ...]
"""The extents of a tensor, outermost first."""


@dataclass(frozen=True)
class AnyDim(DimExpr):
    """Relay's Any: an unknown extent. The result of arithmetic on it is Any."""

    def substitute(self, values: Mapping[str, Dim]) -> Dim:
        """Returns itself."""
        return self

    @property
    def names(self) -> frozenset[str]:
        """The empty set."""
        return frozenset()

    @property
    def size(self) -> int:
        """Any counts as 1."""
        return 1

    def __str__(self) -> str:
        return "?"


MAX_DIVISOR = 1 << 32
"""The greatest divisor for which the constant of a numerator is made nonnegative.

`(n - 4) floordiv d` is then `(n + d - 4) floordiv d - 1`. For greater divisors the sum might not fit 64 bits.
"""

ANY = AnyDim()
"""The unknown dimension."""


Monomial: TypeAlias = tuple[Atom, ...]
Terms: TypeAlias = Mapping[Monomial, int]


@dataclass(frozen=True)
class Polynomial(DimExpr):
    """A sum of monomials with integer coefficients, in canonical order, never a plain integer."""

    terms: tuple[tuple[Monomial, int], ...]

    @cached_property
    def _names(self) -> frozenset[str]:
        atoms = [atom for monomial, _ in self.terms for atom in monomial]
        plain = frozenset(atom.name for atom in atoms if isinstance(atom, Symbol))
        return plain.union(*(names_of(part) for atom in atoms for part in parts_of(atom)))

    @property
    def names(self) -> frozenset[str]:
        """The named dimensions that occur."""
        return self._names

    @cached_property
    def depth(self) -> int:
        """The nesting depth of quotients, remainders and selections; 0 for sums of products of names."""
        inner = [part for monomial, _ in self.terms for atom in monomial for part in parts_of(atom)]
        found = max((part.depth for part in inner if isinstance(part, Polynomial)), default=0)
        return found + bool(inner)

    @property
    def size(self) -> int:
        """The number of names, operations and bytes of numbers in its text."""
        return self._size

    @cached_property
    def _size(self) -> int:
        return sum(number_size(factor) + sum([atom.size for atom in monomial]) for monomial, factor in self.terms)

    def substitute(self, values: Mapping[str, Dim]) -> Dim:
        """The polynomial with named dimensions replaced and simplified again."""
        if self._names.isdisjoint(values):
            return self
        total: Dim = 0
        for monomial, coefficient in self.terms:
            product: Dim = coefficient
            for atom in monomial:
                product = product * _substitute_atom(atom, values)
            total = total + product
        return total

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _text(self) -> str:
        return sum_text((tuple(map(str, monomial)), coefficient) for monomial, coefficient in self.terms)

    def __str__(self) -> str:
        return self._text


def single_atom(dim: Dim) -> Atom | None:
    """The atom that `dim` consists of, without factor or further terms; `None` for any other dimension."""
    if isinstance(dim, Polynomial) and len(dim.terms) == 1:
        ((monomial, coefficient),) = dim.terms
        if coefficient == 1 and len(monomial) == 1:
            return monomial[0]
    return None


def names_of(dim: Dim) -> frozenset[str]:
    """The named dimensions in `dim`; none for an integer."""
    return dim.names if isinstance(dim, DimExpr) else frozenset()


def substitute(shape: Sequence[Dim], values: Mapping[str, Dim]) -> Shape:
    """`shape` with named dimensions replaced; raises `DimensionError` if an extent becomes undefined."""
    return tuple(dim.substitute(values) if isinstance(dim, DimExpr) else dim for dim in shape)


def is_nonnegative(dim: Dim) -> bool:
    """Whether the form of `dim` shows that it is 0 or more: names are, and operations on them without subtraction."""
    if isinstance(dim, int):
        return dim >= 0
    if not isinstance(dim, Polynomial):
        return False
    return all(
        coefficient >= 0 and all(_is_nonnegative_atom(atom) for atom in monomial) for monomial, coefficient in dim.terms
    )


def is_positive(dim: Dim) -> bool:
    """Whether the form of `dim` shows that it is 1 or more, as that of `n + 1` does."""
    return is_nonnegative(dim - 1 if isinstance(dim, Polynomial | int) else dim)


def _is_nonnegative_atom(atom: Atom) -> bool:
    if isinstance(atom, Symbol):
        return True
    if atom.kind == "mod":
        return is_nonnegative(atom.rhs)
    return (any if atom.kind == "max" else all)(map(is_nonnegative, atom.parts))


def as_dim(atom: Atom) -> DimExpr:
    """The dimension that consists of `atom` alone."""
    made = _check_size(Polynomial((((atom,), 1),)))
    check_limit(made.depth, MAX_DEPTH, "nested quotients")
    return made


def _check_size(dim: Polynomial) -> Polynomial:
    """Returns `dim`, whose terms are ordered; raises `DimensionError` if it is too large."""
    check_limit(len(dim.terms[0][0]), MAX_DEGREE, "factors")
    check_limit(dim.size, MAX_SIZE, "names and numbers")
    return dim


def terms_of(dim: Dim) -> Terms:
    """Monomials and their coefficients; raises `TypeError` for Any."""
    if isinstance(dim, int):
        return {(): dim} if dim else {}
    if isinstance(dim, Polynomial):
        return dict(dim.terms)
    raise TypeError(f"{dim} has no terms")


def from_terms(terms: Terms) -> Dim:
    """The sum of `terms`; raises `DimensionError` if it is too large."""
    kept = sums.ordered(terms)
    if not kept:
        return 0
    return kept[0][1] if kept[0][0] == () else _check_size(Polynomial(kept))


def _add(lhs: Dim, rhs: Dim, sign: int) -> Dim:
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    return from_terms(sums.plus(terms_of(lhs), terms_of(rhs), sign))


def _multiply(lhs: Dim, rhs: Dim) -> Dim:
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    left, right = terms_of(lhs), terms_of(rhs)
    check_limit(len(left) * len(right), MAX_SIZE, "products")
    return from_terms(sums.times(left, right))


def _substitute_atom(atom: Atom, values: Mapping[str, Dim]) -> Dim:
    if isinstance(atom, Symbol):
        return values.get(atom.name, as_dim(atom))
    try:
        return rebuilt(atom, substitute(atom.parts, values))
    except DimensionError as error:
        raise DimensionError(f"{atom} has no value: {error.message}") from error


def rebuilt(atom: Operation | Selection, parts: Sequence[Dim]) -> Dim:
    """The operation of `atom` on other operands."""
    if isinstance(atom, Selection):
        return select(atom.kind, parts)
    lhs, rhs = parts
    return divide(lhs, rhs) if atom.kind == "floordiv" else modulo(lhs, rhs)


def divide(lhs: Dim, rhs: Dim, *, positive: bool = False) -> Dim:
    """The quotient rounded down; `positive` asserts that `rhs` is 1 or more. Raises `DimensionError` if `rhs` is 0."""
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    if isinstance(rhs, int):
        return _divide_by_integer(lhs, rhs)
    if (positive or is_positive(rhs)) and (exact := sums.exact_quotient(terms_of(lhs), terms_of(rhs))) is not None:
        return from_terms(exact)
    whole, rest = _split_multiples(lhs, rhs)
    common = gcd(sums.content(terms_of(rest)), sums.content(terms_of(rhs)))
    lhs, rhs = (from_terms(sums.divided(terms_of(dim), common)) for dim in (rest, rhs))
    return whole + as_dim(Operation("floordiv", lhs, rhs))


def modulo(lhs: Dim, rhs: Dim, *, positive: bool = False) -> Dim:
    """The remainder of `divide`; it has the sign of `rhs`."""
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    if rhs == 0:
        raise DimensionError(f"{parenthesised(str(lhs))} mod 0 divides by zero")
    if isinstance(rhs, int):
        if rhs < 0:
            return -modulo(-lhs, -rhs)
        rest = from_terms(sums.split_multiples(terms_of(lhs), (), rhs, lambda _: True)[1])
        return rest if isinstance(rest, int) else as_dim(Operation("mod", _near_zero(rest, rhs), rhs))
    if (positive or is_positive(rhs)) and sums.exact_quotient(terms_of(lhs), terms_of(rhs)) is not None:
        return 0
    return as_dim(Operation("mod", _split_multiples(lhs, rhs)[1], rhs))


def _split_multiples(lhs: Dim, rhs: DimExpr) -> tuple[Dim, Dim]:
    """Splits `lhs` as `whole * rhs + rest`. `rest` is never 0, so that the undefined case `rhs = 0` stays visible."""
    ((factors, coefficient), *others) = terms_of(rhs).items()
    if others or coefficient < 0:
        return 0, lhs
    whole, rest = sums.split_multiples(terms_of(lhs), factors, coefficient, lambda _: False)
    return (from_terms(whole), from_terms(rest)) if rest else (0, lhs)


def _divide_by_integer(lhs: Dim, divisor: int) -> Dim:
    if divisor == 0:
        raise DimensionError(f"{parenthesised(str(lhs))} floordiv 0 divides by zero")
    if divisor < 0:
        return _divide_by_integer(-lhs, -divisor)
    # A quotient in both `whole` and `rest` would double the expression with each division.
    whole, terms = sums.split_multiples(terms_of(lhs), (), divisor, lambda term: not any(map(parts_of, term)))
    common = gcd(divisor, *(coefficient for monomial, coefficient in terms.items() if monomial))
    rest, divisor = from_terms(sums.divided(terms, common)), divisor // common
    near = _near_zero(rest, divisor)
    return from_terms(whole) + _quotient(near, divisor) + (near != rest)


def _near_zero(rest: Dim, divisor: int) -> Dim:
    """`rest`, or `rest - divisor` if the divisor exceeds `MAX_DIVISOR` and the constant is then nearer to 0."""
    is_far = divisor > MAX_DIVISOR and 2 * terms_of(rest).get((), 0) > divisor
    return rest - divisor if is_far and not isinstance(rest, int) else rest


def _quotient(rest: Dim, divisor: int) -> Dim:
    """The quotient of a dimension without multiples of `divisor`."""
    if isinstance(rest, int):
        return rest // divisor
    offset = terms_of(rest).get((), 0)
    inner = single_atom(rest - offset)
    if isinstance(inner, Operation) and inner.kind == "floordiv" and isinstance(inner.rhs, int):
        # (n floordiv 2 + 1) floordiv 2 is (n + 2) floordiv 4.
        return _divide_by_integer(inner.lhs + offset * inner.rhs, inner.rhs * divisor)
    return as_dim(Operation("floordiv", rest, divisor))


def select(kind: SelectionKind, dims: Sequence[Dim]) -> Dim:
    """The maximum, the minimum, or the broadcast extent of one or more `dims`."""
    if any(isinstance(dim, AnyDim) for dim in dims):
        return ANY
    parts = [part for dim in dims for part in _same_selection(kind, dim)]
    kept = _broadcast_parts(parts) if kind == "broadcast" else _extreme_parts(parts, max if kind == "max" else min)
    if len(kept) == 1:
        return kept[0]
    return as_dim(Selection(kind, tuple(sorted(kept, key=str))))


def _same_selection(kind: SelectionKind, dim: Dim) -> tuple[Dim, ...]:
    """The operands of `dim` if it is a selection of the same `kind`, which is then flattened; else `dim` itself."""
    atom = single_atom(dim)
    return atom.parts if isinstance(atom, Selection) and atom.kind == kind else (dim,)


def _broadcast_parts(parts: Sequence[Dim]) -> list[Dim]:
    kept = list(dict.fromkeys(part for part in parts if part != 1))
    known: list[Dim] = [part for part in kept if isinstance(part, int)]
    if len(known) > 1:
        raise DimensionError(f"{known[0]} and {known[1]} do not broadcast")
    return known or [part for part in kept if not _is_redundant(_same_selection("min", part), kept)] or [1]


def _is_redundant(options: Sequence[Dim], others: Sequence[Dim]) -> bool:
    """Whether `min(*options)` adds nothing to a broadcast with `others`: `broadcast(min(n, 40), n)` is `n`.

    Two different extents broadcast only if one is 1. For n = 1 the minimum is 1 too, as all other options are positive.
    """
    if len(options) < 2:
        return False
    return any(other in options and all(each == other or is_positive(each) for each in options) for other in others)


def _extreme_parts(parts: Sequence[Dim], better: Callable[[int, int], int]) -> list[Dim]:
    """`parts` without those that differ from a better part only by a constant."""
    best: dict[Dim, int] = {}
    for part in parts:
        terms = dict(terms_of(part))
        constant = terms.pop((), 0)
        rest = from_terms(terms)
        best[rest] = better(best.get(rest, constant), constant)
    return [rest + constant for rest, constant in best.items()]
