"""Results with data-dependent extents agree at every level, in native code and in saved models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.levels import check_levels, graph_of, outputs
from support.op_cases import OpCase

import xrelay
from xrelay.api.compile import compile
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]
RNG = np.random.default_rng(3)


def check(case: OpCase, *inputs: Array, native: bool = True) -> list[Array]:
    """Returns the results; checks that all levels and native code agree."""
    expected = outputs(graph_of(case), list(inputs))
    check_levels(graph_of(case), list(inputs))
    if native:
        found = compile(graph_of(case), cache=False, threads=2).run(list(inputs))
        for actual, wanted in zip(found, expected, strict=True):
            assert actual.dtype == wanted.dtype
            np.testing.assert_array_equal(actual, wanted)
    return expected


@pytest.mark.grid(6)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5), (2, 1, 3), (4, 0, 2), (2, 3, 2, 2)])
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_argwhere(shape: tuple[int, ...], share: float) -> None:
    x = (RNG.random(shape) < share).astype(np.float32)
    (found,) = check(OpCase("argwhere", [shape]), np.asarray(x))
    np.testing.assert_array_equal(found, np.argwhere(x))


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
def test_what_is_not_zero(dtype: str) -> None:
    x = RNG.integers(0, 2, (3, 4)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[0, :3] = np.nan, -0.0, np.inf
    (found,) = check(OpCase("argwhere", [(3, 4)], dtype=dtype), x)
    np.testing.assert_array_equal(found, np.argwhere(x))


@pytest.mark.grid(4)
@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "bool"])
def test_unique(dtype: str, is_sorted: bool) -> None:
    x = RNG.integers(0, 6, 23).astype(dtype)
    if dtype == "float32":
        x[[1, 5, 9, 11]] = np.nan, -0.0, np.nan, 0.0
    case = OpCase("unique", [(23,)], {"is_sorted": is_sorted, "return_counts": True}, dtype=dtype)
    values, first, inverse, number, counts = check(case, x)
    expected, at, back, times = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.arange(len(expected)) if is_sorted else np.argsort(at)
    n = int(number[0])
    assert n == len(expected)
    np.testing.assert_array_equal(values[:n], expected[order])
    np.testing.assert_array_equal(first[:n], at[order])
    np.testing.assert_array_equal(counts[:n], times[order])
    np.testing.assert_array_equal(inverse, np.argsort(order)[back])
    assert not any(each[n:].any() for each in (values, first, counts))


@pytest.mark.parametrize("length", [0, 1, 2])
def test_unique_of_few(length: int) -> None:
    x = np.full(length, 3, np.int64)
    case = OpCase("unique", [(length,)], {"return_counts": True}, dtype="int64")
    *_, number, counts = check(case, x)
    assert number == (1 if length else 0)
    assert counts.sum() == length


@settings(max_examples=examples(3, more=4), deadline=None)
@given(st.integers(0, 6), st.integers(-9, 9), st.integers(-9, 9), st.integers(-3, 3).filter(bool))
def test_dynamic_slices(length: int, begin: int, end: int, step: int) -> None:
    case = OpCase("dyn.strided_slice", [(length,), (1,), (1,), (1,)], dtype="int64")
    x = np.arange(length) + 10
    bounds = [np.array([value]) for value in (begin, end, step)]
    (found,) = check(case, x, *bounds, native=False)
    np.testing.assert_array_equal(found, x[begin:end:step])


def test_dynamic_slices_natively() -> None:
    case = OpCase("dyn.strided_slice", [(6,), (1,), (1,), (1,)], dtype="int64")
    model = compile(graph_of(case), cache=False)
    x = np.arange(6)
    for begin, end, step in [(0, 3, 1), (1, 6, 2), (-1, -9, -1), (5, 0, -2), (4, 2, 1), (0, 0, 1), (-9, 9, 3)]:
        (found,) = model.run([x, *(np.array([value]) for value in (begin, end, step))])
        np.testing.assert_array_equal(found, x[begin:end:step])
    with pytest.raises(
        xrelay.errors.ExecutionError, match=r"\[relay.extents C3\] relay.dyn.strided_slice: the step along axis 0 is 0$"
    ):
        model.run([x, np.array([0]), np.array([3]), np.array([0])])


def test_dynamic_slices_of_rows_natively() -> None:
    case = OpCase("dyn.strided_slice", [(5, 3), (1,), (1,), (1,)], dtype="int64")
    x = np.arange(15).reshape(5, 3)
    (found,) = check(case, x, *(np.array([value]) for value in (-1, 0, -2)))
    np.testing.assert_array_equal(found, x[-1:0:-2])


@pytest.mark.parametrize(
    ("shape", "axis", "condition"),
    [((4,), 0, [0, 1, 1, 0]), ((2, 3), 1, [1, 0]), ((3, 2, 2), -3, [0, 0, 0]), ((2, 0), 0, [1, 1]), ((3, 2), 0, [])],
)
def test_compress(shape: tuple[int, ...], axis: int, condition: list[int]) -> None:
    x = np.asarray(RNG.normal(size=shape).astype(np.float32))
    mask = np.array(condition, np.bool_)
    text = f"""func.func @main(%x: T, %c: tensor<{len(mask)}xi1>) -> !relay.incomplete {{
      %y = relay.compress(%x, %c) {{axis = {axis}}} : (T, tensor<{len(mask)}xi1>) -> !relay.incomplete
      func.return %y : !relay.incomplete
    }}""".replace("T,", f"tensor<{'x'.join(map(str, (*shape, 'f32')))}>,")
    module = xrelay.parse(text)
    infer_types(module)
    (found,) = outputs(module.clone(), [x, mask])
    check_levels(module, [x, mask])
    np.testing.assert_array_equal(found, np.compress(mask, x, axis))


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "float16", "float32"])
@pytest.mark.parametrize("shape", [(7, 2), (1, 3), (4, 0), (0, 2)])
def test_ranks_of_rows(shape: tuple[int, int], dtype: str) -> None:
    x = RNG.integers(0, 2, shape).astype(dtype)
    if dtype == "uint8":
        x *= 200
    (found,) = check(OpCase("rank_rows", [shape], dtype=dtype), x, native=dtype == "float32" and shape == (7, 2))
    rows = x.tolist()
    np.testing.assert_array_equal(found, [sum(other < row for other in rows) for row in rows])


def test_nan_comes_last_among_rows() -> None:
    x = np.array([[1, np.nan], [0.0, 5], [1, 7], [-0.0, 5], [1, np.nan]], np.float32)
    (found,) = check(OpCase("rank_rows", [(5, 2)]), x, native=False)
    np.testing.assert_array_equal(found, [3, 0, 2, 0, 3])


NONZERO = """
func.func @main(%x: tensor<3x4xf32>, %y: tensor<2xf32>)
    -> (tensor<2x?xi64> {relay.name = "at"}, tensor<2xf32> {relay.name = "z"}) {
  %w = relay.argwhere(%x) : (tensor<3x4xf32>) -> tensor<?x2xi32>
  %t = relay.transpose(%w) {axes = [1, 0]} : (tensor<?x2xi32>) -> tensor<2x?xi32>
  %i = relay.cast(%t) {dtype = i64} : (tensor<2x?xi32>) -> tensor<2x?xi64>
  %z = relay.nn.relu(%y) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %i, %z : tensor<2x?xi64>, tensor<2xf32>
}
"""


def test_a_saved_model_gives_as_many_as_there_are(tmp_path: Path) -> None:
    model = xrelay.compile(xrelay.parse(NONZERO), cache=False)
    x = RNG.integers(0, 2, (3, 4)).astype(np.float32)
    y = np.array([-1, 2], np.float32)
    model.save(tmp_path / "m.xrelay")
    for each in (model, xrelay.load(tmp_path / "m.xrelay")):
        assert each.output_names == ["at", "z"]
        assert str(each.outputs[0]) == "int64[2, k]"
        at, z = each(x, y)
        np.testing.assert_array_equal(at, np.array(np.nonzero(x)))
        np.testing.assert_array_equal(z, [0, 2])
        assert each(x * 0, y)[0].shape == (2, 0)
    assert xrelay.same(xrelay.parse(NONZERO), model)


READ = """
func.func @main(%x: tensor<?x4xf32, #relay.dims<n>>, %c: tensor<3xi1>)
    -> (!relay.incomplete, !relay.incomplete, !relay.incomplete, !relay.incomplete) {
  %i = relay.argwhere(%x) : (tensor<?x4xf32, #relay.dims<n>>) -> !relay.incomplete
  %t = relay.transpose(%i) {axes = [1, 0]} : (!relay.incomplete) -> !relay.incomplete
  %g = relay.gather_nd(%x, %t) : (tensor<?x4xf32, #relay.dims<n>>, !relay.incomplete) -> !relay.incomplete
  %s = relay.sum(%g) {axis = [0]} : (!relay.incomplete) -> !relay.incomplete
  %k = relay.compress(%x, %c) {axis = 1} : (tensor<?x4xf32, #relay.dims<n>>, tensor<3xi1>) -> !relay.incomplete
  %r = relay.negative(%k) : (!relay.incomplete) -> !relay.incomplete
  func.return %i, %g, %s, %r : !relay.incomplete, !relay.incomplete, !relay.incomplete, !relay.incomplete
}
"""


def test_what_reads_such_a_result_is_as_long_as_it() -> None:
    module = xrelay.parse(READ)
    model = xrelay.compile(module, cache=False)
    for n in (0, 1, 7):
        x = RNG.integers(0, 2, (n, 4)) * RNG.random((n, 4))
        inputs = [x.astype(np.float32), RNG.integers(0, 2, 3).astype(bool)]
        for found, expected in zip(model.run(inputs), outputs(module, inputs), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)
