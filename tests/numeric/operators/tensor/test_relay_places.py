"""Ops that depend on the positions of elements: against numpy, at all levels."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_op import Array, applied, check, program

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay


def rising(*shape: int, dtype: str = "float32") -> Array:
    return np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(dtype)


@pytest.mark.parametrize("lengths", ["int8", "int64", "uint64", "float32"])
@pytest.mark.parametrize("axis", [0, 1])
def test_sequence_mask(axis: int, lengths: str) -> None:
    data = rising(3, 3, 2) if axis == 0 else rising(3, 3)
    valid = np.array([0, 2, 100]).astype(lengths)
    found = applied("sequence_mask", data, valid, axis=axis, mask_value=-1.0)
    wanted = data.copy()
    for batch, count in enumerate((0, 2, 3)):
        (wanted[count:, batch] if axis == 0 else wanted[batch, count:]).fill(-1)
    np.testing.assert_array_equal(found, wanted, strict=True)


def test_sequence_mask_of_lengths_that_are_no_sizes() -> None:
    data = rising(3, 3, dtype="int32")
    found = applied("sequence_mask", data, np.array([-4, 1.5, np.nan]), axis=1)
    np.testing.assert_array_equal(found, [[0, 0, 0], [4, 5, 0], [0, 0, 0]])


@pytest.mark.grid(3)
@pytest.mark.parametrize(("right", "left"), [(True, False), (False, False), (True, True), (False, True)])
@pytest.mark.parametrize(("k1", "k2"), [(0, 0), (-1, 2), (1, 1), (-2, -1), (3, 3), (-2, 3)])
def test_matrix_set_diag(k1: int, k2: int, right: bool, left: bool) -> None:
    data = -rising(2, 3, 4)
    longest = min(3 + min(k2, 0), 4 - max(k1, 0))
    diagonal = rising(2, *((k2 - k1 + 1,) if k1 != k2 else ()), longest)
    align = "_".join("RIGHT" if side else "LEFT" for side in (right, left))
    found = applied("matrix_set_diag", data, diagonal, k=(k1, k2), align=align)
    rows = diagonal.reshape(2, k2 - k1 + 1, longest)
    wanted = data.copy()
    for k in range(k1, k2 + 1):
        count = min(3 + min(k, 0), 4 - max(k, 0))
        start = longest - count if (right if k >= 0 else left) else 0
        for place in range(count):
            wanted[:, place + max(-k, 0), place + max(k, 0)] = rows[:, k2 - k, start + place]
    np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("indexing", ["ij", "xy"])
@pytest.mark.parametrize("counts", [(3,), (3, 4), (2, 3, 4), (2, 0, 3)])
def test_meshgrid(counts: tuple[int, ...], indexing: str) -> None:
    vectors = [rising(count, dtype="int32") for count in counts]
    given = [relay.var(f"x{k}", shape=vector.shape, dtype="int32") for k, vector in enumerate(vectors)]
    module = relay.Module.from_expr(relay.meshgrid(relay.Tuple(given), indexing=indexing))
    wanted = np.meshgrid(*vectors, indexing="xy" if indexing == "xy" else "ij")
    for found, grid in zip(check(module, vectors), wanted, strict=True):
        np.testing.assert_array_equal(found, grid, strict=True)


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8"])
def test_invert_permutation(dtype: str) -> None:
    data = np.random.default_rng(1).permutation(50).astype(dtype)
    found = applied("invert_permutation", data)
    np.testing.assert_array_equal(found, np.argsort(data).astype(dtype), strict=True)
    assert applied("invert_permutation", data[:0]).shape == (0,)


def test_a_permutation_with_an_index_out_of_range() -> None:
    data = np.array([0, 3, 1])
    module = program("invert_permutation", data)
    with pytest.raises(InterpreterError):
        run_relay(module, [data])
    with pytest.raises(ExecutionError):
        xrelay.compile(module, cache=False).run([data])


def test_unravel_index() -> None:
    shape, places = np.array([4, 3, 5]), np.array([[0, 59], [17, 31]])
    found = applied("unravel_index", places, shape)
    np.testing.assert_array_equal(found, np.array(np.unravel_index(places, tuple(shape))), strict=True)
    narrow = applied("unravel_index", np.array(17, np.int32), shape)
    np.testing.assert_array_equal(narrow, np.array([1, 0, 2], np.int32), strict=True)
    # The product of these extents is 0 in eight bits.
    many = np.full(13, 4, np.int8)
    found = applied("unravel_index", np.array([0, 100], np.int8), many)
    np.testing.assert_array_equal(found, np.array(np.unravel_index([0, 100], (4,) * 13), np.int8), strict=True)
    assert applied("unravel_index", np.array([3], np.int32), np.zeros(0, np.int32)).shape == (0, 1)
