"""Fast paths for dimensions and numbers agree with the general operations on expressions."""

from __future__ import annotations

from itertools import product

from xdsl.ir.affine import AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.index_algebra.affine_bounds import bounds, linear_form, simplify, stride
from xrelay.index_algebra.linear_form import binary
from xrelay.index_algebra.value_map import ValueMap

FIRST, SECOND = AffineDimExpr(0), AffineDimExpr(1)
CONSTANTS = [AffineConstantExpr(value) for value in (-1, 0, 1, 3)]
SIDES = [FIRST, SECOND, *CONSTANTS, FIRST + SECOND, FIRST + 2, FIRST * 2, FIRST // 2, FIRST % 3, (FIRST + 1) * 2]


def test_operations_are_those_of_xdsl() -> None:
    for kind, lhs, rhs in product(AffineBinaryOpKind, SIDES, CONSTANTS):
        if rhs.value > 0 or kind in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul):
            assert binary(kind, lhs, rhs) == AffineExpr.binary(kind, lhs, rhs)
    for lhs, rhs in product(SIDES, SIDES):
        assert binary(AffineBinaryOpKind.Add, lhs, rhs) == lhs + rhs


def test_dimensions_and_numbers_are_simple() -> None:
    box = [(2, 5), None]
    for expr in (FIRST, SECOND, *CONSTANTS):
        assert simplify(expr, box) == linear_form(expr, box).expr()
    assert bounds(FIRST, box) == (2, 5)
    assert bounds(SECOND, box) is None
    assert bounds(AffineDimExpr(2), box) is None
    assert (stride(FIRST, 0), stride(FIRST, 1)) == (1, 0)


def test_maps_of_one_value_are_replaced_whole() -> None:
    values = ValueMap.make([SECOND], ["a", "b"])
    other = ValueMap.make([FIRST + SECOND], ["c", "a"])
    assert values.substitute({"a": other}) is values
    assert values.substitute({"b": other}) is other
    assert values.simplified({"b": (3, 3)}) == values
