"""Arithmetic on affine expressions, against evaluation at every point of small boxes."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from xdsl.ir.affine import AffineExpr

from xrelay.index_algebra.affine_bounds import Span, bounds, join, simplify, span, stride, substitute

D0, D1, D2 = (AffineExpr.dimension(k) for k in range(3))
BOX = [(0, 3), (0, 4), (-2, 2)]


def points():
    return product(*(range(low, high + 1) for low, high in BOX))


def expressions() -> st.SearchStrategy[AffineExpr]:
    leaves = st.sampled_from([D0, D1, D2]) | st.integers(-5, 5).map(AffineExpr.constant)
    constants = st.integers(1, 6)

    def grow(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
        return (
            st.builds(lambda a, b: a + b, inner, inner)
            | st.builds(lambda a, c: a * c, inner, st.integers(-4, 4))
            | st.builds(lambda a, c: a // c, inner, constants)
            | st.builds(lambda a, c: a % c, inner, constants)
            | st.builds(lambda a, c: a.ceil_div(c), inner, constants)
        )

    return st.recursive(leaves, grow, max_leaves=6)


@settings(max_examples=examples(200), deadline=None)
@given(expressions())
def test_simplified_expressions_have_the_same_values(expr: AffineExpr):
    for simple in (simplify(expr), simplify(expr, BOX)):
        assert all(simple.eval(point, ()) == expr.eval(point, ()) for point in points())


@settings(max_examples=examples(100, more=2), deadline=None)
@given(expressions())
def test_bounds_hold_every_value(expr: AffineExpr):
    interval = bounds(expr, BOX)
    assert interval is not None
    assert all(interval[0] <= expr.eval(point, ()) <= interval[1] for point in points())


@settings(max_examples=examples(200), deadline=None)
@given(expressions())
def test_span_holds_every_value_and_its_base_stands_still(expr: AffineExpr):
    found = span(expr, {1: BOX[1], 2: BOX[2]}, BOX)
    if found is None:
        return
    assert found.base.used_dims() <= {0}
    for point in points():
        assert 0 <= expr.eval(point, ()) - found.base.eval(point, ()) < found.extent


@settings(max_examples=examples(100), deadline=None)
@given(expressions())
def test_stride_is_the_difference_of_neighbours(expr: AffineExpr):
    step = stride(expr, 0)
    if step is None:
        return
    for d0, d1, d2 in points():
        assert expr.eval((d0 + 1, d1, d2), ()) - expr.eval((d0, d1, d2), ()) == step


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (D0 * 4 + D1 - D0 * 4, "d1"),
        ((D0 // 5) * 5 + D0 % 5, "d0"),
        ((D0 // 3) // 4, "(d0 floordiv 12)"),
        ((D0 * 6 + 3) // 3, "((d0 * 2) + 1)"),
        ((D0 * 8 + D1) % 4, "(d1 mod 4)"),
        ((D0 * 6) % 4, "((d0 mod 2) * 2)"),
        ((D0 // 14) * 14 + D0 % 14 - D0, "0"),
        (D1 * 0, "0"),
    ],
)
def test_simplify_without_bounds(expr: AffineExpr, expected: str):
    assert str(simplify(expr)) == expected


def test_bounds_resolve_quotients():
    assert str(simplify((D0 * 4 + D1) // 4, [None, (0, 3)])) == "d0"
    assert str(simplify((D0 * 4 + D1) % 4, [None, (0, 3)])) == "d1"
    assert str(simplify((D0 * 4 + D1) // 4, [None, (0, 4)])) == "(d0 + (d1 floordiv 4))"


def test_bounds_of_unknown_dimensions_are_unknown():
    assert bounds(D0 + D1, [(0, 3), None]) is None
    assert bounds(D1 % 4, [(0, 3), None]) == (0, 3)


def test_span_of_a_window():
    assert span(D0 * 14 + D1 + D2, {1: (0, 13), 2: (0, 2)}) == Span(D0 * 14, 16)
    assert span((D0 * 4 + D1) // 3, {1: (0, 3)}) is None


def test_join_of_spans():
    assert join(Span(D0, 3), Span(D0 - 1, 3)) == Span(D0 + -1, 4)
    assert join(Span(D0, 3), Span(D1, 3)) is None


def test_substitution_leaves_other_dimensions():
    assert str(simplify(substitute(D0 * 2 + D1, {0: D1 + 1}))) == "((d1 * 3) + 2)"
