"""Proofs about affine expressions whose dimensions run up to limits that are expressions themselves.

A loop over the full tiles of `n` elements runs to `n floordiv 16`. That `i * 16 + j` stays below `n` there follows from
no intervals of numbers: it takes `i <= n floordiv 16 - 1` and `n - (n floordiv 16) * 16 = n mod 16 >= 0`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.index_algebra.affine_bounds import Box, LinearForm, bounds, linear_form

_STEPS = 32
"""How many terms are replaced before a proof is given up."""


def is_nonnegative(expr: AffineExpr, box: Box, limits: Mapping[int, AffineExpr]) -> bool:
    """Whether `expr` is surely 0 or more; false where no proof is found.

    `box` gives intervals of dimensions. A dimension in `limits` runs from 0 to one less than its limit, an expression
    of dimensions without limits. Quotients by a constant c are taken as `(x - x mod c) / c`, everything scaled by c.
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
    """The constant by which `atom` is a quotient; `None` if it is none."""
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.FloorDiv:
        return atom.rhs.value if isinstance(atom.rhs, AffineConstantExpr) else None
    return None


def _at_limits(form: LinearForm, limits: Mapping[int, AffineExpr]) -> LinearForm:
    """The form with each dimension that has a limit at the end of its range where the form is least."""
    result = LinearForm((), form.constant)
    for atom, coefficient in form.terms:
        if not isinstance(atom, AffineDimExpr) or atom.position not in limits:
            result = result.plus(LinearForm(((atom, coefficient),)))
        elif coefficient < 0:
            last = linear_form(limits[atom.position]).plus(LinearForm((), -1))
            result = result.plus(last.scaled(coefficient))
    return result


def _without_quotient(form: LinearForm, atom: AffineExpr, coefficient: int) -> tuple[LinearForm, int]:
    """`form` times a factor with `x - x mod c` for `c * (x floordiv c)`, and the factor."""
    if not isinstance(atom, AffineBinaryOpExpr):
        return form, 1
    divisor = linear_form(atom.rhs).constant
    factor = divisor // gcd(divisor, coefficient)
    whole = linear_form(atom.lhs).plus(
        linear_form(AffineBinaryOpExpr(AffineBinaryOpKind.Mod, atom.lhs, atom.rhs)).scaled(-1)
    )
    rest = LinearForm(tuple(term for term in form.terms if term[0] != atom), form.constant)
    return rest.scaled(factor).plus(whole.scaled(coefficient * factor // divisor)), factor
