"""Dimensions: arithmetic on names agrees with arithmetic on numbers, for all values of the names."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product as product_of_sizes

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.dim_trees import NoValueError, Tree, dim_of, trees, value_of
from support.examples import examples
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, f32
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from xrelay.dialects.relay.core.broadcast import broadcast_requirements, broadcast_shapes
from xrelay.dialects.relay.dialect import RELAY
from xrelay.dialects.shared.types import merge_types, shape_of, tensor_type
from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import is_nonnegative
from xrelay.index_algebra.dims import (
    ANY,
    Dim,
    DimExpr,
    Polynomial,
    Shape,
    broadcast,
    ceil_div,
    certainly_differ,
    estimate,
    evaluate,
    maximum,
    merge_dims,
    minimum,
    name_and_size,
    product,
    quotient,
    remainder,
    shape_text,
    solved_for,
    substitute,
    symbol,
)

n, m, k = symbol("n"), symbol("m"), symbol("k")


@given(trees(), st.integers(0, 12), st.integers(0, 12))
@settings(max_examples=examples(200, more=3), deadline=None)
def test_substitution_commutes_with_arithmetic(tree: Tree, n_value: int, m_value: int) -> None:
    values = {"n": n_value, "m": m_value}
    try:
        expected = value_of(tree, values)
    except NoValueError:
        assume(False)
    dim = dim_of(tree)
    assert substitute((dim,), values) == (expected,)
    # Substitution of one name after the other yields the same.
    assert substitute(substitute((dim,), {"n": n_value}), {"m": m_value}) == (expected,)
    assert not is_nonnegative(dim) or expected >= 0


@given(trees())
@settings(max_examples=examples(50, more=6), deadline=None)
def test_text_round_trips(tree: Tree) -> None:
    try:
        dim = dim_of(tree)
    except (DimensionError, ZeroDivisionError):
        assume(False)
    assume(isinstance(dim, DimExpr))
    type = tensor_type((dim, 3), f32)
    parsed = Parser(relay_context(), str(type)).parse_type()
    assert parsed == type
    assert shape_of(parsed) == (dim, 3)


def relay_context() -> Context:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(RELAY)
    return context


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (n + n - 2 * n, "0"),
        (n * 2 + 1 - n, "n + 1"),
        ((4 * n + 1) // 2, "2 * n"),
        ((2 * n + 2) // 4, "(n + 1) floordiv 2"),
        (n * m // m, "(m * n) floordiv m"),
        (n // n, "n floordiv n"),
        (n * n % n, "(n * n) mod n"),
        ((n * m + k) // m, "k floordiv m + n"),
        ((2 * n * m) // (2 * m), "(m * n) floordiv m"),
        ((n + 1) * m // (n + 1), "m"),
        ((n + 1) * (m + 2) % (n + 1), "0"),
        (quotient(n * m + m, m), "n + 1"),
        (remainder(n * m + m, m), "0"),
        (quotient((n + m) * (n - m), n + m), "-m + n"),
        (((n + 1) // 2 + 1) // 2, "(n + 3) floordiv 4"),
        (n // -2, "-n + n floordiv 2"),
        (n // (1 << 40) + 1, "n floordiv 1099511627776 + 1"),
        ((n - 4) // (1 << 40), "(n - 4) floordiv 1099511627776"),
        ((n - 4) // ((1 << 63) - 1) + 1, "(n - 4) floordiv 9223372036854775807 + 1"),
        ((n + (1 << 40) - 4) // (1 << 40), "(n - 4) floordiv 1099511627776 + 1"),
        ((n - 4) % (1 << 40), "(n - 4) mod 1099511627776"),
        ((n - 4) % 2**32, "(n + 4294967292) mod 4294967296"),
        ((4 * n + 3) % 2, "1"),
        ((5 * n + 2) % 3, "(2 * n + 2) mod 3"),
        ((n + 1) * (n - 1), "n * n - 1"),
        (ceil_div(n, 4), "(n + 3) floordiv 4"),
        (ceil_div(8 * n, 4), "2 * n"),
        (maximum(n, n), "n"),
        (maximum(n, m, n + 2), "max(m, n + 2)"),
        (minimum(m, n, n + 2), "min(m, n)"),
        (maximum(n, 3, 4), "max(4, n)"),
        (maximum(n, maximum(m, k)), "max(k, m, n)"),
        (2 * maximum(n, m) + 1, "2 * max(m, n) + 1"),
        (maximum(n, m) // 2, "max(m, n) floordiv 2"),
        (broadcast(n, n), "n"),
        (broadcast(1, n), "n"),
        (broadcast(1, 1), "1"),
        (broadcast(m, n), "broadcast(m, n)"),
        (broadcast(n, m), "broadcast(m, n)"),
        (broadcast(n, broadcast(m, k)), "broadcast(k, m, n)"),
        (broadcast(broadcast(n, m), broadcast(n, k)), "broadcast(k, m, n)"),
        (broadcast(n, 4), "4"),
        (broadcast(n, minimum(n, 4)), "n"),
        (broadcast(n, minimum(n, m)), "broadcast(min(m, n), n)"),
        (broadcast(n, 0), "0"),
        (broadcast(n, ANY), "?"),
        (product([n, 2, 3]), "6 * n"),
        (n + ANY, "?"),
    ],
)
def test_canonical_forms(dim: Dim, text: str) -> None:
    assert str(dim) == text


@given(st.integers(-9, 9), st.integers(0, 9), st.sampled_from([(1 << 32) - 1, (1 << 32) + 1, 3 << 40, (1 << 63) - 1]))
def test_great_divisors_divide_as_others(offset: int, value: int, divisor: int) -> None:
    for number in (value, divisor + value, 2 * divisor + value):
        values, total = {"n": number}, number + offset
        assert substitute(((n + offset) // divisor, (n + offset) % divisor), values) == divmod(total, divisor)
        nested = ((n + offset) // divisor + offset) // 3
        assert substitute((nested,), values) == ((total // divisor + offset) // 3,)


def test_a_shape_reads_as_text() -> None:
    assert shape_text((n, 2 * n, 16)) == "(n, 2 * n, 16)"


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: n // 0, "n floordiv 0 divides by zero"),
        (lambda: (n + 1) % 0, r"\(n \+ 1\) mod 0 divides by zero"),
        (lambda: substitute((m // n,), {"n": 0}), "m floordiv n has no value: m floordiv 0 divides by zero"),
        (lambda: substitute((m // n,), {"m": 3, "n": 0}), "m floordiv n has no value: 3 floordiv 0 divides by zero"),
        (lambda: substitute((m % n,), {"m": 3, "n": 0}), "m mod n has no value: 3 mod 0 divides by zero"),
        (lambda: substitute((n * m // n,), {"n": 0}), r"\(m \* n\) floordiv n has no value"),
        (lambda: substitute((1 + 2 * (m // (n - 4)),), {"n": 4}), r"m floordiv \(n - 4\) has no value"),
        (lambda: broadcast(3, 4), "3 and 4 do not broadcast"),
        (lambda: broadcast(0, 4), "0 and 4 do not broadcast"),
        (lambda: substitute((broadcast(n, m),), {"n": 3, "m": 4}), r"broadcast\(m, n\) has no value: 4 and 3 do not"),
        (lambda: evaluate(n + m, {"n": 3}), "m \\+ n has no value: m is not known"),
        (lambda: evaluate(ANY, {}), r"\? has no value"),
    ],
)
def test_what_has_no_value_is_named(compute: Callable[[], object], message: str) -> None:
    with pytest.raises(DimensionError, match=message):
        compute()


def test_estimates_use_known_sizes_and_the_usual_size() -> None:
    assert [estimate(dim, {"n": 4}, 64) for dim in (3, n, n + m, n - 9, m // (n - 4))] == [3, 4, 68, 1, 64]


@pytest.mark.parametrize(("n_value", "m_value", "expected"), [(0, 1, 0), (1, 0, 0), (1, 1, 1), (1, 7, 7), (7, 7, 7)])
def test_the_broadcast_extent_of_numbers(n_value: int, m_value: int, expected: int) -> None:
    assert evaluate(broadcast(n, m), {"n": n_value, "m": m_value}) == expected


def test_expressions_do_not_grow_without_end() -> None:
    def pooled(extent: Dim) -> Dim:
        return (extent - 3) // 2 + 1

    # Repeated pooling remains a single quotient.
    extent: Dim = n
    for _ in range(300):
        extent = pooled(extent)
    assert isinstance(extent, Polynomial)
    assert extent.depth == 1


def test_expressions_do_not_nest_without_end() -> None:
    def stretched(extent: Dim, times: int) -> Dim:
        for _ in range(times):
            extent = 3 * (extent // 2)
        return extent

    deepest = stretched(n, 64)
    assert isinstance(deepest, Polynomial)
    assert deepest.depth == 64
    with pytest.raises(DimensionError, match=r"more than 64 .*quotients"):
        stretched(n, 65)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n floordiv 0", "n floordiv 0 divides by zero"),
        ("n mod (2 - 2)", "n mod 0 divides by zero"),
        ("broadcast(n)", "broadcast needs two dimensions or more, found 1"),
        ("broadcast(n, 3, 4)", "3 and 4 do not broadcast"),
        ("min + 1", "expected"),
        ("mod", "'mod'"),
        ("3", "found the constant 3"),
        ("n +", " expected a dimension"),
        ("(" * 100 + "n" + ")" * 100, "nests more than 64 levels"),
    ],
)
def test_what_is_no_dimension_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=re.escape(message)):
        Parser(relay_context(), f"tensor<?xf32, #relay.dims<{text}>>").parse_type()


def test_certain_difference() -> None:
    assert certainly_differ(n, n + 1)
    assert certainly_differ(3, 4)
    assert not certainly_differ(n, m)
    assert not certainly_differ(n, 4)
    assert not certainly_differ(ANY, 4)


def test_merging_keeps_what_says_most() -> None:
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
        ((n,), (m,), (broadcast(n, m),)),
        ((broadcast(n, m),), (m, n), (m, broadcast(n, m))),
        # 0 and 1 broadcast, and so do 1 and 2; 2 and 3 do not.
        ((n,), (n + 1,), (broadcast(n, n + 1),)),
        ((n + 2,), (n + 3,), None),
        ((2,), (n + 3,), None),
        ((2, 3), (2, 4), None),
    ],
)
def test_broadcasting(lhs: Shape, rhs: Shape, expected: Shape | None) -> None:
    assert broadcast_shapes(lhs, rhs) == expected


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        ((n, 4), (4,), []),
        ((n, 4), (n, 1), []),
        ((n, 4), (m, 1), ["broadcastable(n, m)"]),
        ((n, 8), (k, n, m), ["broadcastable(8, m)"]),
        ((n, m), (m, n), ["broadcastable(n, m)", "broadcastable(m, n)"]),
        ((ANY, n), (n, ANY), []),
    ],
)
def test_broadcasting_requires_what_is_not_decided(lhs: Shape, rhs: Shape, expected: list[str]) -> None:
    found = broadcast_requirements(lhs, rhs, "C1", "extents")
    assert [requirement.text for requirement in found] == expected
    assert all(requirement.label == "C1 extents" for requirement in found)


@given(st.tuples(*[st.sampled_from(["n", "m", 1, 4])] * 2), st.tuples(*[st.sampled_from(["n", "m", 1, 4])] * 2))
def test_broadcasting_agrees_with_numpy(left: tuple[Tree, Tree], right: tuple[Tree, Tree]) -> None:
    lhs, rhs = tuple(map(dim_of, left)), tuple(map(dim_of, right))
    shape, required = broadcast_shapes(lhs, rhs), broadcast_requirements(lhs, rhs)
    assert shape is not None
    for n_value, m_value in product_of_sizes((0, 1, 3, 4), repeat=2):
        values = {"n": n_value, "m": m_value}
        numbers = [tuple(value_of(tree, values) for tree in side) for side in (left, right)]
        try:
            expected = np.broadcast_shapes(*numbers)
        except ValueError:
            expected = None
        assert all(requirement.holds(values) for requirement in required) == (expected is not None)
        assert expected is None or substitute(shape, values) == expected


def test_types_merge_part_by_part() -> None:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(RELAY)

    def parse(text: str) -> Attribute:
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


@pytest.mark.parametrize(
    ("dim", "extent", "found"),
    [
        (symbol("n"), 0, ("n", 0)),
        (2 * symbol("n") + 1, 7, ("n", 3)),
        (2 * symbol("n") + 1, 8, ("n", None)),
        (symbol("n") + 4, 3, ("n", None)),
        (symbol("n") + symbol("m"), 3, None),
        (symbol("n") * symbol("n"), 4, None),
        (symbol("n") // 2, 4, None),
        (ANY, 4, None),
        (4, 4, None),
    ],
)
def test_a_name_is_found_from_the_extent(dim: Dim, extent: int, found: tuple[str, int | None] | None) -> None:
    assert name_and_size(dim, extent) == found


@pytest.mark.parametrize(
    ("dim", "value", "found"),
    [
        (n, 3 * m, 3 * m),
        (2 * n + 1, 7, 3),
        (2 * n + 1, 4 * m + 1, 2 * m),
        (2 * n, m, m // 2),
        (10 - n, m, 10 - m),
        (2 * n + k, m, (m - 5) // 2),
        (3 * n + k * k, 28, 1),
        (n * n, 4, None),
        (n + n // 2, 4, None),
        (n * k, 10, None),
        (k, 4, None),
        (ANY, 4, None),
    ],
)
def test_a_name_is_solved_for(dim: DimExpr, value: Dim, found: Dim | None) -> None:
    assert solved_for("n", dim, value, {"k": 5}) == found
