"""Regions of images pooled to one size: against loops over their positions, at all levels."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy as np
import pytest
from support.one_op import Array, applied, program

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay

REGIONS = [
    [0, 0, 0, 5, 5],
    [1, 1.3, 2.7, 4.4, 3.1],
    [1, -3, -2.5, 20, 30],
    [0, 4, 4, 2, 1],
    [0, 50, 60, 70, 80],
    [1, 2, 2, 2, 2],
    [0, -0.6, -0.4, 6.6, 5.4],
]


def images(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def sampled(image: Array, y: float, x: float) -> tuple[Array, Array]:
    """The value at a position, and the greatest of its summands."""
    height, width = image.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.zeros(len(image)), np.zeros(len(image))
    y, x = (min(max(place, 0), extent - 1) for place, extent in ((y, height), (x, width)))
    terms: list[Array] = []
    for row, weight in ((floor(y), 1 - y + floor(y)), (min(floor(y) + 1, height - 1), y - floor(y))):
        for column, factor in ((floor(x), 1 - x + floor(x)), (min(floor(x) + 1, width - 1), x - floor(x))):
            terms.append(weight * factor * image[:, row, column].astype(np.float64))
    return sum(terms, np.zeros(len(image))), np.max(terms, 0)


def aligned_regions(data: Array, rois: Array, size: tuple[int, int], scale: float, **options: Any) -> Array:
    """Computes each position separately."""
    ratio, mode, aligned = options.get("sample_ratio", -1), options.get("mode", "avg"), options.get("aligned", False)
    result = np.zeros((len(rois), data.shape[1], *size))
    for number, (image, left, top, right, bottom) in enumerate(rois.astype(np.float64).tolist()):
        starts, lengths = [top * scale, left * scale], [(bottom - top) * scale, (right - left) * scale]
        bins = [(each if aligned else max(each, 1)) / count for each, count in zip(lengths, size, strict=True)]
        counts = [ratio if ratio > 0 else ceil(each) for each in bins]
        for p in np.ndindex(*size):
            values: list[Array] = []
            for s in np.ndindex(*(max(count, 0) for count in counts)):
                y, x = (starts[k] + p[k] * bins[k] + (s[k] + 0.5) * bins[k] / counts[k] for k in (0, 1))
                values.append(sampled(data[int(image)], y, x)[mode == "max_of_terms"])
            if values:
                result[(number, slice(None), *p)] = np.mean(values, 0) if mode == "avg" else np.max(values, 0)
    return result


@pytest.mark.grid(5)
@pytest.mark.parametrize("mode", ["avg", "max", "max_of_terms"])
@pytest.mark.parametrize("sample_ratio", [-1, 1, 3])
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align(mode: str, sample_ratio: int, aligned: bool) -> None:
    data, rois = images(2, 3, 6, 7), np.array(REGIONS, np.float32)
    options: dict[str, Any] = {"mode": mode, "sample_ratio": sample_ratio, "aligned": aligned}
    found = applied(
        "vision.roi_align", data, rois, pooled_size=(3, 2), spatial_scale=0.75, rtol=1e-5, atol=1e-6, **options
    )
    np.testing.assert_allclose(found, aligned_regions(data, rois, (3, 2), 0.75, **options), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_roi_align_of_other_types(dtype: str) -> None:
    data, rois = images(2, 3, 5, 4, dtype=dtype), np.array(REGIONS[:3], dtype)
    found = applied("vision.roi_align", data, rois, pooled_size=2, spatial_scale=1.0, rtol=1e-3, atol=1e-3)
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found, aligned_regions(data, rois, (2, 2), 1.0), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_of_many_channels(mode: str) -> None:
    data, rois = images(2, 11, 6, 7), np.array(REGIONS, np.float32)
    options: dict[str, Any] = {"mode": mode, "sample_ratio": 2}
    found = applied(
        "vision.roi_align", data, rois, pooled_size=(3, 2), spatial_scale=0.75, rtol=1e-5, atol=1e-6, **options
    )
    np.testing.assert_allclose(found, aligned_regions(data, rois, (3, 2), 0.75, **options), rtol=1e-4, atol=1e-5)


def test_roi_align_of_channels_that_come_last() -> None:
    data, rois = images(2, 5, 4, 3), np.array(REGIONS, np.float32)
    options: dict[str, Any] = {"pooled_size": (2, 3), "spatial_scale": 1.0}
    found = applied("vision.roi_align", data, rois, layout="NHWC", rtol=1e-5, atol=1e-6, **options)
    first = applied(
        "vision.roi_align", np.ascontiguousarray(data.transpose(0, 3, 1, 2)), rois, rtol=1e-5, atol=1e-6, **options
    )
    np.testing.assert_allclose(found, first.transpose(0, 2, 3, 1), rtol=1e-6, atol=1e-6)


@pytest.mark.grid(2)
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("sample_ratio", [-1, 2])
def test_roi_align_of_corners_that_are_no_places(mode: str, sample_ratio: int) -> None:
    far = [3e38, 1e9, -1e9, np.inf, -np.inf, np.nan]
    rois = np.array([[0, a, b, 4, 5] for a in far for b in (0.0, 1e9)], np.float32)
    applied(
        "vision.roi_align",
        images(1, 2, 4, 4),
        rois,
        pooled_size=2,
        spatial_scale=1.0,
        mode=mode,
        sample_ratio=sample_ratio,
        rtol=1e-4,
        atol=1e-5,
    )


def pooled_regions(data: Array, rois: Array, size: tuple[int, int], scale: float) -> Array:
    result = np.zeros((len(rois), data.shape[1], *size), data.dtype)
    for number, (image, *corners) in enumerate(rois.astype(np.float64).tolist()):
        left, top, right, bottom = (floor(abs(c * scale) + 0.5) * (1 if c > 0 else -1) for c in corners)
        for p, q in np.ndindex(*size):
            spans: list[slice] = []
            for k, low, high, extent in ((p, top, bottom, data.shape[2]), (q, left, right, data.shape[3])):
                step = max(high - low + 1, 1) / size[len(spans)]
                spans.append(slice(*(min(max(v + low, 0), extent) for v in (floor(k * step), ceil((k + 1) * step)))))
            if all(span.start < span.stop for span in spans):
                result[number, :, p, q] = data[(int(image), slice(None), *spans)].max((1, 2))
    return result


@pytest.mark.grid(2)
@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_roi_pool(dtype: str, scale: float) -> None:
    data, rois = images(2, 3, 6, 8, dtype=dtype), np.array(REGIONS, dtype)
    found = applied("vision.roi_pool", data, rois, pooled_size=(2, 4), spatial_scale=scale)
    np.testing.assert_array_equal(found, pooled_regions(data, rois, (2, 4), scale), strict=True)


def test_roi_pool_of_corners_that_are_no_places() -> None:
    far = [3e38, 1e9, -1e9, np.inf, -np.inf, np.nan, 0.49999997, -0.5, 2.5]
    rois = np.array([[0, a, b, 4, 5] for a in far for b in (0.0, 1e9)], np.float32)
    applied("vision.roi_pool", images(1, 2, 4, 4), rois, pooled_size=2, spatial_scale=1.0)


@pytest.mark.parametrize("op", ["vision.roi_align", "vision.roi_pool"])
def test_no_regions_and_no_channels(op: str) -> None:
    rois = np.array(REGIONS, np.float32)
    assert applied(op, images(2, 3, 4, 4), rois[:0], pooled_size=2, spatial_scale=1.0).shape == (0, 3, 2, 2)
    assert applied(op, images(2, 0, 4, 4), rois, pooled_size=2, spatial_scale=1.0).shape == (7, 0, 2, 2)


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", ["vision.roi_align", "vision.roi_pool"])
@pytest.mark.parametrize("image", [2, -1, np.nan, np.inf, 3e9])
def test_an_image_that_is_not_there(op: str, image: float) -> None:
    data, rois = images(2, 3, 4, 4), np.array([[image, 0, 0, 1, 1]], np.float32)
    module = program(op, data, rois, pooled_size=2, spatial_scale=1.0)
    with pytest.raises(InterpreterError):
        run_relay(module, [data, rois])
    with pytest.raises(ExecutionError):
        xrelay.compile(module, cache=False).run([data, rois])
