"""The size of expressions and the work on them are bounded, even if their parts are shared."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.work import growth
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from xrelay.errors import DimensionError
from xrelay.index_algebra.affine_bounds import linear_form, simplify
from xrelay.index_algebra.dim_expressions import MAX_SIZE, Symbol, from_terms
from xrelay.index_algebra.dims import Dim, maximum, product, symbol
from xrelay.index_algebra.linear_form import MAX_PRODUCTS, dim, floor_div, modulo
from xrelay.index_algebra.requirement import AtLeast
from xrelay.index_algebra.shape_environment import ShapeEnvironment
from xrelay.passes.infra.source import full_context

n, m = symbol("n"), symbol("m")
MANY, OTHERS = (from_terms({(Symbol(f"{name}{number}"),): 1 for number in range(600)}) + m for name in "nm")
SUMS = [symbol(f"n{number}") + symbol(f"n{number + 1}") for number in range(24)]


def grown(step: Callable[[Dim], Dim], times: int) -> Dim:
    """`step` applied to `n`, `times` times."""
    dim: Dim = n
    for _ in range(times):
        dim = step(dim)
    return dim


USES_ITSELF_TWICE: list[tuple[Callable[[Dim], Dim], str]] = [
    (lambda dim: dim * dim, "more than 12 factors"),
    (lambda dim: (dim + 1) * (1 << 62), "more than 1000 names and numbers"),
    (lambda dim: maximum(dim + m, 2 * dim), "more than 1000 names and numbers"),
    (lambda dim: (dim + m) // 3 + dim % 5, "more than 1000 names and numbers"),
]


@pytest.mark.parametrize(("step", "message"), USES_ITSELF_TWICE)
def test_an_expression_that_uses_itself_twice_is_refused(step: Callable[[Dim], Dim], message: str) -> None:
    with pytest.raises(DimensionError, match=message) as refused:
        grown(step, 1000)
    assert refused.value.help == "fix the extents of the inputs"


def test_products_of_sums_are_refused_before_they_are_multiplied_out() -> None:
    assert product(SUMS[:7])
    with pytest.raises(DimensionError, match="more than 1000 "):
        product(SUMS)
    with pytest.raises(DimensionError, match="more than 1000 products"):
        assert MANY * OTHERS


def test_the_form_of_a_sum_takes_linear_work() -> None:
    def form(size: int) -> Callable[[], object]:
        expr: AffineExpr = dim(0)
        for number in range(1, size):
            expr = AffineBinaryOpExpr(AffineBinaryOpKind.Add, expr, dim(number))
        return lambda: linear_form(expr)

    assert growth(form, 30, 10) < 12.0


def test_sums_of_many_names_are_expressions() -> None:
    assert isinstance(MANY, type(n))
    assert MANY.size == 601
    with pytest.raises(DimensionError, match=f"more than {MAX_SIZE} names"):
        assert MANY + OTHERS


def test_texts_of_large_expressions_are_refused_at_their_place() -> None:
    text = " + ".join(f"n{number}" for number in range(MAX_SIZE + 1))
    with pytest.raises(ParseError, match="1000 names and numbers"):
        Parser(full_context(), f"tensor<?xf32, #relay.dims<{text}>>").parse_type()


def test_questions_about_large_expressions_have_answers() -> None:
    environment = ShapeEnvironment()
    environment.add(AtLeast(OTHERS, symbol("n0")))
    # Neither is expanded to a difference of two such sums, which would be too large.
    assert environment.interval(2 * (MANY // 2)) == (0, None)
    assert environment.interval(MANY - 2 * symbol("n0")) == (None, None)


def tower(depth: int, step: Callable[[AffineExpr], AffineExpr]) -> Callable[[], object]:
    """Simplifies a dimension after `depth` applications of `step`, in a unique box, so that no result is cached."""
    expr = AffineExpr.dimension(0)
    for _ in range(depth):
        expr = step(expr)
    end = depth << 20
    return lambda: simplify(expr, [(0, end), (0, end), (1, end)])


D1, D2 = AffineExpr.dimension(1), AffineExpr.dimension(2)


TOWERS: list[Callable[[AffineExpr], AffineExpr]] = [
    lambda expr: (expr + D1) % 7 + 3,
    lambda expr: (expr + D1) // 3 // 5,
    lambda expr: floor_div(expr + D1, D2),
    lambda expr: modulo(expr * 3 + D1, D2),
]


@pytest.mark.parametrize("step", TOWERS)
def test_work_on_quotients_in_each_other_is_no_power_of_their_depth(step: Callable[[AffineExpr], AffineExpr]) -> None:
    # The text of an expression is part of each step: cubic at most.
    assert growth(lambda depth: tower(depth, step), 6, 4) < 4**3


def test_products_of_index_sums_are_bounded() -> None:
    left, right = (sum((AffineExpr.dimension(k) for k in range(first, 90, 2)), D1) for first in (0, 1))
    assert len(linear_form(left).terms) < MAX_PRODUCTS
    with pytest.raises(DimensionError, match="1000 products"):
        linear_form(left).times(linear_form(right))
