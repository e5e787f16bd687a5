"""`relay.nn.conv2d` and `relay.nn.dense` against loops over every index."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from xrelay.errors import ConstraintError
from xrelay.interpreters.relay import apply_op


def naive_conv2d(data, weight, strides, pads, dilation, groups):
    """(N, C, H, W) by (O, C / groups, R, S), one multiplication at a time."""
    top, left, bottom, right = pads
    batch, _, height, width = data.shape
    out_channels, depth, rows, columns = weight.shape
    out_height = (height + top + bottom - dilation[0] * (rows - 1) - 1) // strides[0] + 1
    out_width = (width + left + right - dilation[1] * (columns - 1) - 1) // strides[1] + 1
    result = np.zeros((batch, out_channels, out_height, out_width), np.float64)
    for n, o, y, x in np.ndindex(result.shape):
        group = o // (out_channels // groups)
        for i, r, s in product(range(depth), range(rows), range(columns)):
            h, w = y * strides[0] + r * dilation[0] - top, x * strides[1] + s * dilation[1] - left
            if 0 <= h < height and 0 <= w < width:
                result[n, o, y, x] += float(data[n, group * depth + i, h, w]) * float(weight[o, i, r, s])
    return result


def random(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def block_channels(array, axis_of_blocks):
    """Splits axes into (outer, inner) by (axis, factor), and moves the inner parts to the end in order."""
    for axis, factor in axis_of_blocks:
        extent = array.shape[axis]
        array = array.reshape(*array.shape[:axis], extent // factor, factor, *array.shape[axis + 1 :])
        array = np.moveaxis(array, axis + 1, -1)
    return array


@st.composite
def convolutions(draw):
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    depth, per_group = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    size = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    dilation = (draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    strides = (draw(st.integers(1, 3)), draw(st.integers(1, 2)))
    pads = tuple(draw(st.integers(0, 2)) for _ in range(4))
    height = draw(st.integers(max(1, dilation[0] * (size[0] - 1) + 1 - pads[0] - pads[2]), 7))
    width = draw(st.integers(max(1, dilation[1] * (size[1] - 1) + 1 - pads[1] - pads[3]), 7))
    data = random((draw(st.integers(1, 2)), groups * depth, height, width), 1)
    return data, random((groups * per_group, depth, *size), 2), strides, pads, dilation, groups


@given(convolutions())
@settings(max_examples=examples(40), deadline=None)
def test_any_parameters(case):
    data, weight, strides, pads, dilation, groups = case
    result = apply_op("nn.conv2d", data, weight, strides=strides, padding=pads, dilation=dilation, groups=groups)
    expected = naive_conv2d(data, weight, strides, pads, dilation, groups)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_depthwise():
    data, weight = random((1, 4, 5, 6)), random((8, 1, 3, 3), 1)
    result = apply_op("nn.conv2d", data, weight, groups=4, padding=1)
    np.testing.assert_allclose(
        result, naive_conv2d(data, weight, (1, 1), (1, 1, 1, 1), (1, 1), 4), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(("padding", "pads"), [(2, (2, 2, 2, 2)), ((1, 2), (1, 2, 1, 2)), ((0, 1, 2, 1), (0, 1, 2, 1))])
def test_padding_of_one_two_and_four_numbers(padding, pads):
    data, weight = random((1, 2, 4, 4)), random((2, 2, 3, 3), 1)
    result = apply_op("nn.conv2d", data, weight, padding=padding)
    np.testing.assert_allclose(result, naive_conv2d(data, weight, (1, 1), pads, (1, 1), 1), rtol=1e-4, atol=1e-5)


def test_nhwc_with_hwio():
    data, weight = random((2, 3, 5, 6)), random((4, 3, 3, 2), 1)
    result = apply_op(
        "nn.conv2d",
        data.transpose(0, 2, 3, 1),
        weight.transpose(2, 3, 1, 0),
        strides=(2, 1),
        data_layout="NHWC",
        kernel_layout="HWIO",
    )
    expected = naive_conv2d(data, weight, (2, 1), (0, 0, 0, 0), (1, 1), 1)
    np.testing.assert_allclose(result, expected.transpose(0, 2, 3, 1), rtol=1e-4, atol=1e-5)


def test_blocked_channels():
    data, weight = random((1, 8, 5, 5)), random((12, 8, 3, 3), 1)
    result = apply_op(
        "nn.conv2d",
        block_channels(data, [(1, 4)]),
        block_channels(weight, [(1, 4), (0, 6)]),
        padding=1,
        data_layout="NCHW4c",
        kernel_layout="OIHW4i6o",
        out_layout="NCHW6c",
    )
    expected = naive_conv2d(data, weight, (1, 1), (1, 1, 1, 1), (1, 1), 1)
    np.testing.assert_allclose(result, block_channels(expected, [(1, 6)]), rtol=1e-4, atol=1e-5)


def test_integers_accumulate_in_the_output_type():
    rng = np.random.default_rng(0)
    data = rng.integers(-128, 127, (1, 16, 4, 4)).astype(np.int8)
    weight = rng.integers(-128, 127, (3, 16, 3, 3)).astype(np.int8)
    result = apply_op("nn.conv2d", data, weight, out_dtype="int32")
    expected = naive_conv2d(data, weight, (1, 1), (0, 0, 0, 0), (1, 1), 1)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, expected.astype(np.int32))


def test_dense_of_any_rank():
    data, weight = random((2, 3, 5)), random((4, 5), 1)
    result = apply_op("nn.dense", data, weight, units=4)
    expected = [
        [[sum(data[i, j, k] * weight[u, k] for k in range(5)) for u in range(4)] for j in range(3)] for i in (0, 1)
    ]
    np.testing.assert_allclose(result, np.array(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_bias_add(axis):
    data = random((3, 4, 5))
    bias = random((data.shape[axis],), 1)
    expected = data.copy()
    for index in np.ndindex(data.shape):
        expected[index] += bias[index[axis]]
    np.testing.assert_array_equal(apply_op("nn.bias_add", data, bias, axis=axis), expected)


def test_constraints_reach_python():
    with pytest.raises(ConstraintError, match=r"\[relay.nn.conv2d C3\] the weight .* 2 .* 3"):
        apply_op("nn.conv2d", random((1, 3, 4, 4)), random((2, 2, 3, 3)))
    with pytest.raises(ConstraintError, match="'stride'"):
        apply_op("nn.conv2d", random((1, 3, 4, 4)), random((2, 3, 3, 3)), stride=2)
