"""Quotients and remainders of nested blocks, on which vectors of packed weights depend."""

from __future__ import annotations

import random
from itertools import product

import pytest
from xdsl.ir.affine import AffineExpr

from xrelay.index_algebra.affine_bounds import simplify, stride

D0, D1, D2 = (AffineExpr.dimension(k) for k in range(3))


def test_a_block_of_lanes_inside_a_packed_block() -> None:
    box = [(0, 9), (0, 7)]
    assert str(simplify((D0 * 8 + D1) // 16, box)) == "(d0 floordiv 2)"
    assert stride(simplify((D0 * 8 + D1) % 16, box), 1) == 1


@pytest.mark.parametrize("seed", range(4))
def test_simplified_expressions_have_the_same_values(seed: int) -> None:
    choose = random.Random(seed)
    for _ in range(250):
        lows = [choose.randint(-2, 2) for _ in range(3)]
        box = [(low, low + choose.randint(0, 5)) for low in lows]
        total = AffineExpr.constant(choose.randint(-5, 9))
        for dim in (D0, D1, D2):
            total = total + dim * choose.choice([0, 1, 2, 3, 4, 6, 8, -2, -4, 12])
        divisor = choose.choice([2, 4, 8, 12, 16])
        expr = total // divisor if choose.random() < 0.5 else total % divisor
        simple = simplify(expr, box)
        for point in product(*(range(low, high + 1) for low, high in box)):
            assert expr.eval(point, []) == simple.eval(point, []), f"{expr} became {simple} over {box}"
