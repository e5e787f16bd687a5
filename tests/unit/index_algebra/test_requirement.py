"""Requirements: their texts, their values on numbers, and their messages."""

from __future__ import annotations

import pytest

from xrelay.errors import DimensionError
from xrelay.index_algebra.dims import symbol
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Divides, Equal, Requirement

n, m = symbol("n"), symbol("m")


@pytest.mark.parametrize(
    ("requirement", "text"),
    [
        (Equal(n, m), "n == m"),
        (Equal(16 * ((n + 15) // 16), n), "16 * ((n + 15) floordiv 16) == n"),
        (AtLeast(n, 1), "n >= 1"),
        (AtLeast(n + 1, m), "n + 1 >= m"),
        (Divides(4, n), "n mod 4 == 0"),
        (Divides(n + 1, 2 * m), "(2 * m) mod (n + 1) == 0"),
        (Broadcasts(n, m + 1), "broadcastable(n, m + 1)"),
    ],
)
def test_text(requirement: Requirement, text: str) -> None:
    assert requirement.text == text
    assert requirement.canonical() == requirement


@pytest.mark.parametrize(
    ("requirement", "canonical"),
    [
        (Equal(n % 4, 0, constraint="C1", about="groups"), Divides(4, n, constraint="C1", about="groups")),
        (Equal(n % m, 0), Divides(m, n)),
        (Equal(0, n % 4), Equal(0, n % 4)),
        (Divides(4, n + 4), Divides(4, n)),
        (Divides(4, 4 * n), Equal(0, 0)),
        (Divides(4, 4 * n + 3), Equal(3, 0)),
        (Divides(0, n), Equal(1, 0)),
    ],
)
def test_canonical_form(requirement: Requirement, canonical: Requirement) -> None:
    assert requirement.canonical() == canonical
    assert canonical.canonical() == canonical


@pytest.mark.parametrize(
    ("requirement", "fits", "fails"),
    [
        (Equal(n, m), (3, 3), (3, 4)),
        (AtLeast(n, m), (3, 3), (3, 4)),
        (Divides(n, m), (3, 6), (3, 4)),
        (Divides(n, m), (3, 0), (0, 0)),
        (Broadcasts(n, m), (3, 3), (3, 4)),
        (Broadcasts(n, m), (1, 4), (0, 4)),
        (Broadcasts(n, m), (0, 1), (2, 0)),
    ],
)
def test_what_holds(requirement: Requirement, fits: tuple[int, int], fails: tuple[int, int]) -> None:
    assert requirement.names == {"n", "m"}
    for values, expected in ((fits, True), (fails, False)):
        sizes = dict(zip("nm", values, strict=True))
        assert requirement.holds(sizes) is expected
        assert (requirement.failure(sizes) is None) is expected
        assert requirement.substitute({"n": values[0]}).holds({"m": values[1]}) is expected
        assert requirement.substitute(sizes).holds({}) is expected


def test_a_failure_names_both_sides_and_values() -> None:
    sizes = {"n": 3, "m": 5}
    equal = Equal(n, m - 1, constraint="C2", about="in-channels")
    assert equal.label == "C2 in-channels"
    assert equal.failure(sizes) == "in-channels: n == m - 1 is 3 == 4"
    assert Divides(2, n).failure(sizes) == "n mod 2 == 0 is 3 mod 2 == 0"
    assert Broadcasts(n, m).failure(sizes) == "broadcastable(n, m) is broadcastable(3, 5)"
    assert Equal(n, m).label == ""


def test_sides_without_a_value_are_errors() -> None:
    with pytest.raises(DimensionError, match="m floordiv n has no value: 4 floordiv 0 divides by zero"):
        Equal(m // n, 2).holds({"n": 0, "m": 4})
    with pytest.raises(DimensionError, match="n has no value: n is not known"):
        Equal(n, 2).holds({"m": 4})
