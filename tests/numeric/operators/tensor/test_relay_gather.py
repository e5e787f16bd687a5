"""take, gather, gather_nd and one_hot: numpy, the interpreter, every level and native code agree, also on errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.levels import check_exact, check_refused, outputs, run_passes
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.passes.infra.source import full_context, parse_module

Array = NDArray[Any]
RNG = np.random.default_rng(7)
KINDS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ELEMENTS = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "bfloat16"]


def module_of(op: str, *arrays: Array, **attributes: Any) -> ModuleOp:
    """The op on parameters of the arrays' types."""
    names = [f"x{n}" for n in range(len(arrays))]
    inputs = [relay.var(name, shape=a.shape, dtype=str(a.dtype)) for name, a in zip(names, arrays, strict=True)]
    call: Callable[..., Any] = getattr(relay, op)
    return relay.Module.from_expr(relay.Function(inputs, call(*inputs, **attributes)))


def check(expected: Array, op: str, *arrays: Array, **attributes: Any) -> None:
    check_exact(module_of(op, *arrays, **attributes), arrays, expected)


def values(*shape: int, dtype: Any = np.float32) -> Array:
    import ml_dtypes

    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    return np.asarray(RNG.integers(0, 2 if kind == np.bool_ else 100, shape)).astype(kind)


def indices(size: int, *shape: int, dtype: str = "int64", negative: bool = True) -> Array:
    return RNG.integers(0 if dtype.startswith("u") or not negative else -size, size, shape).astype(dtype)


@pytest.mark.grid(8)
@pytest.mark.parametrize("mode", ["clip", "wrap", "fast"])
@pytest.mark.parametrize("dtype", KINDS)
def test_take_brings_any_index_into_range(dtype: str, mode: str):
    """Includes the greatest and the least index of the type, which may not represent the extent."""
    limits = np.iinfo(dtype)
    at = np.array([int(limits.min), int(limits.max), 0, *range(0, 100, 9)], dtype)
    for extent in (7, 300):
        x = values(extent, 3)
        places = [int(place) % extent if mode == "wrap" else min(max(int(place), 0), extent - 1) for place in at]
        check(x[places], "take", x, at, axis=0, mode=mode)


@settings(max_examples=examples(4, more=2), deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 5, 17]), min_size=1, max_size=3),
    st.lists(st.sampled_from([0, 1, 3, 16]), max_size=2),
    st.integers(-3, 2),
    st.sampled_from(["clip", "wrap", "raise"]),
)
def test_take_of_every_shape(shape: list[int], places: list[int], axis: int, mode: str):
    axis = axis % len(shape) - (len(shape) if axis < 0 else 0)
    x, at = values(*shape), indices(shape[axis], *places)
    reference: Any = mode
    check(np.take(x, at, axis, mode=reference), "take", x, at, axis=axis, mode=mode)


@pytest.mark.parametrize("mode", ["clip", "wrap", "raise"])
def test_take_without_an_axis_is_of_the_flattened_data(mode: Any):
    x, at = values(3, 5, 2), indices(30, 4, 7)
    check(np.take(x, at, mode=mode), "take", x, at, mode=mode)


@pytest.mark.parametrize(("batch", "axis"), [(1, 1), (1, 2), (2, 2), (-1, 2)])
def test_take_with_batches(batch: int, axis: int):
    x, at = values(2, 3, 7), indices(7 if axis == 2 else 3, 2, 3, 4)
    kept = batch + at.ndim if batch < 0 else batch
    expected = np.stack([np.take(x[p], at[p], axis - kept) for p in np.ndindex(x.shape[:kept])])
    check(
        expected.reshape(*x.shape[:kept], *expected.shape[1:]), "take", x, at, axis=axis, batch_dims=batch, mode="raise"
    )


@pytest.mark.grid(5)
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_elements_of_every_type(dtype: str):
    x, at = values(6, 5, dtype=dtype), indices(6, 4)
    check(x[at], "take", x, at, axis=0, mode="raise")
    at = indices(5, 6, 3)
    check(np.take_along_axis(x, at, 1), "gather", x, at, axis=1)


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", KINDS)
def test_indices_of_every_type(dtype: str):
    x = values(11, 6)
    at = indices(11, 13, dtype=dtype)
    check(x[at.astype(np.int64)], "take", x, at, axis=0, mode="raise")
    at = indices(11, 5, 6, dtype=dtype)
    check(np.take_along_axis(x, at.astype(np.int64), 0), "gather", x, at, axis=0)
    at = np.stack([indices(11, 4, dtype=dtype), indices(6, 4, dtype=dtype)])
    check(x[tuple(at.astype(np.int64))], "gather_nd", x, at)


