"""Elementwise ops, reductions and transforms against Python's own arithmetic, index by index."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from xrelay.errors import ConstraintError, InterpreterError
from xrelay.interpreters.relay import apply_op


def random(shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


UNARY = {
    "abs": abs,
    "erf": math.erf,
    "exp": math.exp,
    "log": lambda x: math.log(x) if x > 0 else math.nan,
    "negative": lambda x: -x,
    "nn.relu": lambda x: max(x, 0.0),
    "rsqrt": lambda x: 1 / math.sqrt(x) if x > 0 else math.nan,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "tanh": math.tanh,
}


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_unary(name, dtype):
    data = random((3, 5), dtype=dtype)
    result = apply_op(name, data)
    expected = np.array([UNARY[name](float(x)) for x in data.ravel()]).reshape(data.shape)
    tolerance = {np.float32: 1e-6, np.float64: 1e-12, np.float16: 2e-3, ml_dtypes.bfloat16: 2e-2}[dtype]
    assert result.dtype == dtype
    np.testing.assert_allclose(result.astype(np.float64), expected, rtol=tolerance, atol=tolerance)


BINARY = {
    "add": lambda x, y: x + y,
    "divide": lambda x, y: x / y,
    "equal": lambda x, y: x == y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "maximum": max,
    "minimum": min,
    "multiply": lambda x, y: x * y,
    "not_equal": lambda x, y: x != y,
    "power": lambda x, y: x**y,
    "subtract": lambda x, y: x - y,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_broadcasts(name):
    lhs, rhs = np.abs(random((2, 3, 1))), np.round(random((3, 4), 1), 1) + np.float32(0.05)
    result = apply_op(name, lhs, rhs)
    assert result.shape == (2, 3, 4)
    for i, j, k in np.ndindex(2, 3, 4):
        assert result[i, j, k] == pytest.approx(BINARY[name](float(lhs[i, j, 0]), float(rhs[j, k])), rel=1e-5)


def test_integer_division_truncates():
    lhs, rhs = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    assert apply_op("divide", lhs, rhs).tolist() == [3, -3, -3, 3]
    with pytest.raises(InterpreterError, match="division by zero"):
        apply_op("divide", lhs, np.zeros(4, np.int32))


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ConstraintError, match="C2"):
        apply_op("add", random((2, 3)), random((2, 4)))


def test_clip_and_cast():
    data = np.array([-1.7, -0.2, 0.0, 2.9, 7.5], np.float32)
    np.testing.assert_array_equal(apply_op("clip", data, a_min=0, a_max=6), np.array([0, 0, 0, 2.9, 6], np.float32))
    integers = np.array([-9, 3, 250], np.int32)
    assert apply_op("clip", integers, a_min=-1e30, a_max=100.7).tolist() == [-9, 3, 100]
    assert apply_op("cast", data, dtype="int32").tolist() == [-1, 0, 0, 2, 7]
    assert apply_op("cast", data, dtype="bool").tolist() == [True, True, False, True, True]


REDUCTIONS = {"sum": math.fsum, "mean": lambda x: math.fsum(x) / len(x), "max": max, "min": min, "prod": math.prod}


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(
    ("attributes", "reduced"),
    [({}, (0, 1, 2)), ({"axis": 1}, (1,)), ({"axis": (0, -1)}, (0, 2)), ({"axis": (1,), "exclude": True}, (0, 2))],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, attributes, reduced, keepdims):
    data = random((2, 3, 4))
    result = apply_op(name, data, keepdims=keepdims, **attributes)
    groups: dict[tuple[int, ...], list[float]] = {}
    for index in np.ndindex(data.shape):
        kept = tuple(0 if axis in reduced else i for axis, i in enumerate(index))
        groups.setdefault(kept, []).append(float(data[index]))
    kept_axes = [axis for axis in range(3) if keepdims or axis not in reduced]
    for kept, values in groups.items():
        found = result[tuple(kept[axis] for axis in kept_axes)]
        assert found == pytest.approx(REDUCTIONS[name](values), rel=1e-5)


def test_many_small_numbers_keep_their_sum():
    data = np.full(1_000_000, 0.1, np.float32)
    assert apply_op("sum", data) == pytest.approx(100_000.0, rel=1e-6)


def test_batch_norm_and_its_switches():
    data = random((2, 3, 4, 4))
    gamma, beta, mean = (random(3, seed) for seed in (1, 2, 3))
    variance = np.abs(random(3, 4)) + 0.1
    result, mean_out, variance_out = apply_op("nn.batch_norm", data, gamma, beta, mean, variance, epsilon=1e-3)
    np.testing.assert_array_equal(mean_out, mean)
    np.testing.assert_array_equal(variance_out, variance)
    bare = apply_op("nn.batch_norm", data, gamma, beta, mean, variance, epsilon=1e-3, scale=False, center=False)[0]
    for n, c, h, w in np.ndindex(data.shape):
        normal = (float(data[n, c, h, w]) - float(mean[c])) / math.sqrt(float(variance[c]) + 1e-3)
        assert bare[n, c, h, w] == pytest.approx(normal, rel=1e-5, abs=1e-6)
        assert result[n, c, h, w] == pytest.approx(normal * float(gamma[c]) + float(beta[c]), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(axis):
    data = random((3, 4, 5)) * 50
    result = apply_op("nn.softmax", data, axis=axis)
    moved, found = np.moveaxis(data, axis, -1), np.moveaxis(result, axis, -1)
    for index in np.ndindex(moved.shape[:-1]):
        row = [math.exp(float(x) - float(moved[index].max())) for x in moved[index]]
        np.testing.assert_allclose(found[index], np.array(row) / math.fsum(row), rtol=1e-5, atol=1e-30)


def test_dropout_is_the_identity_with_a_mask_of_ones():
    data = random((2, 3))
    kept, mask = apply_op("nn.dropout", data, rate=0.3)
    np.testing.assert_array_equal(kept, data)
    np.testing.assert_array_equal(mask, np.ones_like(data))


@pytest.mark.parametrize(
    ("shape", "codes", "expected"),
    [
        ((2, 3, 4), (4, 0, 2), (4, 3, 2)),
        ((2, 3, 4), (2, 0, 0), (2, 3, 4)),
        ((2, 3, 4), (6, 1, -1), (6, 1, 4)),
        ((2, 3, 4), (3, -1, 8), (3, 1, 8)),
        ((2, 3, 4), (-1,), (24,)),
        ((2, 3, 4), (-2,), (2, 3, 4)),
        ((2, 3, 4), (2, -2), (2, 3, 4)),
        ((2, 3, 4), (-2, 1, 1), (2, 3, 4, 1, 1)),
        ((2, 3, 4), (-3, 4), (6, 4)),
        ((2, 3, 4, 5), (-3, -3), (6, 20)),
        ((2, 3, 4), (0, -3), (2, 12)),
        ((2, 3, 4), (-3, -2), (6, 4)),
        ((2, 3, 4), (-4, 1, 2, -2), (1, 2, 3, 4)),
        ((2, 3, 4), (2, -4, -1, 3, -2), (2, 1, 3, 4)),
    ],
)
def test_reshape_codes(shape, codes, expected):
    data = random(shape)
    result = apply_op("reshape", data, newshape=codes)
    assert result.shape == expected
    np.testing.assert_array_equal(result.ravel(), data.ravel())


def test_flatten_squeeze_and_expand():
    data = random((2, 1, 3, 1))
    assert apply_op("nn.batch_flatten", data).shape == (2, 3)
    assert apply_op("squeeze", data).shape == (2, 3)
    assert apply_op("squeeze", data, axis=-1).shape == (2, 1, 3)
    assert apply_op("expand_dims", data, axis=-1, num_newaxis=2).shape == (2, 1, 3, 1, 1, 1)
    assert apply_op("expand_dims", data, axis=1).shape == (2, 1, 1, 3, 1)


@pytest.mark.parametrize("axes", [None, (1, 2, 0), (-1, 0, 1)])
def test_transpose(axes):
    data = random((2, 3, 4))
    result = apply_op("transpose", data, axes=axes)
    order = [axis % 3 for axis in axes] if axes else [2, 1, 0]
    for index in np.ndindex(result.shape):
        source = tuple(index[order.index(axis)] for axis in range(3))
        assert result[index] == data[source]


def test_concatenate_and_split_are_inverse():
    data = random((3, 10, 2))
    parts = apply_op("split", data, indices_or_sections=(2, 2, 7), axis=1)
    assert [part.shape[1] for part in parts] == [2, 0, 5, 3]
    np.testing.assert_array_equal(apply_op("concatenate", parts, axis=-2), data)
    halves = apply_op("split", data, indices_or_sections=2, axis=1)
    np.testing.assert_array_equal(halves[1], data[:, 5:])


@given(st.integers(1, 9), st.sampled_from([2, 3, 4]))
@settings(max_examples=examples(25), deadline=None)
def test_layout_transform_fills_with_zeros(channels, factor):
    data = random((2, channels, 3, 4))
    result = apply_op("layout_transform", data, src_layout="NCHW", dst_layout=f"NCHW{factor}c")
    for n, outer, h, w, inner in np.ndindex(result.shape):
        channel = outer * factor + inner
        assert result[n, outer, h, w, inner] == (data[n, channel, h, w] if channel < channels else 0)
    back = apply_op("layout_transform", result, src_layout=f"NCHW{factor}c", dst_layout="NHWC")
    np.testing.assert_array_equal(back[..., :channels], data.transpose(0, 2, 3, 1))


def test_layout_transform_of_weights():
    data = random((8, 4, 3, 3))
    result = apply_op("layout_transform", data, src_layout="OIHW", dst_layout="OIHW2i4o")
    for o, i, h, w, inner_i, inner_o in np.ndindex(result.shape):
        assert result[o, i, h, w, inner_i, inner_o] == data[o * 4 + inner_o, i * 2 + inner_i, h, w]


def test_pad_modes():
    data = np.array([[1, 2, 3]], np.float32)
    value = np.array(9, np.float32)
    assert apply_op("nn.pad", data, value, pad_width=((1, 0), (0, 2))).tolist() == [[9] * 5, [1, 2, 3, 9, 9]]
    assert apply_op("nn.pad", data, value, pad_width=((0, 0), (1, 2)), pad_mode="edge").tolist() == [[1, 1, 2, 3, 3, 3]]
    reflected = apply_op("nn.pad", data, value, pad_width=((0, 0), (2, 1)), pad_mode="reflect")
    assert reflected.tolist() == [[3, 2, 1, 2, 3, 2]]


@pytest.mark.parametrize("name", ["exp", "nn.relu", "negative"])
def test_rank_zero_stays_an_array(name):
    assert isinstance(apply_op(name, np.array(1.5, np.float32)), np.ndarray)


def test_what_numpy_refuses_is_an_error_of_ours():
    with pytest.raises(InterpreterError, match=r"relay\.negative"):
        apply_op("negative", np.array([True]))


@pytest.mark.parametrize(
    ("dtype", "least", "greatest"),
    [("float16", -np.inf, np.inf), ("float32", -np.inf, np.inf), ("int8", -128, 127), ("uint64", 0, 2**64 - 1)],
)
def test_extrema_of_no_elements(dtype: str, least: Any, greatest: Any) -> None:
    data = np.zeros((0, 2), dtype)
    assert apply_op("max", data, axis=0).tolist() == [least] * 2
    assert apply_op("min", data, axis=0).tolist() == [greatest] * 2


def test_means_of_no_floats_are_nan_and_of_no_integers_an_error() -> None:
    assert np.isnan(apply_op("mean", np.zeros((0, 2), np.float32), axis=0)).all()
    assert np.isnan(apply_op("nn.global_avg_pool2d", np.zeros((1, 2, 0, 3), np.float32))).all()
    assert apply_op("nn.global_max_pool2d", np.zeros((1, 1, 0, 3), np.float32)).item() == -np.inf
    with pytest.raises(InterpreterError, match="division by zero"):
        apply_op("mean", np.zeros((0,), np.int32))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_means_of_integers_are_exact_and_truncated(dtype: str) -> None:
    greatest = int(np.iinfo(dtype).max) // 2
    assert apply_op("mean", np.array([greatest, greatest], dtype)).item() == greatest
    assert apply_op("mean", np.array([1, 2], dtype)).item() == 1
    if dtype != "uint64":
        assert apply_op("mean", np.array([-1, -2], dtype)).item() == -1


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_quotients_of_the_least_integer(dtype: str) -> None:
    least = int(np.iinfo(dtype).min)
    lhs, rhs = np.array([least, least, least, -7, 7, -7], dtype), np.array([-1, 2, 3, 2, -2, -2], dtype)
    assert apply_op("divide", lhs, rhs).tolist() == [least, least // 2, -(-least // 3), -3, -3, 3]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (4,)])
def test_powers_of_one_half_have_no_sign(dtype: str, shape: tuple[int, ...]) -> None:
    half = np.full(shape, 0.5, dtype)
    assert apply_op("power", np.full(shape, -np.inf, dtype), half).tolist() == np.full(shape, np.inf).tolist()
    assert not np.signbit(apply_op("power", np.full(shape, -0.0, dtype), half)).any()


def test_a_sigmoid_of_half_precision_reaches_as_far_as_its_numbers() -> None:
    assert apply_op("sigmoid", np.array([-13, -16], np.float16)).tolist() == pytest.approx([2.26e-6, 1.19e-7], rel=0.02)
