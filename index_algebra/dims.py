"""Dimensions of shapes: integers, expressions over named dimensions, and Relay's Any.

`Dim = int | DimExpr`. Shape rules are written once with Python arithmetic on Dims: given integers they are static
inference, given expressions they are symbolic inference. Expressions are kept in one canonical form, a polynomial over
atoms with integer coefficients, so that equal sums compare equal whatever order they were written in.

Text form (inside `#relay.dims<…>`): `n`, `n + 1`, `2 * n * m`, `(n + 1) floordiv 2`, `n mod 4`, `max(n, m)`, `?`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Literal, TypeAlias


class DimExpr(ABC):
    """A dimension that is not a plain integer. Immutable and hashable; `==` is structural."""

    @abstractmethod
    def substitute(self, values: Mapping[str, Dim]) -> Dim:
        """The dimension with the named dimensions of `values` replaced."""

    @property
    @abstractmethod
    def names(self) -> frozenset[str]:
        """The named dimensions that occur."""

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
        return _divide(self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return _divide(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return _modulo(self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return _modulo(other, self)


Dim: TypeAlias = int | DimExpr
"""A dimension: a known extent, an expression over named ones, or `ANY`."""

Shape: TypeAlias = tuple[Dim, ...]
"""The extents of a tensor, outermost first."""


@dataclass(frozen=True)
class AnyDim(DimExpr):
    """Relay's Any: an extent of which nothing is known. Arithmetic on it gives Any again."""

    def substitute(self, values: Mapping[str, Dim]) -> Dim:
        """Any stays Any."""
        return self

    @property
    def names(self) -> frozenset[str]:
        """Any has no name."""
        return frozenset()

    def __str__(self) -> str:
        return "?"


ANY = AnyDim()
"""The unknown dimension."""


@dataclass(frozen=True, order=True)
class Symbol:
    """An atom: a named dimension."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Operation:
    """An atom: a quotient, remainder or maximum that does not simplify further."""

    kind: Literal["floordiv", "mod", "max"]
    lhs: Dim
    rhs: Dim

    def __str__(self) -> str:
        if self.kind == "max":
            return f"max({self.lhs}, {self.rhs})"
        return f"{_parenthesised(self.lhs)} {self.kind} {_parenthesised(self.rhs)}"


Atom: TypeAlias = Symbol | Operation
Monomial: TypeAlias = tuple[Atom, ...]


@dataclass(frozen=True)
class Polynomial(DimExpr):
    """A sum of monomials with integer coefficients, in canonical order, never a plain integer."""

    terms: tuple[tuple[Monomial, int], ...]

    @cached_property
    def _names(self) -> frozenset[str]:
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, Symbol):
                    found.add(atom.name)
                else:
                    found |= names_of(atom.lhs) | names_of(atom.rhs)
        return frozenset(found)

    @property
    def names(self) -> frozenset[str]:
        """The named dimensions that occur."""
        return self._names

    def substitute(self, values: Mapping[str, Dim]) -> Dim:
        """The polynomial with named dimensions replaced and simplified again."""
        total: Dim = 0
        for monomial, coefficient in self.terms:
            product: Dim = coefficient
            for atom in monomial:
                product = product * _substitute_atom(atom, values)
            total = total + product
        return total

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            term = _term_text(monomial, abs(coefficient))
            if text:
                text += f" {sign} {term}"
            else:
                text = f"-{_parenthesised(term)}" if coefficient < 0 else term
        return text


_WORDS = frozenset({"max", "floordiv", "mod"})
"""What the text of an expression keeps for itself."""


def is_dim_name(name: str) -> bool:
    """Whether the text can show `name` as that of a dimension: letters, digits, `_`, and no word of expressions."""
    return name.isascii() and name.isidentifier() and name not in _WORDS


def symbol(name: str) -> DimExpr:
    """The named dimension `name`."""
    return Polynomial((((Symbol(name),), 1),))


def names_of(dim: Dim) -> frozenset[str]:
    """The named dimensions in `dim`; none for an integer."""
    return dim.names if isinstance(dim, DimExpr) else frozenset()


def shape_text(shape: Sequence[Dim]) -> str:
    """A shape for a message: `(N, 2 * N, 16)`."""
    return f"({', '.join(map(str, shape))})"


def substitute(shape: Sequence[Dim], values: Mapping[str, Dim]) -> Shape:
    """`shape` with named dimensions replaced."""
    return tuple(dim.substitute(values) if isinstance(dim, DimExpr) else dim for dim in shape)


def maximum(lhs: Dim, rhs: Dim) -> Dim:
    """The greater of two dimensions."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return max(lhs, rhs)
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    if lhs == rhs:
        return lhs
    first, second = sorted((lhs, rhs), key=str)
    return _atom(Operation("max", first, second))


def ceil_div(lhs: Dim, rhs: int) -> Dim:
    """The quotient rounded up."""
    return (lhs + (rhs - 1)) // rhs


def product(dims: Sequence[Dim]) -> Dim:
    """The product of all dimensions; 1 for none."""
    total: Dim = 1
    for dim in dims:
        total = total * dim
    return total


def certainly_differ(lhs: Dim, rhs: Dim) -> bool:
    """Whether the two can never be equal: their difference is a non-zero integer."""
    difference = lhs - rhs
    return isinstance(difference, int) and difference != 0


