"""The sizes of names, derived from the shapes of arrays."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay.errors import InputError
from xrelay.runtime.abi import MAX_EXTENT
from xrelay.runtime.executable import SizeBinder
from xrelay.runtime.metadata import TensorSpec

BINDER = SizeBinder(
    [TensorSpec("x", "float32", ("n", 8)), TensorSpec("y", "float32", ("2 * m + 1", "n * m", "n"))], ["m", "n"]
)


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [np.empty(shape, np.float32) for shape in shapes]


def test_sizes_come_in_the_order_of_the_names() -> None:
    assert BINDER.bind(arrays((3, 8), (5, 6, 3))) == (2, 3)
    assert BINDER.bind(arrays((0, 8), (1, 0, 0))) == (0, 0)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((3, 8), (5, 6, 4)), r"'y': expected .*\[2 \* m \+ 1, n \* m, n\] with m = 2, n = 3, got float32\[5, 6, 4\]"),
        (((3, 8), (5, 7, 3)), r"'y': expected .* with m = 2, n = 3, got float32\[5, 7, 3\]"),
        (((3, 8), (4, 6, 3)), r"'y': expected .* with n = 3, got float32\[4, 6, 3\]"),
    ],
)
def test_extents_that_do_not_agree(shapes: tuple[tuple[int, ...], ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BINDER.bind(arrays(*shapes))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n": 1}, "the dimension m has no size"),
        ({"n": 1, "m": -1}, "the dimension m is -1"),
        ({"n": 1, "m": MAX_EXTENT + 1}, "the dimension m is 140737488355329"),
        ({"n": 1, "m": 1, "mm": 1}, "no dimension 'mm'"),
    ],
)
def test_sizes_that_are_given(sizes: dict[str, int], message: str) -> None:
    assert BINDER.checked({"n": 1, "m": 0}) == (0, 1)
    with pytest.raises(InputError, match=message):
        BINDER.checked(sizes)
