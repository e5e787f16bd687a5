"""Sparse tensors: a loop over the positions, the interpreter, every level and native code agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.levels import check_exact, check_levels, check_native, check_refused, outputs
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError

Array = NDArray[Any]
RNG = np.random.default_rng(17)
ELEMENTS = ["bool", "int32", "uint8", "int64", "float16", "bfloat16", "float32", "float64"]


def kind(dtype: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)


def values(dtype: str, *shape: int) -> Array:
    return np.asarray(RNG.integers(-3, 9, shape)).astype(kind(dtype))


def places(shape: Sequence[int], count: int, dtype: str = "int64") -> Array:
    return np.array([RNG.integers(0, size, count) for size in shape], dtype).T.reshape(count, len(shape))


def dense_module(indices: Array, shape: Sequence[int], sparse_values: Array, default: Array) -> ModuleOp:
    arrays = {"i": indices, "v": sparse_values, "d": default}
    i, v, d = (relay.var(name, shape=array.shape, dtype=str(array.dtype)) for name, array in arrays.items())
    return relay.Module.from_expr(relay.Function([i, v, d], relay.sparse_to_dense(i, list(shape), v, d)))


def check_dense(indices: Array, shape: Sequence[int], sparse_values: Array, default: Array) -> None:
    expected = np.full(shape, default.astype(sparse_values.dtype))
    rows = indices if indices.ndim == 2 else indices.reshape(-1, 1)
    for row, value in zip(rows, np.broadcast_to(sparse_values, len(rows)), strict=True):
        expected[tuple(int(part) for part in row)] = value
    module = dense_module(indices, shape, sparse_values, default)
    check_exact(module, [indices, sparse_values, default], expected)


@pytest.mark.grid(8)
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
def test_dense_of_every_type(dtype: str, index: str):
    """Includes several values at one position; a default of another type is converted."""
    check_dense(places((3, 4), 9, index), (3, 4), values(dtype, 9), np.array(2, np.float32))


@settings(max_examples=examples(6, more=2), deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 7, 17]), min_size=0, max_size=3),
    st.sampled_from([0, 1, 5, 33]),
    st.booleans(),
)
def test_dense_of_every_shape(shape: list[int], count: int, scalar: bool):
    """Positions without indices all denote the single element of a rank-0 tensor."""
    default = np.array(RNG.choice([0.0, np.nan, -1.5]), np.float32)
    check_dense(places(shape, count), shape, values("float32", *(() if scalar else (count,))), default)


@pytest.mark.grid(2)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (4,)])
def test_dense_vectors(shape: tuple[int, ...]):
    """Indices without a second axis; a scalar is one position."""
    for own in {(), shape}:
        check_dense(np.asarray(RNG.integers(0, 5, shape)), (5,), values("int32", *own), np.array(-7, np.int32))
    check_dense(np.zeros((0, 2), np.int32), (3, 0), values("float32", 0), np.array(1, np.float32))


def test_nan_is_a_value():
    check_dense(np.array([1, 3]), (5,), np.array([np.nan, 2], np.float32), np.array(0, np.float32))


@pytest.mark.parametrize(("wrong", "axis", "limits"), [(-1, 0, "[0, 4)"), (4, 0, "[0, 4)"), (1 << 40, 1, "[0, 6)")])
def test_an_index_out_of_range_names_the_value(wrong: int, axis: int, limits: str):
    indices = np.zeros((3, 2), np.int64)
    indices[2, axis] = wrong
    arrays = [indices, values("float32", 3), np.array(0, np.float32)]
    message = f"index out of range: {wrong} is not in {limits}"
    check_refused(dense_module(arrays[0], (4, 6), *arrays[1:]), arrays, message, node="sparse_to_dense")


def test_the_number_of_places_may_be_open():
    i, v = relay.var("i", shape=(relay.Any(), 2), dtype="int64"), relay.var("v", shape=(relay.Any(),))
    module = relay.Module.from_expr(relay.Function([i, v], relay.sparse_to_dense(i, (3, 4), v)))
    model = xrelay.compile(module, cache=False)
    for count in (0, 1, 8):
        at, new = places((3, 4), count), values("float32", count)
        expected = np.zeros((3, 4), np.float32)
        for row, value in zip(at, new, strict=True):
            expected[tuple(row)] = value
        np.testing.assert_array_equal(model(at, new)[0], expected)
    with pytest.raises(ExecutionError, match="values"):
        model(places((3, 4), 2), values("float32", 3))


def test_the_default_is_zero_of_the_values_type():
    at = relay.const(np.array([[0, 1]]))
    expr = relay.sparse_to_dense(at, sparse_values=relay.const(np.array([5], np.int8)), output_shape=[1, 3])
    (found,) = xrelay.compile(relay.Module.from_expr(relay.Function([], expr)), cache=False)()
    assert found.dtype == np.int8
    np.testing.assert_array_equal(found, [[0, 5, 0]])


def reshape_module(indices: Array, old: Array, new: Array) -> ModuleOp:
    arrays = {"i": indices, "p": old, "n": new}
    i, p, n = (relay.var(name, shape=array.shape, dtype=str(array.dtype)) for name, array in arrays.items())
    return relay.Module.from_expr(relay.Function([i, p, n], relay.sparse_reshape(i, p, n)))


def check_reshape(old: Sequence[int], new: Sequence[int], count: int, kinds: Sequence[str]) -> None:
    """Checks each position in the tensor of the new shape, whose elements are the flat indices of the old one."""
    numbers = np.arange(int(np.prod(old))).reshape(old)
    indices = places(old, count, kinds[0])
    shape = numbers.reshape(new).shape
    expected = [np.array([numbers[tuple(row)] for row in indices], np.int64), np.array(shape, kinds[2])]
    module = reshape_module(indices, np.array(old, kinds[1]), np.array(new, kinds[2]))
    arrays = [indices, np.array(old, kinds[1]), np.array(new, kinds[2])]
    found, found_shape = outputs(module, arrays)
    assert [found.dtype, found_shape.dtype] == [indices.dtype, np.dtype(kinds[2])]
    np.testing.assert_array_equal([numbers.reshape(shape)[tuple(row)] for row in found], expected[0])
    np.testing.assert_array_equal(found_shape, expected[1])
    check_native(module, arrays, rtol=0)
    check_levels(module, arrays, rtol=0)


@pytest.mark.grid(8)
@pytest.mark.parametrize(
    ("old", "new"),
    [((2, 3, 6), (9, -1)), ((2, 3, 6), (2, 3, 6)), ((36,), (3, -1, 2, 1)), ((4, 9), (-1,)), ((1, 1), (1, 1, 1)),
     ((7, 8, 9), (-1, 7, 8)), ((6, 4), (4, 6))],
)  # fmt: skip
@pytest.mark.parametrize(("count", "kinds"), [(0, ("int32", "int32", "int32")), (1, ("int64", "int64", "int32")),
                                              (37, ("int32", "int64", "int64"))])  # fmt: skip
def test_reshape(old: tuple[int, ...], new: tuple[int, ...], count: int, kinds: tuple[str, ...]):
    check_reshape(old, new, count, kinds)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("old", "new"), [((3, 0), (0, 5)), ((3, 0), (-1, 7)), ((0,), (-1, 0)), ((2, 5), (-3, 4)), ((5, 2), (-1, 2))]
)
def test_shapes_without_meaning_give_numbers(old: tuple[int, ...], new: tuple[int, ...]):
    """Without elements there are no valid positions, and run-time shapes are not compared; nothing is divided by 0."""
    indices = np.array([[-(1 << 62)] * len(old), [1 << 62] * len(old), [0] * len(old)])
    module, arrays = reshape_module(indices, np.array(old), np.array(new)), [indices, np.array(old), np.array(new)]
    if (old, new) == ((5, 2), (-1, 2)):
        np.testing.assert_array_equal(outputs(module, arrays)[0], indices)
    check_native(module, arrays, rtol=0)
    check_levels(module, arrays, rtol=0)


def test_ranks_may_be_open():
    i = relay.var("i", shape=(relay.Any(), relay.Any()), dtype="int64")
    p, n = (relay.var(name, shape=(relay.Any(),), dtype="int64") for name in "pn")
    model = xrelay.compile(
        relay.Module.from_expr(relay.Function([i, p, n], relay.sparse_reshape(i, p, n))), cache=False
    )
    for old, new in [((2, 3, 6), (9, -1)), ((36,), (2, 3, 6))]:
        indices, arrays = places(old, 5), (np.array(old), np.array(new))
        shape = np.empty(old).reshape(new).shape
        found, found_shape = model(indices, *arrays)
        expected = np.ravel_multi_index(tuple(indices.T), old)
        np.testing.assert_array_equal(np.ravel_multi_index(tuple(found.T), shape), expected)
        np.testing.assert_array_equal(found_shape, shape)
    with pytest.raises(ExecutionError, match="elements of prev_shape"):
        model(places((2, 3), 1), np.array([2, 3, 6]), np.array([36]))


def test_the_shape_may_be_told_by_the_run():
    i, v = relay.var("i", shape=(relay.Any(), 2), dtype="int64"), relay.var("v", shape=(relay.Any(),))
    s = relay.var("s", shape=(2,), dtype="int32")
    module = relay.Module.from_expr(relay.Function([i, s, v], relay.sparse_to_dense(i, s, v, 1.0)))
    model = xrelay.compile(module, cache=False)
    for shape, count in [((3, 4), 5), ((1, 1), 1), ((0, 7), 0)]:
        at, new = places(shape, count), values("float32", count)
        expected = np.ones(shape, np.float32)
        for row, value in zip(at, new, strict=True):
            expected[tuple(row)] = value
        arrays = [at, np.array(shape, np.int32), new]
        np.testing.assert_array_equal(outputs(module, arrays)[0], expected)
        np.testing.assert_array_equal(model(*arrays)[0], expected)
    with pytest.raises(ExecutionError, match=r"index out of range: 3 is not in \[0, 3\)"):
        model(np.array([[3, 0]]), np.array([3, 4], np.int32), values("float32", 1))
    with pytest.raises(ExecutionError, match=r"dyn\.sparse_to_dense: element 1 of the shape is -4"):
        model(places((3, 4), 1), np.array([3, -4], np.int32), values("float32", 1))


def test_a_shape_that_is_known_is_no_operand():
    i, v = relay.var("i", shape=(3,), dtype="int64"), relay.var("v", shape=(3,))
    shape = relay.const(np.array([5]))
    module = relay.Module.from_expr(relay.Function([i, v], relay.sparse_to_dense(i, shape, v)))
    assert "relay.sparse_to_dense" in str(module)
    shape = relay.op_function("abs")(shape)
    module = relay.Module.from_expr(relay.Function([i, v], relay.sparse_to_dense(i, shape, v)))
    assert "relay.dyn.sparse_to_dense" in str(module)
    static = xrelay.transform.Sequential([xrelay.transform.FoldConstant(), xrelay.transform.DynamicToStatic()])
    assert "relay.dyn.sparse_to_dense" not in str(static(module))
