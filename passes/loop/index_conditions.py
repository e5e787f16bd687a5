"""Comparisons of indices as limits: expressions that are all positive exactly if the comparison holds."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import Final

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr

from xrelay.dialects.loop import LoopKind, ValueMap
from xrelay.dialects.loop.extents import expression_of, loop_of_index
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.affine_bounds import Interval, LinearForm, linear_form
from xrelay.passes.loop.nest_queries import box_of, range_of

Limits = tuple[ValueMap, ...]
"""Expressions that are all positive exactly if a comparison holds."""

_EQ, _NE, _SLT, _SLE, _SGT, _SGE, _ULT, _UGE = 0, 1, 2, 3, 4, 5, 6, 9
"""Predicates of `arith.cmpi`."""
_NEGATED: Final = {_NE: _EQ, _SLT: _SGE, _SLE: _SGT, _SGT: _SLE, _SGE: _SLT, _ULT: _UGE, _UGE: _ULT}
"""Maps a predicate to its negation. Predicates without an entry have a negation that bounds no operand."""
_QUOTIENTS: Final[dict[type[Operation], AffineBinaryOpKind]] = {
    arith.DivUIOp: AffineBinaryOpKind.FloorDiv,
    arith.RemUIOp: AffineBinaryOpKind.Mod,
}


def limits_of(test: CmpiOp) -> Limits | None:
    """The limits of a comparison of indices; None for other comparisons and those that differ between lanes."""
    if not isinstance(test.lhs.type, IndexType):
        return None
    left, right = affine(test.lhs), affine(test.rhs)
    limits = _positive(test.predicate.value.data, left, right)
    if limits is None or any(_is_lane(value) for limit in limits for value in limit.operands):
        return None
    return tuple(map(_reduced, limits))


def positive_where(test: arith.CmpiOp, *, holds: bool) -> Limits:
    """Returns expressions that are positive if a comparison of indices holds, or, with `holds=False`, if it fails."""
    if not isinstance(test.lhs.type, IndexType):
        return ()
    predicate = test.predicate.value.data if holds else _NEGATED.get(test.predicate.value.data, _NE)
    left, right = affine(test.lhs), affine(test.rhs)
    if predicate == _EQ:
        return left.plus(right, -1).plus(1), right.plus(left, -1).plus(1)
    if predicate == _UGE and all((known := range_of(side)) is not None and known[0] >= 0 for side in (left, right)):
        predicate = _SGE
    return _positive(predicate, left, right) or ()


def _positive(predicate: int, left: ValueMap, right: ValueMap) -> Limits | None:
    less, greater = right.plus(left, -1), left.plus(right, -1)
    if predicate == _ULT and (known := range_of(right)) is not None and known[0] >= 0:
        return left.plus(1), less
    found = {_SLT: less, _SLE: less.plus(1), _SGT: greater, _SGE: greater.plus(1)}
    return (found[predicate],) if predicate in found else None


def affine(value: SSAValue) -> ValueMap:
    """An index as an expression of the values that it is computed from, including quotients of loop indices."""
    found = expression_of(value)
    while True:
        quotients = {each: quotient for each in found.operands if (quotient := _quotient(each)) is not None}
        if not quotients:
            return found
        found = found.substitute(quotients)


def _quotient(value: SSAValue) -> ValueMap | None:
    """Returns `value` as a quotient or remainder by a constant, if the dividend cannot be negative."""
    kind = _QUOTIENTS.get(type(value.owner)) if isinstance(value, OpResult) else None
    if kind is None or not isinstance(value.owner, Operation):
        return None
    dividend, divisor = map(expression_of, value.owner.operands)
    by, known = divisor.exprs[0], range_of(dividend)
    if not isinstance(by, AffineConstantExpr) or by.value <= 0 or known is None or known[0] < 0:
        return None
    return ValueMap.make([AffineBinaryOpExpr(kind, dividend.exprs[0], by)], dividend.operands)


def _is_lane(value: SSAValue) -> bool:
    loop = loop_of_index(value)
    return loop is not None and loop.kind is LoopKind.VECTORIZED


def _reduced(limit: ValueMap) -> ValueMap:
    """An expression that is positive where `limit` is; it is the same for `1 - q`, `2 - 2 * q` and `2 - 3 * q`."""
    form = linear_form(limit.exprs[0], box_of(limit))
    divisor = gcd(*(coefficient for _, coefficient in form.terms)) or 1
    terms = tuple((atom, coefficient // divisor) for atom, coefficient in form.terms)
    return ValueMap.make([LinearForm(terms, -(-form.constant // divisor)).expr()], limit.operands)


def answer_of(limits: Limits) -> bool | None:
    """The constant result of a comparison; None if it varies."""
    return combined_answer([range_of(limit) for limit in limits])


def combined_answer(ranges: Iterable[Interval | None]) -> bool | None:
    """The result of a comparison whose limits are in these ranges; None if they do not determine it."""
    known = list(ranges)
    if any(each is not None and each[1] <= 0 for each in known):
        return False
    return True if all(each is not None and each[0] > 0 for each in known) else None
