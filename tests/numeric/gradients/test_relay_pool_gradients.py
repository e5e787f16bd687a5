"""Gradients of pools: native code and interpreter agree with a loop over every window, and with differences."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.levels import check_levels, graph_of
from support.op_cases import OpCase

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.index_algebra.windows import sides_of, window_of
from xrelay.interpreters.relay import apply_op, run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]


def both(op: str, *arrays: Array, **attributes: Any) -> Array:
    """Returns the interpreter's result; checks that native code agrees."""
    expected = apply_op(op, *arrays, **attributes)
    inputs = [relay.var(f"x{number}", shape=array.shape, dtype=str(array.dtype)) for number, array in enumerate(arrays)]
    module = relay.Module.from_expr(relay.Function(inputs, relay.op_function(op)(*inputs, **attributes)))
    found = compile(module, cache=False, threads=1).run(arrays)[0]
    tolerance = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}[str(expected.dtype)]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, strict=True)
    return expected


def in_loops(op: str, grads: Array, data: Array, attributes: dict[str, Any]) -> Array:
    """Every window adds its gradient to its elements, one at a time."""
    size = attributes["pool_size"]
    window = window_of(size, attributes["strides"], attributes["dilation"], attributes["padding"])
    result = np.zeros(data.shape, np.float64)
    for n, c, *at in np.ndindex(grads.shape):
        places = [
            tuple(axis.place(i, tap) for axis, i, tap in zip(window, at, taps, strict=True))
            for taps in product(*map(range, size))
        ]
        rows = [zip(place, window, data.shape[2:], strict=True) for place in places]
        padded = [all(-axis.before <= k < extent + axis.after for k, axis, extent in row) for row in rows]
        seen = [place for place in places if all(0 <= k < e for k, e in zip(place, data.shape[2:], strict=True))]
        if op.startswith("nn.max"):
            # numpy's argmax returns the first maximum, and a NaN before all others.
            seen = [seen[int(np.argmax([data[(n, c, *place)] for place in seen]))]] if seen else []
            count = 1
        else:
            count = max(1, sum(padded) if attributes["count_include_pad"] else len(seen))
        for place in seen:
            result[(n, c, *place)] += float(grads[(n, c, *at)]) / count
    return result


@st.composite
def pools(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[int, int], tuple[int, int]]:
    """Attributes of a pool, extents of its data, and the number of windows; strides may exceed the window."""
    size, strides, dilation = ([draw(st.integers(1, most)) for _ in range(2)] for most in (3, 4, 2))
    padding = [draw(st.integers(0, 2)) for _ in range(4)]
    window, ceil_mode = window_of(size, strides, dilation, padding), draw(st.booleans())
    low = [max(1, axis.reach - axis.before - axis.after) for axis in window]
    first, second = (draw(st.integers(least, least + 5)) for least in low)
    counts = [axis.count(extent, partial=ceil_mode) for axis, extent in zip(window, (first, second), strict=True)]
    shared = {"pool_size": size, "strides": strides, "dilation": dilation, "padding": list(sides_of(window))}
    return {**shared, "ceil_mode": ceil_mode}, (first, second), (counts[0], counts[1])


