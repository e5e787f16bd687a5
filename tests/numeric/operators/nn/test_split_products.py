"""Products of floats that are split into parts of bf16, at all levels, and the parts of special numbers."""

from __future__ import annotations

from typing import TypedDict

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.dialects.relay.ops.nn.split_products import SPLIT_AT_ONCE, split_array, split_filters
from xrelay.errors import LoweringError
from xrelay.interpreters.relay import run_relay

Array = NDArray[np.float32]


class Window(TypedDict):
    """The arguments of both convolutions of a test."""

    data_layout: str
    strides: tuple[int, ...]
    padding: tuple[int, ...]


def parts_of(data: Array) -> list[NDArray[np.float64]]:
    """The parts of `data` as native code and the interpreter compute them."""
    x = relay.var("x", shape=data.shape)
    split = relay.nn.contrib_split_floats(x)
    module = relay.Module.from_expr(relay.Function([x], split))
    (native,), (interpreted,) = compile(module, cache=False).run([data]), run_relay(module, [data])
    return [each.astype(np.float64) for each in (native, interpreted)]


def test_sum_of_parts_is_near_the_element() -> None:
    random = np.random.default_rng(0)
    data = random.standard_normal((5, 31)).astype(np.float32) * np.float32(10) ** random.integers(-30, 30, (5, 31))
    for parts in parts_of(data.astype(np.float32)):
        assert (np.abs(parts.sum(axis=0) - data) <= 2.0**-17 * np.abs(data)).all()


def test_parts_round_to_even() -> None:
    """1 + 2⁻⁸ is between two bf16 numbers; both parts are exact."""
    data = np.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8], np.float32)
    for parts in parts_of(data):
        np.testing.assert_array_equal(parts, [[1, 1 + 2**-6, -1], [2**-8, -(2**-8), -(2**-8)]])


def test_parts_of_many_floats_are_those_of_each() -> None:
    data = np.random.default_rng(1).standard_normal((3, SPLIT_AT_ONCE)).astype(np.float32)[:, 5:]
    np.testing.assert_array_equal(split_array(data), np.stack([split_array(row) for row in data], axis=1))


