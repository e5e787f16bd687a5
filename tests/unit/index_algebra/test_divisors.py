"""Divisors of extents."""

from __future__ import annotations

import pytest

from xrelay.index_algebra.divisors import divisors, largest_divisor


@pytest.mark.parametrize(("number", "expected"), [(1, [1]), (12, [1, 2, 3, 4, 6, 12]), (13, [1, 13])])
def test_divisors(number: int, expected: list[int]) -> None:
    assert divisors(number) == expected


@pytest.mark.parametrize(
    ("number", "limit", "expected"),
    [(3, 16, 3), (64, 16, 16), (24, 16, 12), (37, 16, 1), (1000, 16, 10), (7, 4, 1), (7, 0, 1), (2**62, 16, 16)],
)
def test_largest_divisors(number: int, limit: int, expected: int) -> None:
    assert largest_divisor(number, limit) == expected
