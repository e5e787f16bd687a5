"""`LinearForm`: the normal form of affine and semi-affine expressions, in which equal sums are equal.

Products, quotients and remainders of two non-constant expressions are semi-affine. xDSL's operators accept only
constants on the right side. A *monomial* is a product of factors that are neither sums nor constants; it is nested to
the left, with its factors in a fixed order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, reduce

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from xrelay.errors import DimensionError

Order = tuple[int, int, str]


def binary(kind: AffineBinaryOpKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """The operation `kind` of two expressions, folded if both are constant."""
    if type(lhs) is AffineDimExpr or type(lhs) is AffineBinaryOpExpr:
        # xDSL tests both sides against abstract classes before it builds the same expression.
        if type(rhs) is not AffineConstantExpr:
            return AffineBinaryOpExpr(kind, lhs, rhs)
        if type(lhs) is AffineDimExpr and (kind is AffineBinaryOpKind.Add or kind is AffineBinaryOpKind.Mul):
            is_unit = rhs.value == (0 if kind is AffineBinaryOpKind.Add else 1)
            return lhs if is_unit else AffineBinaryOpExpr(kind, lhs, rhs)
    if kind is AffineBinaryOpKind.Add or type(rhs) is AffineConstantExpr:
        return AffineExpr.binary(kind, lhs, rhs)
    if kind is AffineBinaryOpKind.Mul and type(lhs) is AffineConstantExpr:
        return rhs * lhs.value
    return AffineBinaryOpExpr(kind, lhs, rhs)


def times(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """The product of two expressions."""
    return binary(AffineBinaryOpKind.Mul, lhs, rhs)


def floor_div(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """The quotient of two expressions, rounded down; it is undefined if `rhs` is 0."""
    return binary(AffineBinaryOpKind.FloorDiv, lhs, rhs)


def modulo(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """The remainder that `floor_div` leaves."""
    return binary(AffineBinaryOpKind.Mod, lhs, rhs)


def order(atom: AffineExpr) -> Order:
    """Sort key of atoms: products by text, dimensions and symbols by position, quotients by text.

    It gives equal sums equal forms.
    """
    if type(atom) is AffineDimExpr:
        return (0, atom.position, "")
    match atom:
        case AffineSymExpr(position=position):
            return (1, position, "")
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
            return (-1, 0, str(atom))
        case _:
            return (2, 0, str(atom))


def is_sum(expr: AffineExpr) -> bool:
    """Whether `expr` is a constant, a sum, or a product with either as a factor: anything but a monomial."""
    # Exact types: `isinstance` of an abstract class is ten times slower, and every term is tested.
    if type(expr) is AffineConstantExpr:
        return True
    if type(expr) is not AffineBinaryOpExpr:
        return False
    if expr.kind is AffineBinaryOpKind.Mul:
        return is_sum(expr.lhs) or is_sum(expr.rhs)
    return expr.kind is AffineBinaryOpKind.Add


def factors_of(monomial: AffineExpr) -> tuple[AffineExpr, ...]:
    """The factors of a monomial, in their order."""
    if type(monomial) is AffineDimExpr:
        return (monomial,)
    found: list[AffineExpr] = []
    while type(monomial) is AffineBinaryOpExpr and monomial.kind is AffineBinaryOpKind.Mul:
        found.append(monomial.rhs)
        monomial = monomial.lhs
    return (monomial, *reversed(found))


def monomial_of(factors: Iterable[AffineExpr]) -> AffineExpr:
    """The product of one or more factors that are no products."""
    return reduce(lambda lhs, rhs: AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, rhs), sorted(factors, key=order))


def without_factors(monomial: AffineExpr, factors: Iterable[AffineExpr]) -> tuple[AffineExpr, ...] | None:
    """The factors of `monomial` without `factors`; `None` if one of them is missing."""
    rest = list(factors_of(monomial))
    for factor in factors:
        if factor not in rest:
            return None
        rest.remove(factor)
    return tuple(rest)


MAX_PRODUCTS = 1000
"""The maximum number of terms in a product of two sums."""


@dataclass(frozen=True)
class LinearForm:
    """`sum(coefficient * atom) + constant`.

    An atom is a dimension, a symbol, a floordiv or mod of a simplified expression, or a product of two or more of
    these.
    """

    terms: tuple[tuple[AffineExpr, int], ...]
    constant: int = 0

    def expr(self) -> AffineExpr:
        """The form as an expression: terms in a fixed order, the constant last, nested to the left."""
        return self._expr

    @cached_property
    def _expr(self) -> AffineExpr:
        result: AffineExpr | None = None
        for atom, coefficient in self.terms:
            term = atom if coefficient == 1 else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, atom, const(coefficient))
            result = term if result is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, term)
        if result is None:
            return const(self.constant)
        if self.constant == 0:
            return result
        return AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, const(self.constant))

    def scaled(self, factor: int) -> LinearForm:
        """The form multiplied by `factor`."""
        if factor == 0:
            return LinearForm((), 0)
        return LinearForm(tuple((atom, c * factor) for atom, c in self.terms), self.constant * factor)

    def plus(self, other: LinearForm) -> LinearForm:
        """The sum, with like terms collected."""
        if not other.terms or not self.terms:
            return LinearForm(self.terms or other.terms, self.constant + other.constant)
        return _collect((*self.terms, *other.terms), self.constant + other.constant)

    def times(self, other: LinearForm) -> LinearForm:
        """The product, multiplied out; raises `DimensionError` for more than `MAX_PRODUCTS` terms."""
        if not other.terms:
            return self.scaled(other.constant)
        if not self.terms:
            return other.scaled(self.constant)
        if len(self.terms) * len(other.terms) > MAX_PRODUCTS:
            raise DimensionError(
                f"an index has more than {MAX_PRODUCTS} products", help="fix the extents of the inputs"
            )
        terms = [
            (monomial_of((*factors_of(left), *factors_of(right))), a * b)
            for left, a in self.terms
            for right, b in other.terms
        ]
        terms += [(atom, c * other.constant) for atom, c in self.terms]
        terms += [(atom, c * self.constant) for atom, c in other.terms]
        return _collect(terms, self.constant * other.constant)


def atom_form(atom: AffineExpr) -> LinearForm:
    """The form that consists of `atom` alone."""
    return _dim_form(atom.position) if type(atom) is AffineDimExpr else LinearForm(((atom, 1),))


@cache
def _dim_form(position: int) -> LinearForm:
    return LinearForm(((dim(position), 1),))


@lru_cache(maxsize=4096)
def constant_form(value: int) -> LinearForm:
    """The form of a constant."""
    return LinearForm((), value)


@cache
def dim(position: int) -> AffineDimExpr:
    """Dimension `position`; cached, since thousands of expressions share a few dimensions."""
    return AffineDimExpr(position)


@lru_cache(maxsize=4096)
def const(value: int) -> AffineConstantExpr:
    """A constant as an expression; cached, since kernels share a few constants."""
    return AffineConstantExpr(value)


def addends_of(expr: AffineExpr) -> list[AffineExpr]:
    """The addends of a sum, nested sums flattened, from left to right."""
    found: list[AffineExpr] = []
    pending = [expr]
    while pending:
        last = pending.pop()
        if type(last) is AffineBinaryOpExpr and last.kind is AffineBinaryOpKind.Add:
            pending += (last.rhs, last.lhs)
        else:
            found.append(last)
    return found


def sum_of(forms: Sequence[LinearForm]) -> LinearForm:
    """The sum of forms; faster if all atoms are dimensions."""
    terms = _collected_dims([term for form in forms for term in form.terms])
    if terms is not None:
        return LinearForm(terms, sum([form.constant for form in forms]))
    return reduce(LinearForm.plus, forms)


def _collect(terms: Sequence[tuple[AffineExpr, int]], constant: int) -> LinearForm:
    if (simple := _collected_dims(terms)) is not None:
        return LinearForm(simple, constant)
    sums: dict[AffineExpr, int] = {}
    for atom, coefficient in terms:
        sums[atom] = sums.get(atom, 0) + coefficient
    _rejoin_quotients(sums)
    kept = sorted(((a, c) for a, c in sums.items() if c != 0), key=lambda term: order(term[0]))
    form = LinearForm(tuple(kept), constant)
    # Rejoining may introduce sums such as `d0 * 2 + d1`, whose terms may cancel against others.
    if any(is_sum(atom) for atom, _ in kept):
        return _respread(form)
    return form


def _collected_dims(terms: Sequence[tuple[AffineExpr, int]]) -> tuple[tuple[AffineExpr, int], ...] | None:
    """The sorted terms of a sum whose atoms are all dimensions, the most common case; `None` for any other sum."""
    if not terms:
        return ()
    by_position: dict[int, tuple[AffineExpr, int]] = {}
    for atom, coefficient in terms:
        if type(atom) is not AffineDimExpr:
            return None
        known = by_position.get(atom.position)
        by_position[atom.position] = atom, coefficient if known is None else known[1] + coefficient
    return tuple([by_position[position] for position in sorted(by_position) if by_position[position][1] != 0])


def _respread(form: LinearForm) -> LinearForm:
    result = LinearForm((), form.constant)
    for atom, coefficient in form.terms:
        result = result.plus(spread(atom).scaled(coefficient))
    return result


def spread(expr: AffineExpr) -> LinearForm:
    """`expr` multiplied out, with quotients and remainders unchanged."""
    match expr:
        case AffineConstantExpr(value=value):
            return LinearForm((), value)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            return sum_of([spread(addend) for addend in addends_of(expr)])
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=rhs):
            return spread(lhs).times(spread(rhs))
        case _:
            return atom_form(expr)


def _rejoin_quotients(sums: dict[AffineExpr, int]) -> None:
    """Replaces `y * (x floordiv y) + x mod y` by `x`, for any common multiple of the two."""
    for term in list(sums):
        for remainder in factors_of(term):
            if type(remainder) is AffineBinaryOpExpr and remainder.kind is AffineBinaryOpKind.Mod:
                _rejoin(sums, term, remainder)


def _rejoin(sums: dict[AffineExpr, int], term: AffineExpr, remainder: AffineBinaryOpExpr) -> None:
    factor, others = sums.get(term, 0), list(factors_of(term))
    others.remove(remainder)
    quotient = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, remainder.lhs, remainder.rhs)
    if isinstance(remainder.rhs, AffineConstantExpr):
        wanted = [(monomial_of((*others, quotient)), factor * remainder.rhs.value)]
    else:
        product = spread(remainder.rhs).times(atom_form(monomial_of((*others, quotient))))
        wanted = [(atom, factor * coefficient) for atom, coefficient in product.terms]
    if factor == 0 or any(sums.get(atom) != coefficient for atom, coefficient in wanted):
        return
    for atom, _ in (*wanted, (term, factor)):
        del sums[atom]
    if is_sum(remainder.lhs):
        whole = times(monomial_of(others), remainder.lhs) if others else remainder.lhs
    else:
        whole = monomial_of((*others, *factors_of(remainder.lhs)))
    sums[whole] = sums.get(whole, 0) + factor
