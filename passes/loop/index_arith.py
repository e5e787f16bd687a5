"""Affine index expressions as arith operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineDimExpr, AffineExpr

from xrelay.dialects.shared.attribute_names import POSITIVE_DIVISOR
from xrelay.dialects.shared.op_making import make
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import Interval, bounds, linear_form
from xrelay.index_algebra.linear_form import LinearForm, factors_of
from xrelay.index_algebra.value_map import ValueMap

RangeOf = Callable[[SSAValue], Interval | None]
"""Inclusive bounds of an index value; None if unknown."""

NO_SIGNED_WRAP = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])
NO_WRAP = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW, arith.IntegerOverflowFlag.NUW])


@lru_cache(maxsize=4096)
def index_number(value: int) -> IntegerAttr[IndexType]:
    """A number as an `index` attribute, cached because the same few numbers are in every kernel."""
    return IntegerAttr.from_index_int_value(value)


def index_constant(value: int) -> arith.ConstantOp:
    """`arith.constant 3 : index`."""
    number = index_number(value)
    return make(arith.ConstantOp, result_types=(number.type,), properties={"value": number})


class IndexArith:
    """Computes affine expressions with ops that it passes to `add` and constants that it gets from `constant`.

    Sums and products are marked as free of overflow: signed always (an index outside of the address range is
    meaningless), unsigned if the ranges prove that all values are nonnegative. Quotients and remainders round towards
    minus infinity; they are the unsigned operations if the dividend cannot be negative.
    """

    _add: Callable[[Operation], object]
    _constant: Callable[[int], SSAValue]
    _range_of: RangeOf

    def __init__(self, add: Callable[[Operation], object], constant: Callable[[int], SSAValue], range_of: RangeOf):
        self._add, self._constant, self._range_of = add, constant, range_of

    def value(self, value: ValueMap) -> SSAValue:
        """Computes the one expression of `value`; raises `LoweringError` if it divides by a constant below 1.

        A divisor that is not a constant must be positive wherever the result is used.
        """
        expr = value.exprs[0]
        # A fast path: most indices are the index of a loop and need no normal form.
        if isinstance(expr, AffineDimExpr):
            return value.operands[expr.position]
        return self._sum(linear_form(expr, self._box(value)), value)

    def _box(self, value: ValueMap) -> list[Interval | None]:
        return [self._range_of(operand) for operand in value.operands]

    def _result(self, op: Operation) -> SSAValue:
        self._add(op)
        return op.results[0]

    def _without_wrap(
        self, kind: type[arith.AddiOp | arith.MuliOp], lhs: SSAValue, rhs: SSAValue, flags: arith.IntegerOverflowAttr
    ) -> SSAValue:
        return self._result(make(kind, (lhs, rhs), (lhs.type,), {"overflowFlags": flags}))

    def _sum(self, form: LinearForm, space: ValueMap) -> SSAValue:
        box = self._box(space)
        lows = [bounds(atom, box) for atom, _ in form.terms]
        unsigned = form.constant >= 0 and all(
            coefficient >= 0 and low is not None and low[0] >= 0
            for (_, coefficient), low in zip(form.terms, lows, strict=True)
        )
        flags = NO_WRAP if unsigned else NO_SIGNED_WRAP
        total: SSAValue | None = None
        for atom, coefficient in form.terms:
            term = self._atom(atom, space)
            if coefficient != 1:
                term = self._without_wrap(arith.MuliOp, term, self._constant(coefficient), flags)
            total = term if total is None else self._without_wrap(arith.AddiOp, total, term, flags)
        if total is None:
            return self._constant(form.constant)
        if form.constant == 0:
            return total
        return self._without_wrap(arith.AddiOp, total, self._constant(form.constant), flags)

    def _atom(self, atom: AffineExpr, space: ValueMap) -> SSAValue:
        """A dimension, a product of atoms, or a quotient or remainder."""
        if isinstance(atom, AffineDimExpr):
            return space.operands[atom.position]
        if not isinstance(atom, AffineBinaryOpExpr):
            raise LoweringError(f"the index expression {atom} cannot be computed")
        if atom.kind is AffineBinaryOpKind.Mul:
            return self._product(atom, space)
        divisor = linear_form(atom.rhs)
        if not divisor.terms and divisor.constant < 1:
            raise LoweringError(f"the index expression {atom} divides by a value that is not a positive constant")
        low = bounds(atom.lhs, self._box(space))
        value = self._sum(linear_form(atom.lhs, self._box(space)), space)
        by = self._sum(divisor, space)
        is_quotient = atom.kind is AffineBinaryOpKind.FloorDiv
        if low is not None and low[0] >= 0:
            kind = arith.DivUIOp if is_quotient else arith.RemUIOp
            return self._divided(make(kind, (value, by), (value.type,)))
        quotient = self._floor_quotient(value, by)
        if is_quotient:
            return quotient
        multiple = self._result(arith.MuliOp(quotient, by, overflow=NO_SIGNED_WRAP))
        return self._result(arith.SubiOp(value, multiple, overflow=NO_SIGNED_WRAP))

    def _product(self, monomial: AffineExpr, space: ValueMap) -> SSAValue:
        """The product of the factors of a monomial, marked as free of overflow like sums."""
        box, factors = self._box(space), factors_of(monomial)
        ranges = [bounds(factor, box) for factor in factors]
        flags = NO_WRAP if all(known is not None and known[0] >= 0 for known in ranges) else NO_SIGNED_WRAP
        result = self._atom(factors[0], space)
        for factor in factors[1:]:
            result = self._result(arith.MuliOp(result, self._atom(factor, space), overflow=flags))
        return result

    def _divided(self, op: arith.DivUIOp | arith.RemUIOp) -> SSAValue:
        if not isinstance(op.rhs.owner, arith.ConstantOp):
            op.attributes[POSITIVE_DIVISOR] = UnitAttr()
        return self._result(op)

    def _floor_quotient(self, value: SSAValue, by: SSAValue) -> SSAValue:
        """`value floordiv by`; for negative values `-1 - (-1 - value) / by`."""
        minus_one = self._constant(-1)
        negative = self._result(arith.CmpiOp(value, self._constant(0), "slt"))
        mirrored = self._result(arith.SubiOp(minus_one, value))
        dividend = self._result(arith.SelectOp(negative, mirrored, value))
        quotient = self._divided(arith.DivUIOp(dividend, by))
        back = self._result(arith.SubiOp(minus_one, quotient))
        return self._result(arith.SelectOp(negative, back, quotient))
