"""Known elements of integer quotients equal the quotients of the numbers, for all extents."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.dim_trees import NoValueError, Tree, dim_of, trees, value_of
from support.examples import examples

from xrelay.dialects.relay.core.element_rules import truncated_quotient
from xrelay.errors import DimensionError
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, evaluate, symbol

N = symbol("n")
SIZES = st.integers(0, 40)


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        (N + 1, 8, "(n + 1) floordiv 8"),
        # An image of size 0 has -1 / 8 = 0 steps with C's division; floordiv would yield -1.
        (N - 1, 8, "max(0, n - 1) floordiv 8"),
        (N - 7, 8, "max(0, n - 7) floordiv 8"),
        (N - 8, 8, "?"),
        (-N, 8, "?"),
        (N - 1, 1, "n - 1"),
        (8 * N - 8, 8, "n - 1"),
        (2 * N - 4, -2, "-n + 2"),
        (N - 1, -8, "?"),
        (N, 0, "?"),
        (-9, 2, "-4"),
    ],
)
def test_truncated_quotients(lhs: Dim, rhs: Dim, expected: str) -> None:
    """A quotient is known if it is one expression for all extents."""
    assert str(truncated_quotient(lhs, rhs)) == expected


@settings(max_examples=examples(60), deadline=None)
@given(tree=trees(), divisor=st.integers(1, 12), sizes=st.fixed_dictionaries(dict.fromkeys("nm", SIZES)))
def test_any_quotient_is_that_of_the_numbers(tree: Tree, divisor: int, sizes: dict[str, int]) -> None:
    """A known quotient holds for all extents: `int(value / divisor)`."""
    try:
        found = truncated_quotient(dim_of(tree), divisor)
        value = value_of(tree, sizes)
    except (NoValueError, DimensionError, ZeroDivisionError):
        return
    if found != ANY:
        result = evaluate(found, sizes) if isinstance(found, DimExpr) else found
        assert result == abs(value) // divisor * (-1 if value < 0 else 1)
