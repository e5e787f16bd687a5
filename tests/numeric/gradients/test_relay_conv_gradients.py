"""Gradients of weights: native code and interpreter agree with sums over every position of the window."""

from __future__ import annotations

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
from xrelay.index_algebra.windows import WindowAxis, sides_of, window_of
from xrelay.interpreters.relay import apply_op, run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]
OP = "nn.conv2d_backward_weight"


def both(grad: Array, data: Array, *, op: str = OP, **attributes: Any) -> Array:
    """Returns the interpreter's result; checks that native code agrees."""
    expected = apply_op(op, grad, data, **attributes)
    inputs = [relay.var(name, shape=each.shape, dtype=str(each.dtype)) for name, each in (("g", grad), ("x", data))]
    call = relay.op_function(op)(*inputs, **attributes)
    found = compile(relay.Module.from_expr(relay.Function(inputs, call)), cache=False, threads=1).run([grad, data])[0]
    tolerance = {"float16": 5e-3, "float32": 1e-4, "float64": 1e-12}.get(str(expected.dtype), 0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, strict=True)
    return expected


def in_loops(grad: Array, data: Array, window: tuple[WindowAxis[int], ...], groups: int) -> Array:
    """Sums the products one by one."""
    filters, depth = grad.shape[1], data.shape[1] // groups
    weight = np.zeros((filters, depth, *(axis.size for axis in window)), np.float64)
    for n, o, *at in np.ndindex(grad.shape):
        first = o // (filters // groups) * depth
        for tap in np.ndindex(weight.shape[2:]):
            place = [axis.place(i, t) for axis, i, t in zip(window, at, tap, strict=True)]
            if all(0 <= k < extent for k, extent in zip(place, data.shape[2:], strict=True)):
                seen = data[(n, slice(first, first + depth), *place)].astype(np.float64)
                weight[(o, slice(None), *tap)] += float(grad[(n, o, *at)]) * seen
    return weight


