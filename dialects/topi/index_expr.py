"""Algebra of affine index expressions: bounds over a box of extents, and a canonical form.

Both are pure functions of `xdsl.ir.affine` expressions whose dimensions stand for index values. An extent is the
number of values a dimension takes (it counts from 0), or None when nothing is known about it, as for an index that
was loaded from memory. Expression trees are as deep as somebody wrote them, never as deep as a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

Extents: TypeAlias = Sequence[int | None]
Bounds: TypeAlias = tuple[int, int] | None
"""Smallest and largest value, both included; None when unbounded or empty."""


def bounds(expr: AffineExpr, extents: Extents) -> Bounds:
    """An interval that contains every value of `expr` over the box; exact when each dimension occurs once."""
    match expr:
        case AffineConstantExpr(value=value):
            return value, value
        case AffineDimExpr(position=position):
            extent = extents[position]
            return (0, extent - 1) if extent else None
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = bounds(lhs, extents), bounds(rhs, extents)
            return _combine(kind, left, right) if left and right else _bounded_mod(kind, right)
        case _:
            return None


def _bounded_mod(kind: AffineBinaryOpKind, right: Bounds) -> Bounds:
    """The remainder of an unbounded value by a constant is bounded all the same."""
    return (0, right[1] - 1) if kind is AffineBinaryOpKind.Mod and right else None


def _combine(kind: AffineBinaryOpKind, left: tuple[int, int], right: tuple[int, int]) -> Bounds:
    match kind:
        case AffineBinaryOpKind.Add:
            return left[0] + right[0], left[1] + right[1]
        case AffineBinaryOpKind.Mul:
            corners = [a * b for a in left for b in right]
            return min(corners), max(corners)
        case AffineBinaryOpKind.FloorDiv:
            return left[0] // right[0], left[1] // right[0]
        case AffineBinaryOpKind.CeilDiv:
            return -(-left[0] // right[0]), -(-left[1] // right[0])
        case AffineBinaryOpKind.Mod:
            divisor = right[0]
            same_period = left[0] // divisor == left[1] // divisor
            return (left[0] % divisor, left[1] % divisor) if same_period else (0, divisor - 1)


def linear_terms(expr: AffineExpr) -> tuple[dict[AffineExpr, int], int]:
    """`expr` as Σ coefficient × atom + constant; atoms are dimensions, quotients and remainders, as they occur."""
    terms: dict[AffineExpr, int] = {}
    constant = 0
    stack: list[tuple[AffineExpr, int]] = [(expr, 1)]
    while stack:
        node, factor = stack.pop()
        match node:
            case AffineConstantExpr(value=value):
                constant += factor * value
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
                stack += [(rhs, factor), (lhs, factor)]
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)):
                stack.append((lhs, factor * value))
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=AffineConstantExpr(value=value), rhs=rhs):
                stack.append((rhs, factor * value))
            case _:
                terms[node] = terms.get(node, 0) + factor
    return {atom: factor for atom, factor in terms.items() if factor != 0}, constant


def from_terms(terms: dict[AffineExpr, int], constant: int) -> AffineExpr:
    """The inverse of `linear_terms`: one left-leaning sum, the constant last."""
    result: AffineExpr | None = None
    for atom, factor in terms.items():
        term = atom if factor == 1 else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, atom, AffineConstantExpr(factor))
        result = term if result is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, term)
    if result is None:
        return AffineConstantExpr(constant)
    if constant == 0:
        return result
    return AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, AffineConstantExpr(constant))


def simplify(expr: AffineExpr, extents: Extents) -> AffineExpr:
    """The canonical form of `expr`: equal to it over the box, with quotients and remainders resolved where possible.

    Undoing a split is what it is for: with `%i` below 16, `(%o * 16 + %i) floordiv 16` is `%o` and
    `(%o * 16 + %i) mod 16` is `%i`, so reading a blocked tensor through a layout change reads it in place.
    """
    terms, constant = linear_terms(expr)
    total: AffineExpr = AffineConstantExpr(constant)
    for atom, factor in terms.items():
        total = total + _simplify_atom(atom, extents) * factor
    terms, constant = linear_terms(total)
    return from_terms(_join_quotients(terms), constant)


def _simplify_atom(atom: AffineExpr, extents: Extents) -> AffineExpr:
    if not isinstance(atom, AffineBinaryOpExpr) or not isinstance(atom.rhs, AffineConstantExpr):
        return atom
    inner, divisor = simplify(atom.lhs, extents), atom.rhs.value
    if atom.kind is AffineBinaryOpKind.FloorDiv:
        return _floordiv(inner, divisor, extents)
    if atom.kind is AffineBinaryOpKind.Mod:
        return _mod(inner, divisor, extents)
    return AffineBinaryOpExpr(atom.kind, inner, atom.rhs)


def _divisible_part(expr: AffineExpr, divisor: int) -> tuple[AffineExpr, AffineExpr]:
    """`expr` as `quotient * divisor + rest`, the rest holding the terms that `divisor` does not divide."""
    terms, constant = linear_terms(expr)
    quotient = {atom: factor // divisor for atom, factor in terms.items() if factor % divisor == 0}
    rest = {atom: factor for atom, factor in terms.items() if factor % divisor != 0}
    return from_terms(quotient, constant // divisor), from_terms(rest, constant % divisor)


def _floordiv(expr: AffineExpr, divisor: int, extents: Extents) -> AffineExpr:
    quotient, rest = _divisible_part(expr, divisor)
    limits = bounds(rest, extents)
    if limits and limits[0] // divisor == limits[1] // divisor:
        return quotient + limits[0] // divisor
    if isinstance(rest, AffineBinaryOpExpr) and rest.kind is AffineBinaryOpKind.FloorDiv and divisor > 0:
        inner = rest.rhs
        if isinstance(inner, AffineConstantExpr):  # (e floordiv a) floordiv b = e floordiv (a * b)
            return quotient + _floordiv(rest.lhs, inner.value * divisor, extents)
    return quotient + AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, rest, AffineConstantExpr(divisor))


def _mod(expr: AffineExpr, divisor: int, extents: Extents) -> AffineExpr:
    _, rest = _divisible_part(expr, divisor)
    limits = bounds(rest, extents)
    if limits and limits[0] // divisor == limits[1] // divisor:
        return rest + -(limits[0] // divisor * divisor)
    if isinstance(rest, AffineBinaryOpExpr) and rest.kind is AffineBinaryOpKind.Mod:
        inner = rest.rhs
        if isinstance(inner, AffineConstantExpr) and inner.value % divisor == 0:  # (e mod a*b) mod b = e mod b
            return _mod(rest.lhs, divisor, extents)
    return AffineBinaryOpExpr(AffineBinaryOpKind.Mod, rest, AffineConstantExpr(divisor))


def _join_quotients(terms: dict[AffineExpr, int]) -> dict[AffineExpr, int]:
    """`(e floordiv c) * (c * k) + (e mod c) * k` is `e * k`; repeated until nothing joins."""
    for atom, factor in terms.items():
        if not isinstance(atom, AffineBinaryOpExpr) or atom.kind is not AffineBinaryOpKind.Mod:
            continue
        quotient = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, atom.lhs, atom.rhs)
        divisor = atom.rhs
        if isinstance(divisor, AffineConstantExpr) and terms.get(quotient) == divisor.value * factor:
            rest = {key: value for key, value in terms.items() if key not in (atom, quotient)}
            joined, constant = linear_terms(from_terms(rest, 0) + atom.lhs * factor)
            if constant == 0:
                return _join_quotients(joined)
    return terms