@pytest.mark.parametrize("op", ["nn.max_pool2d_grad", "nn.avg_pool2d_grad"])
@given(drawn=st.data())
@settings(max_examples=examples(3, more=4), deadline=None)
def test_each_element_collects_from_its_windows(op: str, drawn: st.DataObject) -> None:
    attributes, extents, counts = drawn.draw(pools())
    if op == "nn.avg_pool2d_grad":
        attributes["count_include_pad"] = drawn.draw(st.booleans())
    batch, channels = drawn.draw(st.sampled_from([(1, 2), (2, 1), (1, 0), (0, 3)]))
    rng = np.random.default_rng(0)
    # Few distinct numbers, so that maxima tie, and special values with an order of their own.
    data = rng.choice([0.0, -0.0, 1.0, 2.0, -np.inf, np.nan], (batch, channels, *extents)).astype(np.float32)
    grads = rng.standard_normal((batch, channels, *counts)).astype(np.float32)
    found = both(op, grads, data, **attributes)
    np.testing.assert_allclose(found, in_loops(op, grads, data, attributes), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op", ["max_pool2d", "avg_pool2d"])
def test_they_are_what_small_changes_of_the_data_change(op: str) -> None:
    rng = np.random.default_rng(1)
    data, more = rng.permutation(70).reshape(1, 2, 5, 7).astype(np.float64), {}
    attributes = {"pool_size": (3, 2), "strides": (2, 2), "padding": (1, 0, 1, 1), "ceil_mode": True}
    if op == "avg_pool2d":
        more = {"count_include_pad": True}
    grads = rng.standard_normal(apply_op(f"nn.{op}", data, **attributes, **more).shape)
    found = both(f"nn.{op}_grad", grads, data, **attributes, **more)
    for at in np.ndindex(data.shape):
        step = np.zeros_like(data)
        step[at] = 0.25
        ahead, behind = (apply_op(f"nn.{op}", data + way * step, **attributes, **more) for way in (1, -1))
        np.testing.assert_allclose(found[at], np.sum(grads * (ahead - behind)) / 0.5, atol=1e-10)


def channels_last(array: Array) -> Array:
    return array.transpose(0, 2, 3, 1)


def blocked(array: Array) -> Array:
    """An image of NCHW as NCHW2c."""
    batch, channels, *size = array.shape
    return np.moveaxis(array.reshape(batch, channels // 2, 2, *size), 2, -1)


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", ["nn.max_pool2d_grad", "nn.avg_pool2d_grad"])
@pytest.mark.parametrize("layouts", [("NHWC", "NHWC"), ("NCHW", "NHWC"), ("NCHW2c", "NCHW2c")])
def test_layouts(op: str, layouts: tuple[str, str]) -> None:
    rng, ways = np.random.default_rng(2), {"NCHW": np.array, "NHWC": channels_last, "NCHW2c": blocked}
    data, grads = rng.standard_normal((2, 4, 6, 5)), rng.standard_normal((2, 4, 3, 3))
    attributes: dict[str, Any] = {"pool_size": 3, "strides": (2, 2), "padding": 1}
    own, outer = layouts
    found = both(op, ways[outer](grads), ways[own](data), layout=own, out_layout=outer, **attributes)
    np.testing.assert_array_equal(found, ways[own](apply_op(op, grads, data, **attributes)))


@pytest.mark.parametrize("op", ["nn.max_pool3d_grad", "nn.avg_pool3d_grad"])
def test_volumes(op: str) -> None:
    rng = np.random.default_rng(5)
    shape = {"pool_size": (2, 3, 2), "strides": (2, 1, 3), "padding": [1, 0, 1, 0, 1, 0]}
    attributes: dict[str, Any] = {**shape, "dilation": (1, 2, 1), "ceil_mode": True}
    data = rng.choice([0.0, 1.0, 2.0], (2, 2, 4, 6, 5)).astype(np.float32)
    if op == "nn.avg_pool3d_grad":
        attributes["count_include_pad"] = False
    grads = rng.standard_normal(apply_op(op.removesuffix("_grad"), data, **attributes).shape).astype(np.float32)
    found = both(op, grads, data, **attributes)
    np.testing.assert_allclose(found, in_loops(op, grads, data, attributes), rtol=1e-5, atol=1e-5)
    last = (0, 2, 3, 4, 1)
    moved = both(op, grads.transpose(last), data.transpose(last), layout="NDHWC", **attributes)
    np.testing.assert_allclose(moved.transpose(0, 4, 1, 2, 3), found, rtol=1e-5, atol=1e-5)


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", ["nn.max_pool2d_grad", "nn.avg_pool2d_grad"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtypes(op: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    data, grads = rng.standard_normal((1, 2, 7, 7)).astype(dtype), rng.standard_normal((1, 2, 7, 7)).astype(dtype)
    both(op, grads, data, pool_size=(3, 3), padding=(1, 1))


def test_relays_defaults_are_windows_of_one_element() -> None:
    data, grads = np.zeros((1, 1, 3, 4), np.float32), np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    for op in ("nn.max_pool2d_grad", "nn.avg_pool2d_grad"):
        np.testing.assert_array_equal(both(op, grads, data), grads)


NAMED = """
!x = tensor<?x3x?x?xf32, #relay.dims<n, h, 2 * w>>
func.func @main(%x: !x) -> (!relay.incomplete, !relay.incomplete) {
  %p = relay.nn.max_pool2d(%x) {pool_size = [3, 2], strides = [1, 2], padding = [1, 0, 1, 0]}
    : (!x) -> !relay.incomplete
  %m = relay.nn.max_pool2d_grad(%p, %x) {pool_size = [3, 2], strides = [1, 2], padding = [1, 0, 1, 0]}
    : (!relay.incomplete, !x) -> !relay.incomplete
  %a = relay.nn.avg_pool2d_grad(%p, %x) {pool_size = [3, 2], strides = [1, 2], padding = [1, 0, 1, 0]}
    : (!relay.incomplete, !x) -> !relay.incomplete
  func.return %m, %a : !relay.incomplete, !relay.incomplete
}
"""


def test_sizes_that_the_run_tells() -> None:
    module = parse_module(full_context(), NAMED, "pools.mlir")
    infer_types(module)
    native = compile(module, cache=False)
    attributes = {"pool_size": [3, 2], "strides": [1, 2], "dilation": [1, 1], "padding": [1, 0, 1, 0]}
    for shape in ((2, 3, 5, 4), (1, 3, 1, 10), (0, 3, 4, 2)):
        data = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
        pooled = apply_op("nn.max_pool2d", data, **attributes)
        wanted = [
            in_loops("nn.max_pool2d_grad", pooled, data, attributes),
            in_loops("nn.avg_pool2d_grad", pooled, data, {**attributes, "count_include_pad": False}),
        ]
        for results in (native.run([data]), run_relay(module, [data])):
            for found, expected in zip(results, wanted, strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", ["nn.max_pool2d_grad", "nn.avg_pool2d_grad"])
def test_every_level(op: str) -> None:
    case = OpCase(op, [(1, 2, 3, 5), (1, 2, 5, 9)], {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1)})
    check_levels(graph_of(case), case.inputs())


@pytest.mark.parametrize("op", ["nn.max_pool2d_grad", "nn.avg_pool2d_grad"])
def test_windows_far_apart_take_no_memory_between_them(op: str) -> None:
    """The second row of windows begins 2^40 rows after the data, and contributes nothing."""
    data = np.random.default_rng(0).standard_normal((1, 1, 5, 4)).astype(np.float32)
    attributes = {"pool_size": (3, 1), "padding": (1, 0, 1, 0)}
    far = both(op, np.ones((1, 1, 2, 4), np.float32), data, strides=(2**40, 1), ceil_mode=True, **attributes)
    first = both(op, np.ones((1, 1, 1, 4), np.float32), data, strides=(10, 1), **attributes)
    np.testing.assert_array_equal(far, first)


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", ["nn.max_pool2d_grad", "nn.avg_pool2d_grad"])
@pytest.mark.parametrize("dilation", [3, 5, 1 << 31])
def test_fewer_windows_than_an_element_may_be_in(op: str, dilation: int) -> None:
    """Two rows of windows with only the middle taps inside the data, and the usual columns."""
    rng, padding = np.random.default_rng(0), (dilation, 0, dilation - 2, dilation)
    count = (5 + dilation - dilation - 1) // 2 + 1
    attributes: dict[str, Any] = {"pool_size": (3, 2), "dilation": (dilation, dilation), "strides": (1, 2)}
    grads, data = (rng.standard_normal((1, 2, *extents)).astype(np.float32) for extents in ((2, count), (4, 5)))
    assert both(op, grads, data, padding=padding, **attributes).any()