def merge_dims(lhs: Dim, rhs: Dim) -> Dim | None:
    """What is known of an extent that is both `lhs` and `rhs`; `None` where it cannot be both.

    An integer says most, an expression more than Any; of two expressions the first stays.
    """
    if certainly_differ(lhs, rhs):
        return None
    if isinstance(lhs, AnyDim) or isinstance(rhs, int):
        return rhs
    return lhs


def _atom(atom: Atom) -> DimExpr:
    return Polynomial((((atom,), 1),))


def _terms(dim: Dim) -> dict[Monomial, int]:
    if isinstance(dim, int):
        return {(): dim}
    if isinstance(dim, Polynomial):
        return dict(dim.terms)
    raise TypeError(f"{dim} has no terms")


def _from_terms(terms: Mapping[Monomial, int]) -> Dim:
    kept = {monomial: coefficient for monomial, coefficient in terms.items() if coefficient}
    if not kept:
        return 0
    if set(kept) == {()}:
        return kept[()]
    ordered = sorted(kept.items(), key=lambda item: (-len(item[0]), [str(atom) for atom in item[0]]))
    return Polynomial(tuple(ordered))


def _add(lhs: Dim, rhs: Dim, sign: int) -> Dim:
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    terms = _terms(lhs)
    for monomial, coefficient in _terms(rhs).items():
        terms[monomial] = terms.get(monomial, 0) + sign * coefficient
    return _from_terms(terms)


def _multiply(lhs: Dim, rhs: Dim) -> Dim:
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    terms: dict[Monomial, int] = {}
    for left, left_coefficient in _terms(lhs).items():
        for right, right_coefficient in _terms(rhs).items():
            monomial = tuple(sorted(left + right, key=str))
            terms[monomial] = terms.get(monomial, 0) + left_coefficient * right_coefficient
    return _from_terms(terms)


def _exact_quotient(lhs: Dim, rhs: Dim) -> Dim | None:
    """The quotient when every term of `lhs` is divisible by the single term `rhs`."""
    divisor = _terms(rhs)
    if len(divisor) != 1:
        return 1 if lhs == rhs else None
    ((atoms, coefficient),) = divisor.items()
    quotient: dict[Monomial, int] = {}
    for monomial, numerator in _terms(lhs).items():
        rest = list(monomial)
        for atom in atoms:
            if atom not in rest:
                return None
            rest.remove(atom)
        if numerator % coefficient:
            return None
        quotient[tuple(rest)] = numerator // coefficient
    return _from_terms(quotient)


def _divide(lhs: Dim, rhs: Dim) -> Dim:
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    if rhs == 0:
        raise ZeroDivisionError(f"{lhs} floordiv 0")
    exact = _exact_quotient(lhs, rhs)
    if exact is not None:
        return exact
    whole, rest, divisor = _split_multiples(lhs, rhs)
    if isinstance(rest, int) and isinstance(divisor, int):
        return whole + rest // divisor
    return whole + _atom(Operation("floordiv", rest, divisor))


def _modulo(lhs: Dim, rhs: Dim) -> Dim:
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        return ANY
    if rhs == 0:
        raise ZeroDivisionError(f"{lhs} mod 0")
    if _exact_quotient(lhs, rhs) is not None:
        return 0
    _, rest, _ = _split_multiples(lhs, rhs, reduce=False)
    if isinstance(rest, int) and isinstance(rhs, int):
        return rest % rhs
    return _atom(Operation("mod", rest, rhs))


def _split_multiples(lhs: Dim, rhs: Dim, *, reduce: bool = True) -> tuple[Dim, Dim, Dim]:
    """`lhs` floordiv `rhs` as `whole + rest floordiv divisor`, the rest as small as it gets.

    `(4 * n + 1) floordiv 2` is `2 * n + 1 floordiv 2`; with `reduce`, `(2 * n + 2) floordiv 4` is
    `(n + 1) floordiv 2`. The divisor must be positive, as all extents are.
    """
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in _terms(lhs).items():
        if isinstance(rhs, int):
            whole[monomial], rest[monomial] = divmod(coefficient, rhs)
            continue
        quotient = _exact_quotient(Polynomial(((monomial, coefficient),)), rhs)
        if quotient is None:
            rest[monomial] = coefficient
        else:
            for part, factor in _terms(quotient).items():
                whole[part] = whole.get(part, 0) + factor
    if reduce and isinstance(rhs, int):
        common = gcd(rhs, *(coefficient for monomial, coefficient in rest.items() if monomial))
        rest = {monomial: coefficient // common for monomial, coefficient in rest.items()}
        return _from_terms(whole), _from_terms(rest), rhs // common
    return _from_terms(whole), _from_terms(rest), rhs


def _substitute_atom(atom: Atom, values: Mapping[str, Dim]) -> Dim:
    if isinstance(atom, Symbol):
        return values.get(atom.name, _atom(atom))
    (lhs, rhs) = substitute((atom.lhs, atom.rhs), values)
    if atom.kind == "floordiv":
        return lhs // rhs
    return lhs % rhs if atom.kind == "mod" else maximum(lhs, rhs)


def _term_text(monomial: Monomial, coefficient: int) -> str:
    factors = [_factor_text(atom) for atom in monomial]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    if len(factors) == 1:
        return str(monomial[0]) if monomial else factors[0]
    return " * ".join(factors)


def _factor_text(atom: Atom) -> str:
    return f"({atom})" if isinstance(atom, Operation) and atom.kind != "max" else str(atom)


def _parenthesised(dim: Dim | str) -> str:
    text = str(dim)
    return f"({text})" if " " in text or text.startswith("-") else text
