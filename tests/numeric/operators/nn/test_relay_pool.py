"""Pools against loops over every window, and against onnx's reference if it has the same op."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from support.examples import examples
from support.one_op import applied

import xrelay
from xrelay import relay
from xrelay.interpreters.relay import apply_op


def random(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def naive_pool(data, size, strides, dilation, pads, ceil_mode, summarise):
    """Applies `summarise(inside, places)` to each window: the elements inside the data, and all positions as (h, w)."""
    top, left, bottom, right = pads
    batch, channels, height, width = data.shape

    def count(extent, before, after, axis):
        room = extent + before + after - dilation[axis] * (size[axis] - 1) - 1
        return (-(-room // strides[axis]) if ceil_mode else room // strides[axis]) + 1

    shape = (batch, channels, count(height, top, bottom, 0), count(width, left, right, 1))
    result = np.zeros(shape, np.float64)
    for n, c, y, x in np.ndindex(shape):
        places = [
            (y * strides[0] - top + r * dilation[0], x * strides[1] - left + s * dilation[1])
            for r in range(size[0])
            for s in range(size[1])
        ]
        inside = [float(data[n, c, h, w]) for h, w in places if 0 <= h < height and 0 <= w < width]
        result[n, c, y, x] = summarise(inside, places)
    return result


@st.composite
def pools(draw):
    size = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    dilation = (draw(st.integers(1, 2)), 1)
    strides = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    pads = (draw(st.integers(0, size[0] - 1)), draw(st.integers(0, size[1] - 1)), draw(st.integers(0, 1)), 0)
    height = draw(st.integers(dilation[0] * (size[0] - 1) + 1, 7))
    width = draw(st.integers(size[1], 7))
    return random((1, 2, height, width)), size, strides, dilation, pads, draw(st.booleans())


@given(pools())
@settings(max_examples=examples(40), deadline=None)
def test_max_pool(case):
    data, size, strides, dilation, pads, ceil_mode = case
    result = apply_op(
        "nn.max_pool2d", data, pool_size=size, strides=strides, dilation=dilation, padding=pads, ceil_mode=ceil_mode
    )
    expected = naive_pool(*case, lambda inside, places: max(inside, default=-np.inf))
    np.testing.assert_array_equal(result, expected.astype(np.float32))


@given(pools(), st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_avg_pool(case, include_pad):
    data, size, strides, dilation, pads, ceil_mode = case
    top, left, bottom, right = pads
    height, width = data.shape[2:]

    def mean(inside, places):
        padded = [p for p in places if -top <= p[0] < height + bottom and -left <= p[1] < width + right]
        return sum(inside) / max(len(padded) if include_pad else len(inside), 1)

    result = apply_op(
        "nn.avg_pool2d",
        data,
        pool_size=size,
        strides=strides,
        dilation=dilation,
        padding=pads,
        ceil_mode=ceil_mode,
        count_include_pad=include_pad,
    )
    np.testing.assert_allclose(result, naive_pool(*case, mean), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("include_pad", [False, True])
def test_avg_pool_is_onnx_average_pool(include_pad):
    data = random((1, 3, 8, 8))
    node = helper.make_node(
        "AveragePool",
        ["x"],
        ["y"],
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        count_include_pad=include_pad,
    )
    result = apply_op("nn.avg_pool2d", data, pool_size=3, strides=(2, 2), padding=1, count_include_pad=include_pad)
    np.testing.assert_allclose(result, onnx_result(node, data), rtol=1e-5, atol=1e-6)


def test_max_pool_is_onnx_max_pool():
    data = random((1, 3, 8, 8))
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    result = apply_op("nn.max_pool2d", data, pool_size=3, strides=(2, 2), padding=1)
    np.testing.assert_array_equal(result, onnx_result(node, data))


def onnx_result(node, data):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, data.shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    model = helper.make_model(
        helper.make_graph([node], "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 19)]
    )
    return ReferenceEvaluator(model).run(None, {"x": data})[0]


@pytest.mark.parametrize("name", ["nn.max_pool2d", "nn.avg_pool2d", "nn.global_avg_pool2d", "nn.global_max_pool2d"])
def test_layouts_agree(name):
    data = random((2, 8, 5, 6))
    attributes = {} if "global" in name else {"pool_size": (2, 3), "strides": (2, 2), "padding": (1, 0)}
    plain = apply_op(name, data, **attributes)
    channels_last = apply_op(name, data.transpose(0, 2, 3, 1), layout="NHWC", **attributes)
    np.testing.assert_allclose(channels_last.transpose(0, 3, 1, 2), plain, rtol=1e-6)
    blocked = np.moveaxis(data.reshape(2, 2, 4, 5, 6), 2, -1)
    result = apply_op(name, blocked, layout="NCHW4c", **attributes)
    np.testing.assert_allclose(np.moveaxis(result, -1, 2).reshape(plain.shape), plain, rtol=1e-6)


def test_global_pools():
    data = random((2, 3, 4, 5))
    mean = [[[[data[n, c].astype(np.float64).mean()]] for c in range(3)] for n in range(2)]
    np.testing.assert_allclose(apply_op("nn.global_avg_pool2d", data), mean, rtol=1e-6)
    assert apply_op("nn.global_max_pool2d", data)[1, 2, 0, 0] == data[1, 2].max()


@pytest.mark.parametrize("name", ["nn.max_pool2d", "nn.avg_pool2d"])
def test_windows_far_apart_take_no_memory_between_them(name):
    """The second row of windows begins 2^40 rows after the data, and covers none of it."""
    data = random((1, 1, 5, 4))
    attributes = {"pool_size": (3, 1), "strides": (2**40, 1), "padding": (1, 0), "ceil_mode": True}
    result = apply_op(name, data, **attributes)
    assert result.shape == (1, 1, 2, 4)
    first = apply_op(name, data, **attributes | {"strides": (10, 1), "ceil_mode": False})
    np.testing.assert_array_equal(result[:, :, :1], first)
    np.testing.assert_array_equal(result[:, :, 1], -np.inf if "max" in name else 0.0)


@pytest.mark.parametrize("name", ["nn.max_pool1d", "nn.avg_pool1d"])
def test_with_ceil_mode_the_only_window_may_be_partial(name):
    data = random((2, 3, 2))
    result = applied(name, data, rtol=1e-6, pool_size=(3,), strides=(2,), ceil_mode=True)
    expected = data.max(axis=2, keepdims=True) if "max" in name else data.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_integer_pools():
    data = np.arange(-8, 8, dtype=np.int32).reshape(1, 1, 4, 4)
    assert apply_op("nn.max_pool2d", data, pool_size=2, padding=1)[0, 0, 0, 0] == -8
    assert apply_op("nn.avg_pool2d", data, pool_size=2, strides=2).tolist() == [[[[-5, -3], [2, 4]]]]


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_means_of_integers_are_truncated_sums_of_64_bits(dtype: str, layout: str):
    """In native code as in the interpreter: the element type cannot represent the sum of a window."""
    limits, shape = np.iinfo(dtype), (1, 5, 6, 7)
    data = np.random.default_rng(0).integers(max(limits.min, -(2**50)), min(limits.max, 2**50), shape).astype(dtype)
    window = {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1), "layout": layout}
    for include in (True, False):
        applied("nn.avg_pool2d", data, **window, count_include_pad=include, ceil_mode=include)
    axes = (2, 3) if layout == "NCHW" else (1, 2)
    exact = np.trunc(data.astype(object).sum(axes, keepdims=True) / np.prod([shape[axis] for axis in axes]))
    np.testing.assert_allclose(applied("nn.global_avg_pool2d", data, layout=layout), exact.astype(np.float64), atol=1)


def test_the_mean_of_no_integers_is_zero():
    assert applied("nn.global_avg_pool2d", np.zeros((1, 2, 0, 3), np.int8)).tolist() == [[[[0]], [[0]]]]


@pytest.mark.grid(4)
@pytest.mark.parametrize("layout", ["NCHW", "NCHW8c"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize(
    "options", [{"ceil_mode": True, "strides": (2, 3)}, {"dilation": (1, 2), "padding": (3, 1, 2, 4)}]
)
def test_max_pool_by_rows_and_columns(layout, dtype, options):
    data = (random((2, 16, 19, 17)) * 20).astype(dtype)
    if dtype == "float32":
        data[0, 0, 5, 5] = np.nan
    if layout == "NCHW8c":
        data = np.ascontiguousarray(data.reshape(2, 2, 8, 19, 17).transpose(0, 1, 3, 4, 2))
    x = relay.var("x", shape=data.shape, dtype=dtype)
    pool = relay.nn.max_pool2d(x, pool_size=(7, 5), layout=layout, **options)
    (result,) = xrelay.compile(relay.Module.from_expr(pool), threads=1).run([data])
    expected = apply_op("nn.max_pool2d", data, pool_size=(7, 5), layout=layout, **options)
    np.testing.assert_array_equal(result, expected)
