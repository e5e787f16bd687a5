"""Dimensions: arithmetic on names is arithmetic on numbers, whatever the numbers turn out to be."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from xrelay.dialects.relay import RELAY
from xrelay.dialects.relay.core.broadcast import broadcast_shapes
from xrelay.dialects.relay.core.types import merge_types, shape_of, tensor_type
from xrelay.index_algebra.dims import (
    ANY,
    DimExpr,
    ceil_div,
    certainly_differ,
    maximum,
    merge_dims,
    product,
    shape_text,
    substitute,
    symbol,
)

n, m = symbol("n"), symbol("m")


@st.composite
def expressions(draw, depth=4):
    """A dimension, and the same computation on numbers as a function of the names' values."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        leaf = draw(st.sampled_from(["n", "m", 0, 1, 2, 3, 5, 12]))
        return (symbol(leaf), lambda values: values[leaf]) if isinstance(leaf, str) else (leaf, lambda values: leaf)
    lhs, lhs_value = draw(expressions(depth=depth - 1))
    kind = draw(st.sampled_from(["+", "-", "*", "//", "%", "max"]))
    if kind in ("//", "%"):
        divisor = draw(st.sampled_from([1, 2, 3, 4, 6]))
        function = operator.floordiv if kind == "//" else operator.mod
        return function(lhs, divisor), lambda values: function(lhs_value(values), divisor)
    rhs, rhs_value = draw(expressions(depth=depth - 1))
    if kind == "max":
        return maximum(lhs, rhs), lambda values: max(lhs_value(values), rhs_value(values))
    function = {"+": operator.add, "-": operator.sub, "*": operator.mul}[kind]
    return function(lhs, rhs), lambda values: function(lhs_value(values), rhs_value(values))


@given(expressions(), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=examples(300), deadline=None)
def test_substitution_commutes_with_arithmetic(pair, n_value, m_value):
    dim, compute = pair
    values = {"n": n_value, "m": m_value}
    assert substitute((dim,), values) == (compute(values),)


@given(expressions())
@settings(max_examples=examples(200), deadline=None)
def test_text_round_trips(pair):
    dim, _ = pair
    if not isinstance(dim, DimExpr):
        return
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(RELAY)
    type = tensor_type((dim, 3), Parser(context, "f32").parse_type())
    parsed = Parser(context, str(type)).parse_type()
    assert parsed == type
    assert shape_of(parsed) == (dim, 3)


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (n + n - 2 * n, "0"),
        (n * 2 + 1 - n, "n + 1"),
        ((4 * n + 1) // 2, "2 * n"),
        ((2 * n + 2) // 4, "(n + 1) floordiv 2"),
        ((n * m + m) // m, "n + 1"),
        ((4 * n + 3) % 2, "1"),
        ((5 * n + 2) % 3, "(2 * n + 2) mod 3"),
        ((n + 1) * (n - 1), "n * n - 1"),
        (ceil_div(n, 4), "(n + 3) floordiv 4"),
        (ceil_div(8 * n, 4), "2 * n"),
        (maximum(n, n), "n"),
        (product([n, 2, 3]), "6 * n"),
        (n + ANY, "?"),
    ],
)
def test_canonical_forms(dim, text):
    assert str(dim) == text


def test_a_shape_reads_as_text():
    assert shape_text((n, 2 * n, 16)) == "(n, 2 * n, 16)"


def test_division_by_zero():
    with pytest.raises(ZeroDivisionError):
        n // 0
    with pytest.raises(ZeroDivisionError):
        n % 0


def test_certain_difference():
    assert certainly_differ(n, n + 1)
    assert certainly_differ(3, 4)
    assert not certainly_differ(n, m)
    assert not certainly_differ(n, 4)
    assert not certainly_differ(ANY, 4)


def test_merging_keeps_what_says_most():
    assert merge_dims(ANY, n) == n
    assert merge_dims(n, ANY) == n
    assert merge_dims(n, 4) == 4
    assert merge_dims(n, m) == n
    assert merge_dims(n, n + 1) is None
    assert merge_dims(3, 4) is None


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        ((n, 4), (4,), (n, 4)),
        ((n, 1), (m,), (n, m)),
        ((n,), (8,), (8,)),
        ((ANY,), (1,), (ANY,)),
        ((ANY,), (8,), (8,)),
        ((ANY,), (n,), (ANY,)),
        ((n,), (m,), (n,)),
        ((n,), (n + 1,), None),
        ((2, 3), (2, 4), None),
    ],
)
def test_broadcasting(lhs, rhs, expected):
    assert broadcast_shapes(lhs, rhs) == expected


def test_types_merge_part_by_part():
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(RELAY)

    def parse(text):
        return Parser(context, text).parse_type()

    merged = merge_types(
        parse("tuple<!relay.incomplete, tensor<?x4xf32>>"),
        parse("tuple<tensor<2xf32>, tensor<?x4xf32, #relay.dims<n>>>"),
    )
    assert merged == parse("tuple<tensor<2xf32>, tensor<?x4xf32, #relay.dims<n>>>")
    assert merge_types(parse("tensor<4xf32>"), parse("tensor<4xf16>")) is None
    assert merge_types(parse("tensor<4xf32>"), parse("tensor<4x1xf32>")) is None
    assert merge_types(parse("tuple<tensor<4xf32>>"), parse("tuple<>")) is None
    function = merge_types(parse("(!relay.incomplete) -> tensor<f32>"), parse("(tensor<i1>) -> !relay.incomplete"))
    assert function == parse("(tensor<i1>) -> tensor<f32>")
