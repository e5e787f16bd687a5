"""Crops, dilations, grids, factors, mirrors and streams, against loops and numpy, at all levels."""

from __future__ import annotations

from math import floor
from typing import Any, Literal

import numpy as np
import pytest
from support.one_op import Array, applied, program

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay

BOXES = [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.85], [0.9, 0.8, 0.1, 0.3], [-0.5, 0.5, 1.5, 0.6], [0.5, 0.5, 0.5, 0.5]]


def values(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def cropped(data: Array, boxes: Array, images: Array, size: tuple[int, int], method: str, outside: float) -> Array:
    (height, width), result = data.shape[2:], np.full((len(boxes), data.shape[1], *size), outside)
    for number, (top, left, bottom, right) in enumerate(boxes.astype(np.float64)):
        for at in np.ndindex(*size):
            y, x = (
                (low + high) / 2 * (extent - 1)
                if count == 1
                else (low + place * (high - low) / (count - 1)) * (extent - 1)
                for low, high, extent, count, place in zip(
                    (top, left), (bottom, right), (height, width), size, at, strict=True
                )
            )
            if not (-1e-9 <= y <= height - 1 + 1e-9 and -1e-9 <= x <= width - 1 + 1e-9):
                continue
            y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
            image = data[images[number]].astype(np.float64)
            if method == "nearest_neighbor":
                result[(number, slice(None), *at)] = image[:, floor(y + 0.5), floor(x + 0.5)]
                continue
            i, j = min(floor(y), max(height - 2, 0)), min(floor(x), max(width - 2, 0))
            block = image[:, i : i + 2, j : j + 2]
            rows, columns = ([1 - v + k, v - k][: block.shape[1 + a]] for a, (v, k) in enumerate(((y, i), (x, j))))
            result[(number, slice(None), *at)] = np.einsum("chw,h,w->c", block, rows, columns)
    return result


@pytest.mark.grid(2)
@pytest.mark.parametrize("method", ["bilinear", "nearest_neighbor"])
@pytest.mark.parametrize("size", [(3, 4), (1, 5)])
def test_crop_and_resize(size: tuple[int, int], method: str) -> None:
    data, boxes, images = values(2, 3, 5, 6), np.array(BOXES, np.float32), np.array([0, 1, 1, 0, 1], np.int32)
    options: dict[str, Any] = {"crop_size": size, "method": method, "extrapolation_value": 0.5}
    found = applied("image.crop_and_resize", data, boxes, images, rtol=1e-5, atol=1e-6, **options)
    np.testing.assert_allclose(found, cropped(data, boxes, images, size, method, 0.5), rtol=1e-4, atol=1e-4)
    last = np.ascontiguousarray(data.transpose(0, 2, 3, 1))
    other = applied("image.crop_and_resize", last, boxes, images, layout="NHWC", rtol=1e-5, atol=1e-6, **options)
    np.testing.assert_allclose(other.transpose(0, 3, 1, 2), found, rtol=1e-6, atol=1e-6)


def test_crop_and_resize_of_corners_that_are_no_places() -> None:
    boxes = np.array([[a, 0, b, 1] for a in (np.nan, np.inf, -np.inf, 3e38) for b in (0.5, np.nan)], np.float32)
    applied("image.crop_and_resize", values(1, 2, 4, 4), boxes, np.zeros(8, np.int64), crop_size=(2, 3), rtol=1e-5)
    half = values(1, 2, 4, 4, dtype="float16"), boxes[:0].astype(np.float16), np.zeros(0, np.uint8)
    assert applied("image.crop_and_resize", *half, crop_size=(2, 2), out_dtype="float32").shape == (0, 2, 2, 2)


@pytest.mark.parametrize("image", [2, -1])
def test_a_crop_of_an_image_that_is_not_there(image: int) -> None:
    arrays = [values(2, 1, 3, 3), np.array(BOXES[:1], np.float32), np.array([image])]
    module = program("image.crop_and_resize", *arrays, crop_size=(2, 2))
    with pytest.raises(InterpreterError):
        run_relay(module, arrays)
    with pytest.raises(ExecutionError):
        xrelay.compile(module, cache=False).run(arrays)


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 4), (1, 5), (2, 1), (0, 3)])
def test_affine_grid(shape: tuple[int, int], dtype: str) -> None:
    data = values(2, 2, 3, dtype=dtype)
    tolerance = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
    found = applied("image.affine_grid", data, target_shape=shape, rtol=tolerance, atol=tolerance)
    y, x = (np.linspace(-1, 1, count) if count != 1 else np.zeros(1) for count in shape)
    places = np.stack([*np.meshgrid(x, y), np.ones(shape)])
    wanted = np.einsum("ndk,khw->ndhw", data.astype(np.float64), places)
    np.testing.assert_allclose(found, wanted, rtol=4 * tolerance, atol=4 * tolerance)


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "uint8"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_dilation2d(layout: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    data, weight = rng.integers(0, 90, (2, 3, 7, 6)).astype(dtype), rng.integers(0, 9, (3, 2, 3)).astype(dtype)
    options: dict[str, Any] = {"strides": (2, 1), "dilations": (3, 2), "padding": (1, 0, 2, 1), "data_layout": layout}
    padded = np.pad(data, ((0, 0), (0, 0), (1, 2), (0, 1)))
    wanted = np.zeros((2, 3, 4, 3), dtype)
    for i, j in np.ndindex(4, 3):
        window = padded[:, :, 2 * i : 2 * i + 4 : 3, j : j + 5 : 2] + weight
        wanted[:, :, i, j] = window.max((2, 3))
    if layout == "NCHW":
        found = applied("image.dilation2d", data, weight, **options)
    else:
        turned = [np.ascontiguousarray(each) for each in (data.transpose(0, 2, 3, 1), weight.transpose(1, 2, 0))]
        found = applied("image.dilation2d", *turned, kernel_layout="HWI", **options).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(found, wanted, strict=True)


def test_dilation2d_in_another_type() -> None:
    data, weight = np.full((1, 1, 3, 3), 200, np.uint8), np.full((1, 2, 2), 100, np.uint8)
    assert (applied("image.dilation2d", data, weight, out_dtype="int32") == 300).all()
    far = np.array([[[[np.nan, -np.inf], [np.inf, 1]]]], np.float32)
    applied("image.dilation2d", far, np.zeros((1, 1, 2), np.float32), padding=(0, 1))


def test_windows_of_a_dilation_that_lie_far_apart_take_no_memory_between_them() -> None:
    """The first and third rows of windows cover no data, only zeros."""
    data, weight = values(1, 1, 3, 4), np.full((1, 1, 1), 2, np.float32)
    found = applied("image.dilation2d", data, weight, strides=(2**40, 1), padding=(2**40, 0, 2**40, 0))
    np.testing.assert_array_equal(found[0, 0], [[2] * 4, data[0, 0, 0] + 2, [2] * 4])


@pytest.mark.grid(3)
@pytest.mark.parametrize("method", ["nearest_neighbor", "bilinear", "bicubic"])
@pytest.mark.parametrize(("high", "wide"), [(2.0, 3.0), (1.5, 0.7)])
def test_upsampling(method: str, high: float, wide: float) -> None:
    data = values(1, 2, 5, 4)
    for corners in (False, True):
        options: dict[str, Any] = {"align_corners": corners, "rtol": 1e-5, "atol": 1e-5}
        found = applied("nn.upsampling", data, scale_h=high, scale_w=wide, method=method, **options)
        sizes = floor(5 * high + 0.5), floor(4 * wide + 0.5)
        assert found.shape == (1, 2, *sizes)
        rows, columns = (
            np.arange(size) * ((extent - 1) / (size - 1) if corners else extent / size)
            for size, extent in zip(sizes, (5, 4), strict=True)
        )
        if method == "nearest_neighbor":
            nearest = [np.floor(places + corners / 2).astype(int) for places in (rows, columns)]
            np.testing.assert_array_equal(found, data[:, :, nearest[0][:, None], nearest[1]])
        if method == "bilinear":
            wanted = between(between(data, 2, rows), 3, columns)
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def between(data: Array, axis: int, places: Array) -> Array:
    """Linear interpolation at positions between the elements of an axis."""
    front = np.minimum(np.floor(places).astype(int), data.shape[axis] - 1)
    behind = np.minimum(front + 1, data.shape[axis] - 1)
    weights = (places - front).reshape([-1 if each == axis else 1 for each in range(data.ndim)])
    return data.take(front, axis) * (1 - weights) + data.take(behind, axis) * weights


def test_upsampling_of_channels_that_come_last() -> None:
    data = values(1, 3, 4, 2, dtype="float16")
    found = applied("nn.upsampling", data, scale_h=2.0, scale_w=2.0, layout="NHWC")
    np.testing.assert_array_equal(found, data.repeat(2, 1).repeat(2, 2), strict=True)


def test_upsampling_of_booleans_takes_the_nearest() -> None:
    image = values(1, 2, 3, 4) > 0
    found = applied("nn.upsampling", image, scale_h=2.0, scale_w=3.0)
    np.testing.assert_array_equal(found, image.repeat(2, 2).repeat(3, 3), strict=True)
    volume = image.reshape(1, 1, 2, 3, 4)
    nearest, whole = "nearest_neighbor", "asymmetric"
    found = applied("nn.upsampling3d", volume, scale_d=2.0, method=nearest, coordinate_transformation_mode=whole)
    np.testing.assert_array_equal(found, volume.repeat(2, 2), strict=True)
    # Half-pixel positions, the default, are a quarter before and after an element, and are rounded down.
    found = applied("nn.upsampling3d", volume, scale_d=2.0, method=nearest)
    np.testing.assert_array_equal(found, volume[:, :, [0, 0, 0, 1]], strict=True)


@pytest.mark.grid(3)
@pytest.mark.parametrize("method", ["nearest_neighbor", "trilinear"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
def test_upsampling3d(method: str, coordinates: str) -> None:
    options: dict[str, Any] = {"method": method, "coordinate_transformation_mode": coordinates}
    data = values(1, 2, 2, 3, 2)
    found = applied("nn.upsampling3d", data, scale_d=2.0, scale_h=2.0, scale_w=1.5, rtol=1e-5, atol=1e-5, **options)
    assert found.shape == (1, 2, 4, 6, 3)


@pytest.mark.grid(2)
@pytest.mark.parametrize("mode", ["SYMMETRIC", "REFLECT"])
@pytest.mark.parametrize("dtype", ["float32", "bool", "int8"])
def test_mirror_pad(mode: str, dtype: str) -> None:
    data = (np.arange(24).reshape(2, 3, 4) % (2 if dtype == "bool" else 100)).astype(dtype)
    for pairs in (((0, 0), (2, 1), (3, 3)), ((1, 1), (0, 2), (0, 0))):
        found = applied("nn.mirror_pad", data, pad_width=pairs, mode=mode)
        wanted = np.pad(data, pairs, mode="symmetric" if mode == "SYMMETRIC" else "reflect")
        np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("mode", ["edge", "reflect"])
def test_pad_of_rows_with_lanes(mode: Literal["edge", "reflect"]) -> None:
    data, pairs = values(3, 37), ((2, 1), (5, 2))
    found = applied("nn.pad", data, pad_width=pairs, pad_mode=mode)
    np.testing.assert_array_equal(found, np.pad(data, pairs, mode=mode), strict=True)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_fifo_buffer(axis: int, count: int) -> None:
    buffer, data = values(3, 2, 3), values(*((count, 2, 3) if axis == 0 else (3, 2, count)))
    found = applied("nn.fifo_buffer", data, buffer, axis=axis)
    wanted = np.concatenate([buffer, data], axis).take(range(count, count + 3), axis)
    np.testing.assert_array_equal(found, wanted, strict=True)