@pytest.mark.grid(3)
@pytest.mark.parametrize(("shape", "places"), [((7,), (0,)), ((7,), (20,)), ((3, 7, 5), (2, 4, 5)), ((1, 17), (1, 16))])
def test_gather_of_every_shape(shape: tuple[int, ...], places: tuple[int, ...]):
    """The indices may have smaller extents than the data."""
    for axis in range(-len(shape), len(shape)):
        reach = tuple(n if d == axis % len(shape) else min(n, shape[d]) for d, n in enumerate(places))
        x, at = values(*shape), indices(shape[axis], *reach)
        where = list(np.indices(reach))
        where[axis] = at
        check(x[tuple(where)], "gather", x, at, axis=axis)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("shape", "places", "batch"),
    [((5,), (1,), 0), ((5, 7), (2, 3), 0), ((5, 7), (1, 2, 3), 0), ((5, 7, 2), (3, 0), 0), ((4, 7, 2), (1, 4), 1),
     ((4, 7, 2), (2, 4, 3), 1), ((4, 3, 2), (1, 4, 3), 2), ((4, 3), (0, 5), 0)],
)  # fmt: skip
def test_gather_nd_of_every_shape(shape: tuple[int, ...], places: tuple[int, ...], batch: int):
    x = values(*shape)
    at = np.array([indices(size, *places[1:]) for size in shape[batch:][: places[0]]]).reshape(places)
    expected = np.empty((*places[1:], *shape[batch + places[0] :]), x.dtype)
    for point in np.ndindex(places[1:]):
        expected[point] = x[(*point[:batch], *at[(slice(None), *point)])]
    check(expected, "gather_nd", x, at.astype(np.int32), batch_dims=batch)


@pytest.mark.grid(8)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_one_hot(axis: int, dtype: str):
    at, on, off = indices(9, 4, 5, dtype=dtype), np.array(3, np.float16), np.array(-1, np.float16)
    for depth in (0, 1, 6):
        hot = np.arange(depth) == at[..., None]
        expected = np.moveaxis(np.where(hot, on, off), -1, axis)
        check(expected, "one_hot", at, on, off, depth=depth, axis=axis)


REFUSED = [
    ("take", (11, 6), (29,), {"axis": 0, "mode": "raise"}, -12, "[-11, 11)"),
    ("take", (11, 6), (29,), {"mode": "raise"}, 66, "[-66, 66)"),
    ("gather", (11, 6), (5, 6), {"axis": 0}, 11, "[-11, 11)"),
    ("gather_nd", (11, 6), (2, 5), {}, -7, "[-6, 6)"),
]


@pytest.mark.parametrize(("op", "shape", "places", "attributes", "wrong", "limits"), REFUSED)
def test_an_index_out_of_range_names_node_and_value(
    op: str, shape: tuple[int, ...], places: tuple[int, ...], attributes: dict[str, Any], wrong: int, limits: str
):
    x, at = values(*shape), np.zeros(places, np.int64)
    at.flat[-1] = wrong
    message = f"index out of range: {wrong} is not in {limits}"
    check_refused(module_of(op, x, at, **attributes), [x, at], message)


def test_the_node_is_named():
    text = """
    func.func @main(%x: tensor<64x10xf32>, %i: tensor<700xi64>) -> tensor<700x10xf32> {
      %y = relay.take(%x, %i) {axis = 0, mode = "raise"}
          : (tensor<64x10xf32>, tensor<700xi64>) -> tensor<700x10xf32> loc("/net/embedding")
      func.return %y : tensor<700x10xf32>
    }"""
    x, at = values(64, 10), np.full(700, 64)
    parsed = parse_module(full_context(), text, "embedding.mlir")
    with pytest.raises(InterpreterError, match=r"^/net/embedding: relay\.take: index out of range: 64 is not in"):
        outputs(parsed, [x, at])
    with pytest.raises(ExecutionError, match=r"^/net/embedding: kernel '\w+' failed: index out of range: 64 is not in"):
        xrelay.compile(parsed, threads=2, cache=False)(x, at)


def test_an_index_is_checked_where_fusion_drops_its_element():
    """A slice of the result drops the invalid element, and the error remains."""
    x, at = values(8, 4), np.array([0, 1, 2, 8])
    data, places = relay.var("x", shape=(8, 4)), relay.var("i", shape=(4,), dtype="int64")
    taken = relay.take(data, places, axis=0, mode="raise")
    first = relay.split(taken, indices_or_sections=2, axis=0)[0]
    module = relay.Module.from_expr(relay.Function([data, places], relay.nn.relu(first)))
    with pytest.raises(InterpreterError, match="8 is not in"):
        outputs(module, [x, at])
    model = xrelay.compile(module, cache=False)
    with pytest.raises(ExecutionError, match="8 is not in"):
        model(x, at)
    np.testing.assert_array_equal(model(x, at % 8)[0], x[:2])


def test_a_branch_that_is_not_taken_checks_nothing():
    text = """
    func.func @main(%c: tensor<i1>, %x: tensor<8xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
      %t = relay.take(%x, %i) {axis = 0, mode = "raise"} : (tensor<8xf32>, tensor<4xi64>) -> tensor<4xf32>
      %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
        relay.yield %t : tensor<4xf32>
      } else {
        %z = relay.constant dense<0.0> : tensor<4xf32>
        relay.yield %z : tensor<4xf32>
      }
      func.return %r : tensor<4xf32>
    }"""
    x, wrong = values(8), np.array([0, 1, 2, 8])
    parsed = parse_module(full_context(), text, "branch.mlir")
    for passes in ("relay-infer-type", "relay-to-basic-block-normal-form"):
        run_passes(parsed, passes)
        np.testing.assert_array_equal(outputs(parsed, [np.array(False), x, wrong])[0], np.zeros(4))
        with pytest.raises(InterpreterError, match="8 is not in"):
            outputs(parsed, [np.array(True), x, wrong])
