"""The pattern of `relay-simplify-expr` that factors binomials into products of two sums."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isqrt, sqrt

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.passes.graph.rewriting import Emitter, constant_of, plain_owner_of


@dataclass(frozen=True)
class _Term:
    """The product of a number and two values."""

    number: float
    first: SSAValue
    second: SSAValue

    @property
    def is_square(self) -> bool:
        return self.first is self.second


@dataclass(frozen=True)
class _Binomial:
    """`x² + b x y + c y²`."""

    x: SSAValue
    y: SSAValue
    b: float
    c: float


class FactorBinomial(RewritePattern):
    """Factors `x² + b x y + c y²` into `(x + p y) (x + q y)` with p + q = b and p q = c. Not exact.

    Before:

        %a = relay.multiply(%x, %x)
        %b = relay.multiply(%x, %y)
        %c = relay.multiply(%two, %b)
        %d = relay.multiply(%y, %y)
        %e = relay.add(%a, %c)
        %z = relay.add(%e, %d)

    After:

        %s = relay.add(%x, %y)
        %z = relay.multiply(%s, %s)

    Terms and factors may be in any order. Not changed: b and c without real p and q, or, for integers, without integer
    p and q; sums in which neither square has the factor 1; inner products and sums with other uses; operands of other
    shapes than the result.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if it is a sum of two squares and their product."""
        found = _binomial(op)
        if found is None:
            return
        whole = numpy_dtype(element_type_of(op.result.type)).kind in "iu"
        roots = _whole_roots(found.b, found.c) if whole else _roots(found.b, found.c)
        if roots is None:
            return
        emit = Emitter(rewriter, op)
        left = _sum(emit, found, roots[0])
        right = left if roots[1] == roots[0] else _sum(emit, found, roots[1])
        emit.replace(emit.call(MultiplyOp, left, right))


def _binomial(op: AddOp) -> _Binomial | None:
    """The sum as a binomial, whose first square has the factor 1; `None` for other sums."""
    terms = _terms(op)
    mixed = [term for term in terms if not term.is_square]
    squares = {term.first: term.number for term in terms if term.is_square}
    if len(terms) != 3 or len(mixed) != 1 or squares.keys() != {mixed[0].first, mixed[0].second}:
        return None
    for x, y in ((mixed[0].first, mixed[0].second), (mixed[0].second, mixed[0].first)):
        if squares[x] == 1 and mixed[0].number != 0 and squares[y] != 0:
            return _Binomial(x, y, mixed[0].number, squares[y])
    return None


def _terms(op: AddOp) -> list[_Term]:
    """The three terms of two nested sums; fewer for other values."""
    for inner, last in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        first = plain_owner_of(inner, AddOp)
        if first is not None and inner.has_one_use():
            terms = [_term(value, op.result) for value in (first.lhs, first.rhs, last)]
            return [term for term in terms if term is not None]
    return []


def _term(value: SSAValue, result: SSAValue) -> _Term | None:
    """A product of two values of the type of `result` and any constants; `None` for other values."""
    number, leaves, pending = 1.0, list[SSAValue](), [value]
    while pending:
        factor = pending.pop()
        product, constant = plain_owner_of(factor, MultiplyOp), constant_of(factor)
        if product is not None and factor.has_one_use():
            pending += reversed(product.operands)
        elif constant is not None and constant.size == 1 and isfinite(float(constant.reshape(()))):
            number *= float(constant.reshape(()))
        elif factor.type != result.type or len(leaves) == 2:
            return None
        else:
            leaves.append(factor)
    return _Term(number, *leaves) if len(leaves) == 2 else None


def _roots(b: float, c: float) -> tuple[float, float] | None:
    """Real numbers with the sum b and the product c."""
    square = b * b - 4 * c
    if not isfinite(square) or square < 0:
        return None
    # The root of greater magnitude first, because its sum has no cancellation.
    greater = (b + (sqrt(square) if b > 0 else -sqrt(square))) / 2
    return greater, c / greater


def _whole_roots(b: float, c: float) -> tuple[float, float] | None:
    """Integers with the sum b and the product c, if these are small enough for every integer type."""
    if max(abs(b), abs(c)) > _GREATEST:
        return None
    square = int(b) * int(b) - 4 * int(c)
    if square < 0 or isqrt(square) ** 2 != square:
        return None
    # b and the square root are both odd or both even.
    return (int(b) + isqrt(square)) // 2, (int(b) - isqrt(square)) // 2


_GREATEST = 127
"""Every signed integer type can represent such numbers; in unsigned types negative roots wrap, as sums do."""


def _sum(emit: Emitter, found: _Binomial, root: float) -> SSAValue:
    """`x + root * y`."""
    scaled = found.y if root == 1 else emit.call(MultiplyOp, found.y, emit.scalar(root, found.y.type))
    return emit.call(AddOp, found.x, scaled)