def test_parts_of_special_numbers() -> None:
    data = np.array([np.inf, -np.inf, np.nan, np.finfo(np.float32).max, 0.0], np.float32)
    for parts in parts_of(data):
        most = (2 - 2**-7) * 2.0**127
        np.testing.assert_array_equal(parts[0], [most, -most, np.nan, most, 0])
        np.testing.assert_array_equal(parts[1], [np.inf, -np.inf, np.nan, 2.0**120, 0])


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, np.finfo(np.float32).max, -np.finfo(np.float32).max])
def test_products_of_special_numbers(special: float) -> None:
    """A product of an infinity is an infinity, and that of a large number is finite."""
    random = np.random.default_rng(0)
    data, weight = (random.standard_normal((16, 64)).astype(np.float32) / 100 for _ in range(2))
    data[3, 5], weight[7, 9] = special, special
    x, w = relay.var("x", shape=data.shape), relay.var("w", shape=(1, 32, 16, 2))
    y = relay.nn.contrib_dense_split(relay.nn.contrib_split_floats(x), relay.nn.contrib_split_floats(w))
    module = relay.Module.from_expr(relay.Function([x, w], y))
    inputs = [data, np.ascontiguousarray(weight.reshape(1, 16, 32, 2).transpose(0, 2, 1, 3))]
    with np.errstate(invalid="ignore"):
        wanted = data @ weight.T
        for found in (compile(module, cache=False).run(inputs)[0], run_relay(module, inputs)[0]):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("rows", "units", "depth"),
    [
        ((1,), 16, 2),
        ((3, 5), 30, 6),
        ((7,), 48, 66),
        ((40,), 48, 128),
        ((40,), 8, 64),
        ((2, 19), 30, 64),
        ((20, 3), 48, 64),
        ((17, 1), 48, 64),
    ],
    ids=str,
)
def test_product_of_parts(rows: tuple[int, ...], units: int, depth: int) -> None:
    """The greatest error relative to the greatest result is some 1e-6, not that of bf16, 4e-3."""
    random = np.random.default_rng(depth)
    data = random.standard_normal((*rows, depth)).astype(np.float32)
    weight = random.standard_normal((units, depth)).astype(np.float32)
    x = relay.var("x", shape=data.shape)
    padded = np.pad(weight, [(0, -units % 16), (0, 0)])
    packed = np.ascontiguousarray(padded.reshape(-1, 16, depth // 2, 2).transpose(0, 2, 1, 3))
    y = relay.nn.contrib_dense_split(
        relay.nn.contrib_split_floats(x), relay.nn.contrib_split_floats(relay.const(packed)), units=units
    )
    module = relay.Module.from_expr(relay.Function([x], y))
    wanted = data.astype(np.float64) @ weight.astype(np.float64).T
    for found in (compile(module, cache=False).run([data])[0], run_relay(module, [data])[0]):
        assert found.shape == (*rows, units)
        assert np.abs(found - wanted).max() <= 1.5e-5 * np.abs(wanted).max()


@pytest.mark.parametrize("inner", [(), (3,)])
@pytest.mark.parametrize("threads", [1, 2])
def test_dynamic_rows(threads: int, inner: tuple[int, ...]) -> None:
    """The rest of the rows is a full tile of copied rows."""
    random = np.random.default_rng(0)
    weight = random.standard_normal((48, 64)).astype(np.float32)
    x = relay.var("x", shape=(relay.Any(), *inner, 64))
    packed = np.ascontiguousarray(weight.reshape(3, 16, 32, 2).transpose(0, 2, 1, 3))
    y = relay.nn.contrib_dense_split(
        relay.nn.contrib_split_floats(x), relay.nn.contrib_split_floats(relay.const(packed))
    )
    module = relay.Module.from_expr(relay.Function([x], y))
    model = compile(module, cache=False, specialize=False, threads=threads)
    for rows in (0, 1, 15, 16, 17, 40, 63):
        data = random.standard_normal((rows, *inner, 64)).astype(np.float32)
        wanted = data.astype(np.float64) @ weight.astype(np.float64).T
        (found,) = model.run([data])
        assert found.shape == wanted.shape
        assert np.all(np.abs(found - wanted) <= 1.5e-5 * np.abs(wanted).max(initial=0))


@pytest.mark.parametrize(
    ("data", "weight"),
    [((2, 3, 0), (2, 1, 0, 16, 2)), ((2, 3, 4), (2, 0, 2, 16, 2)), ((2, 0, 3, 4), (2, 0, 1, 2, 16, 2))],
)
def test_empty_product(data: tuple[int, ...], weight: tuple[int, ...]) -> None:
    x, w = (relay.var(name, shape=shape, dtype="bfloat16") for name, shape in (("x", data), ("w", weight)))
    module = relay.Module.from_expr(relay.Function([x, w], relay.nn.contrib_dense_split(x, w)))
    inputs = [np.ones(shape, ml_dtypes.bfloat16) for shape in (data, weight)]
    for found in (compile(module, cache=False).run(inputs)[0], run_relay(module, inputs)[0]):
        np.testing.assert_array_equal(found, np.zeros((*data[1:-1], weight[-4] * 16)))


@pytest.mark.parametrize(("channels", "filters"), [(0, 16), (16, 0)])
def test_empty_convolution(channels: int, filters: int) -> None:
    weight = split_filters(np.ones((filters, channels, 3, 3), np.float32))
    data = np.ones((1, channels, 5, 5), np.float32)
    x = relay.var("x", shape=data.shape)
    module = relay.Module.from_expr(relay.Function([x], relay.nn.contrib_conv2d_split(x, relay.const(weight))))
    for found in (compile(module, cache=False).run([data])[0], run_relay(module, [data])[0]):
        np.testing.assert_array_equal(found, np.zeros((1, filters, 3, 3)))


def test_weight_of_dynamic_extents_is_refused() -> None:
    x, w = relay.var("x", shape=(2, 3, 64)), relay.var("w", shape=(2, relay.Any(), 32, 16, 2), dtype="bfloat16")
    y = relay.nn.contrib_dense_split(x.astype("bfloat16"), w)
    with pytest.raises(LoweringError, match=r"contrib_dense_split.*the weight"):
        compile(relay.Module.from_expr(relay.Function([x, w], y)), cache=False)


def test_numbers_of_bf16_have_one_product() -> None:
    """The products of bf16 are exact in f32, so the error is that of the sums alone."""
    random = np.random.default_rng(1)
    data = random.standard_normal((35, 96)).astype(ml_dtypes.bfloat16)
    weight = random.standard_normal((40, 96)).astype(ml_dtypes.bfloat16)
    x = relay.var("x", shape=data.shape, dtype="bfloat16")
    y = relay.nn.dense(x, relay.const(weight), out_dtype="float32")
    (found,) = compile(relay.Module.from_expr(relay.Function([x], y)), cache=False).run([data])
    wanted = data.astype(np.float64) @ weight.astype(np.float64).T
    assert np.abs(found - wanted).max() <= 1e-6 * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("channels", "filters", "size", "kernel", "stride", "dynamic"),
    [
        (32, 16, 14, 3, 1, ""),
        (48, 64, 9, 1, 1, ""),
        (16, 48, 16, 5, 2, ""),
        (64, 32, 28, 1, 2, "n"),
        (32, 32, 7, 3, 1, "nh"),
        (64, 16, 112, 3, 1, ""),
        (64, 16, 112, 3, 1, "n"),
        (48, 64, 15, 5, 2, "nh"),
        (32, 32, 7, 3, 1, "w"),
        (64, 48, 37, 1, 2, "nhw"),
        (48, 64, 16, 3, 1, "hw"),
    ],
)
def test_convolution_by_parts(channels: int, filters: int, size: int, kernel: int, stride: int, dynamic: str) -> None:
    """Blocks of 16 channels are filled up to 32, tiles have several rows of small images, large images have pieces.

    The size of the image may be dynamic.
    """
    random = np.random.default_rng(0)
    weight = random.standard_normal((filters, channels, kernel, kernel)).astype(np.float32)
    data = random.standard_normal((2, channels // 16, size, size, 16)).astype(np.float32)
    window: Window = {"data_layout": "NCHW16c", "strides": (stride, stride), "padding": (kernel // 2,) * 4}
    extents = zip("nchwb", data.shape, strict=True)
    x = relay.var("x", shape=[relay.Any() if name in dynamic else extent for name, extent in extents])
    packed = split_filters(weight).reshape(filters // 16, 16, -1, 2, kernel, kernel).transpose(0, 2, 4, 5, 1, 3)
    split = relay.const(np.ascontiguousarray(packed))
    y = relay.nn.contrib_conv2d_split(x, split, kernel_layout="OIHW16o2i", **window)
    module = relay.Module.from_expr(relay.Function([x], relay.nn.relu(y)))
    double = relay.const(weight.astype(np.float64))
    direct = relay.nn.conv2d(x.astype("float64"), double, kernel_layout="OIHW", **window)
    (wanted,) = run_relay(relay.Module.from_expr(relay.Function([x], relay.nn.relu(direct))), [data])
    for threads in (1, 2):
        (found,) = compile(module, threads=threads, cache=False).run([data])
        assert np.abs(found - wanted).max() <= 1.5e-5 * np.abs(wanted).max()
    (found,) = run_relay(module, [data])
    assert np.abs(found - wanted).max() <= 1.5e-5 * np.abs(wanted).max()
