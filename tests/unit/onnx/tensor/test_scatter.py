"""TensorScatter against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.one_node import Array, both, node_model

from xrelay.api.compile import compile
from xrelay.errors import ExecutionError, ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(5)


def written(cache: Array, update: Array, starts: list[int], axis: int, *, circular: bool) -> Array:
    result = cache.copy()
    for entry, start in enumerate(starts):
        for step in range(update.shape[axis]):
            place = (start + step) % cache.shape[axis] if circular else start + step
            np.moveaxis(result, axis, 1)[entry, place] = np.moveaxis(update, axis, 1)[entry, step]
    return result


@pytest.mark.grid(8)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, bool])
@pytest.mark.parametrize(("axis", "mode"), [(-2, "linear"), (1, "circular"), (3, "circular"), (2, "linear")])
def test_updates_are_written_at_their_places(axis: int, mode: str, dtype: type[Any]) -> None:
    cache = RNG.integers(0, 2 if dtype is bool else 99, (3, 4, 5, 6)).astype(dtype)
    update = np.take(cache, range(2), axis)[::-1].copy()
    starts = [3, 0, cache.shape[axis] - 1] if mode == "circular" else [1, 0, cache.shape[axis] - 2]
    inputs = [cache, update, np.array(starts)]
    expected = written(cache, update, starts, axis, circular=mode == "circular")
    open_dims = {
        0: ("n", *cache.shape[1:]),
        1: ("n", *(("s" if a == axis % 4 else e) for a, e in list(enumerate(update.shape))[1:])),
    }
    for dims in (None, open_dims):
        for (found,) in both(node_model("TensorScatter", inputs, 24, dims=dims, axis=axis, mode=mode), inputs):
            np.testing.assert_array_equal(found, expected, strict=True)


def test_without_places_the_front_is_written() -> None:
    cache, update = RNG.normal(size=(2, 5, 3)), RNG.normal(size=(2, 2, 3))
    expected = written(cache, update, [0, 0], 1, circular=False)
    for (found,) in both(node_model("TensorScatter", [cache, update], 24), [cache, update]):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_writing_past_the_end_fails_where_it_runs() -> None:
    inputs = [np.zeros((1, 4, 2), np.float32), np.ones((1, 2, 2), np.float32), np.array([3])]
    with pytest.raises(ExecutionError, match="scatter_elements"):
        compile(node_model("TensorScatter", inputs, 24), cache=False, threads=1).run(inputs)


def test_the_batch_has_no_places() -> None:
    inputs = [np.zeros((1, 4), np.float32), np.ones((1, 4), np.float32)]
    with pytest.raises(ModelImportError, match="axis 0 of"):
        import_onnx(node_model("TensorScatter", inputs, 24, axis=0))
