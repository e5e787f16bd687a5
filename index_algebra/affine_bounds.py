"""Arithmetic on affine expressions: normal form, bounds over boxes, strides, and the region that a tile reads.

Pure mathematics on `xdsl.ir.affine` expressions over dimensions `d0, d1, …`; nothing here knows IR. A box gives each
dimension its inclusive interval, or `None` where nothing is known. Quasi-affine parts (`floordiv`, `mod`) are kept as
atoms of the normal form, so that equal ones cancel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

Interval = tuple[int, int]
"""Inclusive lower and upper end."""

Box = Sequence[Interval | None]
"""The interval of each dimension; `None` (or a dimension past the end) is unknown."""


@dataclass(frozen=True)
class LinearForm:
    """`sum(coefficient * atom) + constant`; an atom is a dimension, a floordiv or a mod of a simplified expression."""

    terms: tuple[tuple[AffineExpr, int], ...]
    constant: int = 0

    def expr(self) -> AffineExpr:
        """The form as an expression: terms in a fixed order, the constant last, nested to the left."""
        result: AffineExpr | None = None
        for atom, coefficient in self.terms:
            term = atom if coefficient == 1 else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, atom, _const(coefficient))
            result = term if result is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, term)
        if result is None:
            return _const(self.constant)
        if self.constant == 0:
            return result
        return AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, _const(self.constant))

    def scaled(self, factor: int) -> LinearForm:
        """Every coefficient times `factor`."""
        if factor == 0:
            return LinearForm((), 0)
        return LinearForm(tuple((atom, c * factor) for atom, c in self.terms), self.constant * factor)

    def plus(self, other: LinearForm) -> LinearForm:
        """The sum, like terms collected."""
        return _collect((*self.terms, *other.terms), self.constant + other.constant)


def _const(value: int) -> AffineExpr:
    return AffineConstantExpr(value)


def _order(atom: AffineExpr) -> tuple[int, int, str]:
    """Dimensions by number, then the quasi-affine atoms by text: equal sums get equal forms."""
    if isinstance(atom, AffineDimExpr):
        return (0, atom.position, "")
    return (1, 0, str(atom))


def _collect(terms: Sequence[tuple[AffineExpr, int]], constant: int) -> LinearForm:
    sums: dict[AffineExpr, int] = {}
    for atom, coefficient in terms:
        sums[atom] = sums.get(atom, 0) + coefficient
    _rejoin_quotients(sums)
    kept = sorted(((a, c) for a, c in sums.items() if c != 0), key=lambda term: _order(term[0]))
    form = LinearForm(tuple(kept), constant)
    # Rejoining brings back sums such as `d0 * 2 + d1`, which may cancel against others.
    if any(_is_sum(atom) for atom, _ in kept):
        return _respread(form)
    return form


def _is_sum(atom: AffineExpr) -> bool:
    return isinstance(atom, AffineConstantExpr) or (
        isinstance(atom, AffineBinaryOpExpr) and atom.kind in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)
    )


def _respread(form: LinearForm) -> LinearForm:
    result = LinearForm((), form.constant)
    for atom, coefficient in form.terms:
        part = linear_form(atom) if _is_sum(atom) else LinearForm(((atom, 1),))
        result = result.plus(part.scaled(coefficient))
    return result


def _rejoin_quotients(sums: dict[AffineExpr, int]) -> None:
    """`c * (x floordiv c) + x mod c` is `x`, whatever multiple of it stands there."""
    for atom in list(sums):
        if not (isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.Mod):
            continue
        divisor = atom.rhs
        factor = sums.get(atom, 0)
        quotient = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, atom.lhs, divisor)
        if factor == 0 or not isinstance(divisor, AffineConstantExpr) or quotient not in sums:
            continue
        if sums[quotient] == factor * divisor.value:
            del sums[atom], sums[quotient]
            sums[atom.lhs] = sums.get(atom.lhs, 0) + factor


def linear_form(expr: AffineExpr, box: Box = ()) -> LinearForm:
    """The normal form of `expr`; with a box, quotients and remainders that the bounds decide are resolved."""
    match expr:
        case AffineConstantExpr(value=value):
            return LinearForm((), value)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = linear_form(lhs, box), linear_form(rhs, box)
            return _combine(kind, left, right, box)
        case _:
            return LinearForm(((expr, 1),))


def _combine(kind: AffineBinaryOpKind, left: LinearForm, right: LinearForm, box: Box) -> LinearForm:
    if kind is AffineBinaryOpKind.Add:
        return left.plus(right)
    if kind is AffineBinaryOpKind.Mul:
        return left.scaled(right.constant) if not right.terms else right.scaled(left.constant)
    divisor = right.constant
    if right.terms or divisor <= 0:
        return LinearForm(((AffineBinaryOpExpr(kind, left.expr(), right.expr()), 1),))
    if kind is AffineBinaryOpKind.CeilDiv:
        return _floordiv(left.plus(LinearForm((), divisor - 1)), divisor, box)
    if kind is AffineBinaryOpKind.FloorDiv:
        return _floordiv(left, divisor, box)
    return _mod(left, divisor, box)


def _split_multiples(form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm]:
    """`form` as `divisor * whole + rest`, with coefficients and constant of rest in `[0, divisor)`."""
    whole = tuple((a, c // divisor) for a, c in form.terms if c % divisor == 0)
    rest = tuple((a, c) for a, c in form.terms if c % divisor != 0)
    return LinearForm(whole, form.constant // divisor), LinearForm(rest, form.constant % divisor)


def _common_factor(form: LinearForm, divisor: int) -> int:
    return gcd(divisor, *(c for _, c in form.terms))


def _coarse_and_fine(form: LinearForm, divisor: int, box: Box) -> tuple[LinearForm, LinearForm, int] | None:
    """`form` as `factor * coarse + fine` with `fine` in `[0, factor)` and `factor` dividing `divisor`, if there is one.

    With `d1` in `[0, 7]`, `d0 * 8 + d1` is 8 times `d0` and `d1`: then `floordiv 16` is `d0 floordiv 2`.
    """
    for factor in sorted({gcd(divisor, c) for _, c in form.terms} - {1, divisor}, reverse=True):
        fine = LinearForm(tuple((a, c) for a, c in form.terms if c % factor), form.constant % factor)
        interval = _form_bounds(fine, box)
        if interval is not None and interval[0] >= 0 and interval[1] < factor:
            coarse = tuple((a, c // factor) for a, c in form.terms if c % factor == 0)
            return LinearForm(coarse, form.constant // factor), fine, factor
    return None


def _floordiv(form: LinearForm, divisor: int, box: Box) -> LinearForm:
    whole, rest = _split_multiples(form, divisor)
    interval = _form_bounds(rest, box)
    if interval is not None and interval[0] // divisor == interval[1] // divisor:
        return whole.plus(LinearForm((), interval[0] // divisor))
    if (parts := _coarse_and_fine(rest, divisor, box)) is not None:
        return whole.plus(_floordiv(parts[0], divisor // parts[2], box))
    factor = _common_factor(rest, divisor)
    if factor > 1:
        rest = LinearForm(tuple((a, c // factor) for a, c in rest.terms), rest.constant // factor)
        divisor //= factor
    inner = rest.terms[0][0] if rest.terms == ((rest.terms[0][0], 1),) and rest.constant == 0 else None
    if (
        isinstance(inner, AffineBinaryOpExpr)
        and inner.kind is AffineBinaryOpKind.FloorDiv
        and isinstance(inner.rhs, AffineConstantExpr)
    ):
        return whole.plus(_floordiv(linear_form(inner.lhs, box), inner.rhs.value * divisor, box))
    atom = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, rest.expr(), _const(divisor))
    return whole.plus(LinearForm(((atom, 1),)))


def _mod(form: LinearForm, divisor: int, box: Box) -> LinearForm:
    _, rest = _split_multiples(form, divisor)
    interval = _form_bounds(rest, box)
    if interval is not None and interval[0] // divisor == interval[1] // divisor:
        return rest.plus(LinearForm((), -(interval[0] // divisor) * divisor))
    # The sign stays: `x - y` has tighter bounds than `x + y * (divisor - 1)`.
    rest = LinearForm(tuple((a, c % divisor if c > 0 else -(-c % divisor)) for a, c in rest.terms), rest.constant)
    if (parts := _coarse_and_fine(rest, divisor, box)) is not None:
        coarse, fine, part = parts
        return _mod(coarse, divisor // part, box).scaled(part).plus(fine)
    factor = _common_factor(rest, divisor)
    if factor > 1 and rest.constant % factor == 0:
        reduced = LinearForm(tuple((a, c // factor) for a, c in rest.terms), rest.constant // factor)
        return _mod(reduced, divisor // factor, box).scaled(factor)
    atom = AffineBinaryOpExpr(AffineBinaryOpKind.Mod, rest.expr(), _const(divisor))
    return LinearForm(((atom, 1),))


def simplify(expr: AffineExpr, box: Box = ()) -> AffineExpr:
    """`expr` with like terms collected and quotients decided by `box` resolved.

    `simplify(d0 * 4 + d1 - d0 * 4)` is `d1`; `simplify((d0 * 4 + d1) floordiv 4)` with `d1` in `[0, 3]` is `d0`.
    """
    return linear_form(expr, box).expr()


def bounds(expr: AffineExpr, box: Box) -> Interval | None:
    """An interval that holds every value of `expr` over `box` (tight for linear ones); `None` if unknown."""
    return _form_bounds(linear_form(expr, box), box)


def _form_bounds(form: LinearForm, box: Box) -> Interval | None:
    low = high = form.constant
    for atom, coefficient in form.terms:
        interval = _atom_bounds(atom, box)
        if interval is None:
            return None
        ends = (coefficient * interval[0], coefficient * interval[1])
        low, high = low + min(ends), high + max(ends)
    return low, high


def _atom_bounds(atom: AffineExpr, box: Box) -> Interval | None:
    if isinstance(atom, AffineDimExpr):
        return box[atom.position] if atom.position < len(box) else None
    if not isinstance(atom, AffineBinaryOpExpr) or not isinstance(atom.rhs, AffineConstantExpr):
        return None
    divisor = atom.rhs.value
    inner = bounds(atom.lhs, box)
    if divisor <= 0:
        return None
    if atom.kind is AffineBinaryOpKind.Mod:
        if inner is not None and inner[0] // divisor == inner[1] // divisor:
            return inner[0] % divisor, inner[1] % divisor
        return 0, divisor - 1
    if atom.kind is AffineBinaryOpKind.FloorDiv and inner is not None:
        return inner[0] // divisor, inner[1] // divisor
    return None


def stride(expr: AffineExpr, dim: int) -> int | None:
    """How much `expr` grows when dimension `dim` grows by one; `None` if that is not a constant."""
    result = 0
    for atom, coefficient in linear_form(expr).terms:
        if isinstance(atom, AffineDimExpr):
            result += coefficient if atom.position == dim else 0
        elif dim in atom.used_dims():
            return None
    return result


def substitute(expr: AffineExpr, replacements: Mapping[int, AffineExpr]) -> AffineExpr:
    """`expr` with dimension `d` replaced by `replacements[d]` where there is one; not simplified."""
    match expr:
        case AffineDimExpr(position=position):
            return replacements.get(position, expr)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return AffineExpr.binary(kind, substitute(lhs, replacements), substitute(rhs, replacements))
        case _:
            return expr


@dataclass(frozen=True)
class Span:
    """The values `base, base + 1, …, base + extent - 1`; `base` depends on outer dimensions alone."""

    base: AffineExpr
    extent: int


def span(expr: AffineExpr, inner: Mapping[int, Interval], box: Box = ()) -> Span | None:
    """The values that `expr` takes while the dimensions in `inner` run through their intervals and the others stand.

    `span(d0 * 14 + d1 + d2, {1: (0, 13), 2: (0, 2)})` is `Span(d0 * 14, 16)`. `None` if outer and inner dimensions
    meet inside one floordiv or mod, so that no constant extent starts at a known base.
    """
    inner_box = [inner.get(d) for d in range(max(inner, default=-1) + 1)]
    moving: list[tuple[AffineExpr, int]] = []
    fixed: list[tuple[AffineExpr, int]] = []
    form = linear_form(expr, box)
    for atom, coefficient in form.terms:
        used = atom.used_dims()
        if used.isdisjoint(inner):
            fixed.append((atom, coefficient))
        elif used <= inner.keys():
            moving.append((atom, coefficient))
        else:
            return None
    interval = _form_bounds(LinearForm(tuple(moving)), inner_box)
    if interval is None:
        return None
    base = LinearForm(tuple(fixed), form.constant + interval[0])
    return Span(base.expr(), interval[1] - interval[0] + 1)


def join(left: Span, right: Span) -> Span | None:
    """The smallest span that holds both; `None` if their bases differ by more than a constant."""
    difference = linear_form(right.base).plus(linear_form(left.base).scaled(-1))
    if difference.terms:
        return None
    offset = difference.constant
    base = left.base if offset >= 0 else right.base
    low, high = min(0, offset), max(left.extent, offset + right.extent)
    return Span(base, high - low)
