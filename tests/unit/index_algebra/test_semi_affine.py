"""Products of dimensions, quotients and remainders by them: against evaluation at every point of small boxes."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from xdsl.ir.affine import AffineExpr

from xrelay.index_algebra.affine_bounds import (
    Below,
    Box,
    bounds,
    linear_form,
    simplify,
    span,
    stride,
    substitute,
    symbolic_stride,
)
from xrelay.index_algebra.linear_form import floor_div, modulo, times

X, J, K, N, M = (AffineExpr.dimension(k) for k in range(5))
FAR = 1 << 47
SYMBOLS: Box = [(0, FAR), Below(N), Below(M), (0, FAR), (0, FAR)]
"""An outer index, `j` below n, `k` below m, and the extents n and m."""
BOX: Box = [(-2, 3), (0, 2), (0, 3), (0, 3), (1, 2)]


def points():
    return product(*(range(low, high + 1) for low, high in BOX))


def value(expr: AffineExpr, point: tuple[int, ...]) -> int | None:
    """The value at a point; `None` if a divisor is 0."""
    try:
        return expr.eval(point, ())
    except ZeroDivisionError:
        return None


def expressions() -> st.SearchStrategy[AffineExpr]:
    leaves = st.sampled_from([X, J, K, N, M]) | st.integers(-3, 3).map(AffineExpr.constant)

    def divisor(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
        return st.sampled_from([N, M, times(N, M), N + 1, N + M, times(N, M) * 2]) | st.integers(1, 4).map(
            AffineExpr.constant
        )

    def grow(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
        return (
            st.builds(lambda a, b: a + b, inner, inner)
            | st.builds(times, inner, inner)
            | st.builds(floor_div, inner, divisor(inner))
            | st.builds(modulo, inner, divisor(inner))
        )

    return st.recursive(leaves, grow, max_leaves=6)


@settings(max_examples=examples(100, more=2), deadline=None)
@given(expressions())
def test_simplified_expressions_have_the_same_values(expr: AffineExpr):
    for simple in (simplify(expr), simplify(expr, BOX)):
        for point in points():
            wanted = value(expr, point)
            assert wanted is None or simple.eval(point, ()) == wanted, f"{expr} became {simple}"


@settings(max_examples=examples(100, more=2), deadline=None)
@given(expressions())
def test_limits_that_are_expressions_keep_the_values(expr: AffineExpr):
    simple = simplify(expr, [(-2, 3), Below(N), Below(M), (0, 3), (0, 2)])
    for i, n, m in product(range(-2, 4), range(4), range(3)):
        for j, k in product(range(n), range(m)):
            wanted = value(expr, (i, j, k, n, m))
            assert wanted is None or simple.eval((i, j, k, n, m), ()) == wanted, f"{expr} became {simple}"


@settings(max_examples=examples(100, more=2), deadline=None)
@given(expressions())
def test_bounds_hold_every_value(expr: AffineExpr):
    interval = bounds(expr, BOX)
    for point in points():
        found = value(expr, point)
        assert interval is None or found is None or interval[0] <= found <= interval[1]


@settings(max_examples=examples(100), deadline=None)
@given(expressions())
def test_stride_is_the_difference_of_neighbours(expr: AffineExpr):
    step = stride(expr, 0)
    if step is None:
        return
    for point in points():
        here, there = value(expr, point), value(expr, (point[0] + 1, *point[1:]))
        assert here is None or there is None or there - here == step


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (times(X, N) + J - times(N, X), "d1"),
        (times(X + 1, N) - N, "(d0 * d3)"),
        (floor_div(times(X, N) + J, N), "(d0 + (d1 floordiv d3))"),
        (times(floor_div(X, N), N) + modulo(X, N), "d0"),
        (times(times(floor_div(X, N + 1), M), N + 1) + times(modulo(X, N + 1), M), "(d0 * d4)"),
        (modulo(times(X, N), N), "0"),
        (modulo(times(X, N) * 6 + N * 2, N * 3), "((d3 * 2) mod (d3 * 3))"),
    ],
)
def test_simplify_without_bounds(expr: AffineExpr, expected: str):
    assert str(simplify(expr)) == expected


FLAT = times(times(X, N) + J, M) + K


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (floor_div(times(X, N) + J, N), "d0"),
        (modulo(times(X, N) + J, N), "d1"),
        (floor_div(FLAT, times(N, M)), "d0"),
        (modulo(floor_div(FLAT, M), N), "d1"),
        (floor_div(floor_div(FLAT, M), N), "d0"),
        (modulo(FLAT, M), "d2"),
        (floor_div(times(X, N + 1) + J, N + 1), "d0"),
        (floor_div(J * 2 + 1, N * 2), "0"),
        (floor_div(J, M), "(d1 floordiv d4)"),
        (floor_div(J + 1, N), "((d1 + 1) floordiv d3)"),
    ],
)
def test_limits_resolve_quotients(expr: AffineExpr, expected: str):
    assert str(simplify(expr, SYMBOLS)) == expected


def test_bounds_of_products_and_of_what_is_unknown():
    assert bounds(times(X, N) + J, [(0, 2), (0, 3), None, (0, 4)]) == (0, 11)
    assert bounds(times(X, N), [(0, 2), None, None, None]) is None
    assert bounds(floor_div(X, N), [(-3, 8), None, None, (0, 4)]) == (-3, 8)
    assert bounds(floor_div(X, N), [(0, 8), None, None, (-1, 4)]) is None
    assert bounds(modulo(X, N), [None, None, None, (0, 4)]) == (0, 3)


def test_strides_of_rows_of_a_variable_length():
    assert stride(times(X, N) + J, 1) == 1
    assert stride(times(X, N) + J, 0) is None
    assert stride(times(X, N) * 2 + J - times(N, X) * 2 + X, 0) == 1


@settings(max_examples=examples(100), deadline=None)
@given(expressions())
def test_symbolic_stride_is_the_difference_of_neighbours(expr: AffineExpr):
    step = symbolic_stride(linear_form(expr), 0)
    if step is None:
        return
    assert 0 not in step.expr().used_dims()
    for point in points():
        here, there = value(expr, point), value(expr, (point[0] + 1, *point[1:]))
        distance = value(step.expr(), point)
        assert here is None or there is None or distance is None or there - here == distance


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (times(X, N) * 2 + J, "(d3 * 2)"),
        (times(times(X, N), M) + X * 3, "((d3 * d4) + 3)"),
        (J, "0"),
        (times(X, X), None),
        (floor_div(X, N), None),
        (times(X, floor_div(X, N)), None),
    ],
)
def test_symbolic_strides(expr: AffineExpr, expected: str | None):
    step = symbolic_stride(linear_form(expr), 0)
    assert (None if step is None else str(step.expr())) == expected


def test_span_of_a_tile_of_a_row():
    found = span(times(X, N) + J * 2 + K, {1: (0, 3), 2: (0, 1)})
    assert found is not None
    assert found.extent == 8
    assert str(found.base) == "(d0 * d3)"
    assert span(times(X, N), {0: (0, 3)}) is None


def test_substitution_multiplies_out():
    expr = substitute(times(X, N) + J, {0: J + 1, 3: AffineExpr.constant(4)})
    assert linear_form(expr) == linear_form(J * 5 + 4)
