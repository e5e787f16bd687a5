"""The extent of a slice of an axis with a symbolic extent agrees with numpy for every size."""

from __future__ import annotations

from itertools import product

import pytest

from xrelay.dialects.relay.core.shape_rules import kept_by_slice, places_of_slice
from xrelay.index_algebra.dims import Dim, evaluate, minimum, symbol

n, m = symbol("n"), symbol("m")
FAR = (1 << 63) - 1


@pytest.mark.parametrize("extent", [n, 2 * n + 1, 5], ids=str)
def test_slices_keep_what_numpy_keeps(extent: Dim) -> None:
    found = 0
    for begin, end, step in product(
        (0, 2, -2, m, -m - 1, FAR, -FAR), (0, 3, FAR, -FAR, -1, m, m + 1, -m - 1, n), (1, 2, FAR)
    ):
        kept = kept_by_slice(extent, begin, end, step)
        if kept is None:
            continue
        found += 1
        for sizes in product(range(5), repeat=2):
            values = dict(zip("nm", sizes, strict=True))
            first, last = (evaluate(bound, values) for bound in (begin, end))
            expected = range(*slice(first, last, step).indices(evaluate(extent, values)))
            assert evaluate(kept, values) == len(expected), (begin, end, step, kept, values)
    assert found > 80


@pytest.mark.parametrize(
    ("begin", "end", "text"),
    [(0, m, "min(m, n)"), (2, FAR, "max(0, n - 2)"), (0, -1, "max(0, n - 1)"), (-1, FAR, "min(1, n)"), (0, n, "n")],
)
def test_the_usual_ones_are_short(begin: Dim, end: Dim, text: str) -> None:
    assert str(kept_by_slice(n, begin, end, 1)) == text


def test_what_is_cut_again_and_again_gets_a_name() -> None:
    extent: Dim | None = n
    for size in range(100):
        if extent is not None:
            extent = kept_by_slice(extent, 1, minimum(m, n + size), 1)
    assert extent is None


@pytest.mark.parametrize("step", [0, -1, m])
def test_steps_that_are_no_numbers_from_1_on(step: Dim) -> None:
    assert kept_by_slice(n, 0, FAR, step) is None


def test_places_are_those_of_numpy() -> None:
    for begin, end, step in product(
        (0, 2, 9, -1, -3, FAR, -FAR), (0, 1, 5, -2, -9, FAR, -FAR), (1, 3, -1, -2, FAR, -FAR)
    ):
        first, kept = places_of_slice(n, begin, end, step)
        assert kept is not None
        for size in range(8):
            places = range(*slice(begin, end, step).indices(size))
            assert evaluate(kept, {"n": size}) == len(places), (begin, end, step, size)
            if places:
                assert evaluate(first, {"n": size}) == places[0], (begin, end, step, size)


def test_a_whole_axis_backwards_has_its_extent() -> None:
    assert tuple(map(str, places_of_slice(n, -1, -FAR, -1))) == ("max(0, n - 1)", "n")


def test_slices_of_slices_end_where_their_expressions_are_long() -> None:
    extent: Dim | None = n
    for _ in range(8):
        if extent is not None:
            extent = places_of_slice(extent, -3, 3, 1)[1]
    assert extent is None