@given(drawn=st.data())
@settings(max_examples=examples(6, more=2), deadline=None)
def test_every_element_is_a_sum_over_places(drawn: st.DataObject) -> None:
    size, strides, dilation = ([drawn.draw(st.integers(1, most)) for _ in range(2)] for most in (3, 3, 2))
    window = window_of(size, strides, dilation, [drawn.draw(st.integers(0, 2)) for _ in range(4)])
    low = [max(1, axis.reach - axis.before - axis.after) for axis in window]
    extents = [drawn.draw(st.integers(least, least + 4)) for least in low]
    # Groups of few filters are summed, others are matrix products.
    groups, filters, depth = drawn.draw(st.sampled_from([(1, 1, 3), (1, 5, 2), (2, 4, 1), (3, 1, 1), (1, 0, 2)]))
    batch = drawn.draw(st.sampled_from([1, 2, 0]))
    rng = np.random.default_rng(0)
    counts = [axis.count(extent) for axis, extent in zip(window, extents, strict=True)]
    grad = rng.standard_normal((batch, groups * filters, *counts)).astype(np.float32)
    data = rng.standard_normal((batch, groups * depth, *extents)).astype(np.float32)
    options = {"strides": strides, "dilation": dilation, "padding": sides_of(window), "groups": groups}
    found = both(grad, data, kernel_size=size, **options)
    np.testing.assert_allclose(found, in_loops(grad, data, window, groups), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("groups", [1, 2])
def test_volumes(groups: int) -> None:
    rng = np.random.default_rng(5)
    window = window_of([2, 3, 1], [1, 2, 1], [2, 1, 1], [1, 0, 1, 0, 2, 0])
    counts = [axis.count(extent) for axis, extent in zip(window, (4, 6, 3), strict=True)]
    grad = rng.standard_normal((2, 4 * groups, *counts))
    data = rng.standard_normal((2, 2 * groups, 4, 6, 3))
    options: dict[str, Any] = {
        "strides": (1, 2, 1),
        "dilation": (2, 1, 1),
        "padding": sides_of(window),
        "groups": groups,
        "op": "nn.conv3d_backward_weight",
    }
    found = both(grad, data, kernel_size=(2, 3, 1), **options)
    np.testing.assert_allclose(found, in_loops(grad, data, window, groups), rtol=1e-12, atol=1e-12)
    last = (0, 2, 3, 4, 1)
    layouts = {"grad_layout": "NDHWC", "data_layout": "NDHWC", "kernel_layout": "DHWIO"}
    moved = both(grad.transpose(last), data.transpose(last), kernel_size=(2, 3, 1), **layouts, **options)
    np.testing.assert_allclose(moved.transpose(4, 3, 0, 1, 2), found, rtol=1e-12, atol=1e-12)


def test_it_is_what_small_changes_of_the_weight_change() -> None:
    rng = np.random.default_rng(1)
    data, weight = rng.standard_normal((2, 4, 5, 6)), rng.standard_normal((8, 2, 3, 2))
    attributes = {"strides": (2, 1), "padding": (1, 0, 2, 1), "dilation": (1, 2), "groups": 2}
    grad = rng.standard_normal(apply_op("nn.conv2d", data, weight, **attributes).shape)
    found = both(grad, data, kernel_size=(3, 2), channels=8, **attributes)
    for at in np.ndindex(weight.shape):
        step = np.zeros_like(weight)
        step[at] = 0.5
        ahead, behind = (apply_op("nn.conv2d", data, weight + way * step, **attributes) for way in (1, -1))
        np.testing.assert_allclose(found[at], np.sum(grad * (ahead - behind)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("groups", [1, 4])
def test_layouts(groups: int) -> None:
    rng = np.random.default_rng(2)
    grad, data = rng.standard_normal((2, 8, 5, 6)), rng.standard_normal((2, 4, 5, 6))
    attributes: dict[str, Any] = {"kernel_size": 3, "padding": 1, "groups": groups}
    plain = both(grad, data, **attributes)
    last = (0, 2, 3, 1)
    layouts = {"grad_layout": "NHWC", "data_layout": "NHWC", "kernel_layout": "HWIO"}
    found = both(grad.transpose(last), data.transpose(last), **layouts, **attributes)
    np.testing.assert_allclose(found.transpose(3, 2, 0, 1), plain, rtol=1e-12, atol=1e-12)
    blocked = np.moveaxis(grad.reshape(2, 2, 4, 5, 6), 2, -1), np.moveaxis(data.reshape(2, 2, 2, 5, 6), 2, -1)
    found = both(*blocked, grad_layout="NCHW4c", data_layout="NCHW2c", kernel_layout="OIHW2o", **attributes)
    np.testing.assert_allclose(np.moveaxis(found, -1, 1).reshape(plain.shape), plain, rtol=1e-12, atol=1e-12)


def test_dtypes() -> None:
    rng = np.random.default_rng(3)
    grad, data = rng.standard_normal((1, 4, 6, 6)), rng.standard_normal((1, 2, 6, 6))
    for groups in (1, 2):
        both(grad.astype(np.float16), data.astype(np.float16), kernel_size=3, padding=1, groups=groups)
        both(grad.astype(np.float16), data.astype(np.float16), kernel_size=1, groups=groups, out_dtype="float32")
    grad, data = (rng.integers(-99, 99, each.shape).astype(np.int8) for each in (grad, data))
    assert both(grad, data, kernel_size=3, padding=1, out_dtype="int32").dtype == np.int32


NAMED = """
!g = tensor<?x4x?x?xf32, #relay.dims<n, h, w>>
!x = tensor<?x2x?x?xf32, #relay.dims<n, h, w + 1>>
func.func @main(%g: !g, %x: !x) -> !relay.incomplete {
  %r = relay.nn.conv2d_backward_weight(%g, %x) {kernel_size = [3, 2], padding = [1, 0, 1, 0]}
    : (!g, !x) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
"""


def test_sizes_that_the_run_tells() -> None:
    module = parse_module(full_context(), NAMED, "convolution.mlir")
    infer_types(module)
    native = compile(module, cache=False)
    window = window_of([3, 2], [1], [1], [1, 0, 1, 0])
    for n, h, w in ((2, 5, 4), (1, 1, 9), (0, 3, 2)):
        rng = np.random.default_rng(4)
        grad, data = (rng.standard_normal(s).astype(np.float32) for s in ((n, 4, h, w), (n, 2, h, w + 1)))
        for results in (native.run([grad, data]), run_relay(module, [grad, data])):
            np.testing.assert_allclose(results[0], in_loops(grad, data, window, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("groups", [1, 4])
def test_every_level(groups: int) -> None:
    attributes = {"kernel_size": (3, 3), "padding": (1, 1), "groups": groups}
    case = OpCase(OP, [(1, 8, 5, 6), (1, 4, 5, 6)], attributes)
    check_levels(graph_of(case), case.inputs())
