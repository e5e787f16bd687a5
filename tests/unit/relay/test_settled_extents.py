"""Values of extent names, if several depend on each other."""

import pytest

from xrelay.index_algebra.dims import Dim, symbol
from xrelay.passes.types.infer_type import in_other_names

a, b, c, n = map(symbol, "abcn")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"a": 2, "b": n}, {"a": 2, "b": n}),
        ({"a": b + 1, "b": 2}, {"a": 3, "b": 2}),
        ({"b": 2, "a": b + 1}, {"a": 3, "b": 2}),
        ({"a": b + 1, "b": c * 2, "c": n}, {"a": n * 2 + 1, "b": n * 2, "c": n}),
        ({"a": b, "b": a, "c": 4}, {"a": b, "c": 4}),
    ],
)
def test_values_say_none_of_the_names(values: dict[str, Dim], expected: dict[str, Dim]) -> None:
    """A name that depends only on itself remains."""
    assert in_other_names(values) == expected
