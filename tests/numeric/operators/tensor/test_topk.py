"""`relay.topk` against numpy along each axis: a fold along an axis that is not the last, or a selection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.one_op import check, program

Array = NDArray[Any]
RNG = np.random.default_rng(11)


def few_numbers(shape: tuple[int, ...], dtype: str) -> Array:
    """Few distinct values, so that many are equal, including special ones."""
    if np.dtype(dtype).kind == "f":
        return RNG.choice(np.array([-2.5, -0.0, 0.0, 1, 3, np.inf, -np.inf, np.nan], dtype), shape)
    info = np.iinfo(dtype)
    return RNG.choice(np.array([info.min, 0, 1, 2, info.max], dtype), shape)


def check_topk(x: Array, k: int, axis: int, *, ascends: bool) -> None:
    module = program("topk", x, k=k, axis=axis, is_ascend=ascends, dtype="int64")
    values, places = check(module, [x])
    keys = np.moveaxis(x, axis, -1)
    for row in np.ndindex(keys.shape[:-1]):
        keyed = [(n if n == n else np.inf, n != n) for n in keys[row].tolist()]
        order = sorted(range(len(keyed)), key=keyed.__getitem__, reverse=not ascends)
        np.testing.assert_array_equal(np.moveaxis(places, axis, -1)[row], order[:k])
    np.testing.assert_array_equal(values, np.take_along_axis(x, places, axis))


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "uint32", "int64"])
@pytest.mark.parametrize("ascends", [False, True])
def test_neighbouring_rows(dtype: str, ascends: bool) -> None:
    check_topk(few_numbers((2, 11, 19), dtype), 4, 1, ascends=ascends)


@settings(max_examples=examples(6, more=2), deadline=None)
@given(st.data())
def test_random_shapes(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 12), st.integers(1, 20)))
    axis = data.draw(st.integers(0, 2))
    k = data.draw(st.integers(1, min(8, shape[axis])))
    dtype = data.draw(st.sampled_from(["float16", "float32", "float64", "int32", "uint8"]))
    check_topk(few_numbers(shape, dtype), k, axis, ascends=data.draw(st.booleans()))


def test_no_rows() -> None:
    for shape in ((0, 5, 16), (2, 5, 0)):
        check_topk(np.zeros(shape, np.float32), 2, 1, ascends=False)
