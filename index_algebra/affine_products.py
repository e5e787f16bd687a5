"""Products, quotients and remainders of two non-constant expressions, which make affine expressions semi-affine.

xDSL's operators accept only constants on the right side. A *monomial* is a product of factors that are neither sums nor
constants; it is nested to the left, with its factors in a fixed order.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

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
