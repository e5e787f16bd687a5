"""Adaptive pools: native code and the interpreter against explicit windows in numpy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import one_op

import xrelay
from xrelay.errors import ExecutionError, InputError, InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]
RANDOM = np.random.default_rng(7)


def wanted(kind: str, data: Array, counts: tuple[int, ...]) -> Array:
    """The definition in double precision, for data in a channels-first layout."""
    result = np.empty((*data.shape[:2], *counts))
    for place in product(*map(range, counts)):
        rows = zip(place, data.shape[2:], counts, strict=True)
        window = data[(..., *(slice(i * n // m, -(-(i + 1) * n // m)) for i, n, m in rows))].astype(np.float64)
        axes = tuple(range(2, data.ndim))
        result[(..., *place)] = window.mean(axes) if kind == "avg" else window.max(axes)
    return result


def applied(op: str, data: Array, **attributes: Any) -> Array:
    return one_op.applied(f"nn.{op}", data, rtol=1e-3 if data.dtype == np.float16 else 1e-6, atol=1e-6, **attributes)


@pytest.mark.grid(2)
@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize(
    ("extents", "counts"),
    [
        ((7,), (3,)),
        ((6,), (3,)),
        ((2,), (5,)),
        ((8, 6), (3, 2)),
        ((1, 5), (1, 5)),
        ((3, 4, 5), (2, 3, 1)),
        ((7, 7), (1, 1)),
    ],
)
def test_windows(kind: str, extents: tuple[int, ...], counts: tuple[int, ...]) -> None:
    data = RANDOM.standard_normal((2, 3, *extents)).astype(np.float32)
    found = applied(f"adaptive_{kind}_pool{len(extents)}d", data, output_size=counts)
    np.testing.assert_allclose(found, wanted(kind, data, counts), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["avg", "max"])
def test_layouts(kind: str) -> None:
    data = RANDOM.standard_normal((2, 16, 5, 4)).astype(np.float32)
    expected = wanted(kind, data, (2, 3)).astype(np.float32)
    last = np.ascontiguousarray(data.transpose(0, 2, 3, 1))
    found = applied(f"adaptive_{kind}_pool2d", last, output_size=(2, 3), layout="NHWC", out_layout="NCHW")
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    blocks = np.ascontiguousarray(data.reshape(2, 2, 8, 5, 4).transpose(0, 1, 3, 4, 2))
    found = applied(f"adaptive_{kind}_pool2d", blocks, output_size=(2, 3), layout="NCHW8c")
    np.testing.assert_allclose(found.transpose(0, 1, 4, 2, 3).reshape(2, 16, 2, 3), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8"])
def test_other_elements(dtype: str) -> None:
    data = np.arange(2 * 1 * 5 * 7).reshape(2, 1, 5, 7).astype(dtype)
    found = applied("adaptive_max_pool2d", data, output_size=3)
    np.testing.assert_array_equal(found, wanted("max", data, (3, 3)).astype(dtype), strict=True)
    found = applied("adaptive_avg_pool2d", data, output_size=3)
    np.testing.assert_allclose(found, wanted("avg", data, (3, 3)).astype(dtype), rtol=1e-3)


@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_means_of_integers_are_truncated_sums_of_any_size(dtype: str) -> None:
    data = RANDOM.integers(-128, 128, (1, 3, 24, 7)).astype(dtype)
    found = applied("adaptive_avg_pool2d", data, output_size=(2, 3))
    np.testing.assert_array_equal(found, np.trunc(wanted("avg", data, (2, 3))).astype(dtype), strict=True)


def test_without_sizes_and_without_elements() -> None:
    data = RANDOM.standard_normal((2, 3, 4, 5)).astype(np.float32)
    np.testing.assert_array_equal(applied("adaptive_max_pool2d", data), data)
    assert applied("adaptive_avg_pool2d", data, output_size=(0, 2)).shape == (2, 3, 0, 2)
    assert applied("adaptive_avg_pool2d", data[:0], output_size=2).shape == (0, 3, 2, 2)


def test_special_values() -> None:
    data = np.array([1, np.nan, -np.inf, -np.inf, np.inf, 2], np.float32).reshape(1, 1, 6)
    for kind in ("avg", "max"):
        found = applied(f"adaptive_{kind}_pool1d", data, output_size=3)
        np.testing.assert_array_equal(found[0, 0], [np.nan, -np.inf, np.inf])


NAMED = """
!x = tensor<?x3x?x?xf32, #relay.dims<n, h, w>>
func.func @main(%x: !x) -> (!relay.incomplete, !relay.incomplete) {
  %a = relay.nn.adaptive_avg_pool2d(%x) {output_size = [3, 2]} : (!x) -> !relay.incomplete
  %m = relay.nn.adaptive_max_pool2d(%x) {output_size = [1]} : (!x) -> !relay.incomplete
  func.return %a, %m : !relay.incomplete, !relay.incomplete
}
"""


def test_sizes_that_the_run_tells() -> None:
    module = parse_module(full_context(), NAMED, "pools.mlir")
    infer_types(module)
    native = xrelay.compile(module, cache=False)
    for n, h, w in ((2, 7, 5), (1, 1, 1), (0, 3, 4), (1, 2, 9)):
        data = RANDOM.standard_normal((n, 3, h, w)).astype(np.float32)
        for run in (native.run, lambda given: run_relay(module, given)):
            mean, most = run([data])
            np.testing.assert_allclose(mean, wanted("avg", data, (3, 2)), rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(most, wanted("max", data, (1, 1)))
    for run in (native.run, lambda given: run_relay(module, given)):
        with pytest.raises((ExecutionError, InputError, InterpreterError), match="H"):
            run([np.zeros((1, 3, 0, 4), np.float32)])
