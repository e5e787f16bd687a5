"""Windows: their number, the elements they cover, and the simplified forms of these numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xrelay.index_algebra.dims import symbol
from xrelay.index_algebra.windows import WindowAxis, all_sides, sides_of, window_of

AXES = st.builds(
    WindowAxis[int], st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.integers(0, 3), st.integers(0, 3)
)


@given(AXES, st.integers(1, 12))
def test_the_last_window_lies_inside_and_the_next_does_not(axis: WindowAxis[int], extent: int) -> None:
    fitting = [at for at in range(40) if axis.place(at, axis.size - 1) < extent + axis.after]
    assert max(axis.count(extent), 0) == len(fitting)
    for at in fitting[-1:]:
        assert axis.covered(at + 1) <= extent + axis.before + axis.after < axis.covered(at + 2)


@given(AXES, st.integers(1, 12))
def test_a_partial_window_is_counted_where_elements_are_left(axis: WindowAxis[int], extent: int) -> None:
    if axis.room(extent) >= 0:
        left = axis.room(extent) % axis.stride != 0
        assert axis.count(extent, partial=True) == axis.count(extent) + left


@given(AXES, st.integers(1, 12))
def test_padding_to_keep_gives_one_window_for_each_stride(axis: WindowAxis[int], extent: int) -> None:
    total = axis.padding_to_keep(extent)
    if total >= 0:
        padded = WindowAxis(axis.size, axis.stride, axis.dilation, 0, total)
        assert padded.count(extent) == -(-extent // axis.stride)


def test_the_same_lines_count_named_dimensions() -> None:
    assert str(WindowAxis(3, 2, 1, 1, 1).count(symbol("h"))) == "(h + 1) floordiv 2"


@pytest.mark.parametrize(
    ("padding", "rank", "sides"),
    [
        ((1,), 1, (1, 1)),
        ((1, 2), 1, (1, 2)),
        ((1,), 2, (1, 1, 1, 1)),
        ((1, 2), 2, (1, 2, 1, 2)),
        ((1, 2, 3, 4), 2, (1, 2, 3, 4)),
        ((1, 2, 3), 3, (1, 2, 3, 1, 2, 3)),
    ],
)
def test_short_forms(padding: tuple[int, ...], rank: int, sides: tuple[int, ...]) -> None:
    assert all_sides(padding, rank) == sides
    assert sides_of(window_of([3] * rank, [2], [1], padding)) == sides
