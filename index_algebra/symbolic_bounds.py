"""Proofs about affine expressions whose dimensions have symbolic limits.

A loop over the full tiles of `n` elements runs to `n floordiv 16`. Intervals of numbers cannot prove that `i * 16 + j`
is below `n` there: it takes `i <= n floordiv 16 - 1` and `n - (n floordiv 16) * 16 = n mod 16 >= 0`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.index_algebra.affine_bounds import Box, LinearForm, bounds, linear_form

_STEPS = 32
"""The maximum number of terms that a proof replaces."""


def is_nonnegative(expr: AffineExpr, box: Box, limits: Mapping[int, AffineExpr]) -> bool:
    """Whether `expr` is provably 0 or more.

    `box` has the intervals of dimensions. A dimension in `limits` runs from 0 to its limit minus 1; a limit is an
    expression over dimensions without limits. Quotients by a constant c are replaced by `(x - x mod c) / c`, and
    everything is scaled by c.
    """
    form, scale = linear_form(expr, box), 1
    for _ in range(_STEPS):
        form = _at_limits(form, limits)
        known = bounds(form.expr(), box)
        if known is not None and known[0] > -scale:
            return True
        quotient = next((term for term in form.terms if _divisor(term[0]) is not None), None)
        if quotient is None:
            return False
        form, factor = _without_quotient(form, *quotient)
        scale *= factor
    return False


def _divisor(atom: AffineExpr) -> int | None:
    """The constant divisor if `atom` is a quotient by one; else `None`."""
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.FloorDiv:
        return atom.rhs.value if isinstance(atom.rhs, AffineConstantExpr) else None
    return None


def _at_limits(form: LinearForm, limits: Mapping[int, AffineExpr]) -> LinearForm:
    """The form with each dimension that has a limit at the end of its range that minimises the form."""
    result = LinearForm((), form.constant)
    for atom, coefficient in form.terms:
        if not isinstance(atom, AffineDimExpr) or atom.position not in limits:
            result = result.plus(LinearForm(((atom, coefficient),)))
        elif coefficient < 0:
            last = linear_form(limits[atom.position]).plus(LinearForm((), -1))
            result = result.plus(last.scaled(coefficient))
    return result


def _without_quotient(form: LinearForm, atom: AffineExpr, coefficient: int) -> tuple[LinearForm, int]:
    """`form` times a factor, with `c * (x floordiv c)` replaced by `x - x mod c`; also returns the factor."""
    if not isinstance(atom, AffineBinaryOpExpr):
        return form, 1
    divisor = linear_form(atom.rhs).constant
    factor = divisor // gcd(divisor, coefficient)
    whole = linear_form(atom.lhs).plus(
        linear_form(AffineBinaryOpExpr(AffineBinaryOpKind.Mod, atom.lhs, atom.rhs)).scaled(-1)
    )
    rest = LinearForm(tuple(term for term in form.terms if term[0] != atom), form.constant)
    return rest.scaled(factor).plus(whole.scaled(coefficient * factor // divisor)), factor
