"""Boxes of single-shot detectors, and the passthrough layer of YOLO, at all levels."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_op import Array, applied, check, program


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("steps", [(-1.0, -1.0), (0.25, 0.5)])
def test_multibox_prior(steps: tuple[float, float], clip: bool) -> None:
    sizes, ratios, (height, width) = (0.5, 0.25), (1.0, 2.0, 0.5), (3, 4)
    data = np.zeros((2, 1, height, width), np.float32)
    options = {"sizes": sizes, "ratios": ratios, "steps": steps, "offsets": (0.5, 0.25), "clip": clip}
    found = applied("vision.multibox_prior", data, rtol=1e-6, atol=1e-6, **options)
    wanted: list[list[float]] = []
    for i, j in np.ndindex(height, width):
        y = (i + 0.5) * (steps[0] if steps[0] > 0 else 1 / height)
        x = (j + 0.25) * (steps[1] if steps[1] > 0 else 1 / width)
        for size, ratio in ((0.5, 1.0), (0.25, 1.0), (0.5, 2.0), (0.5, 0.5)):
            w, h = size * height / width * ratio**0.5 / 2, size / ratio**0.5 / 2
            wanted.append([x - w, y - h, x + w, y + h])
    np.testing.assert_allclose(found[0], np.clip(wanted, 0, 1) if clip else wanted, rtol=1e-5, atol=1e-6)


def multibox(classes: int, dtype: str = "float32") -> list[Array]:
    rng = np.random.default_rng(classes)
    scores = rng.uniform(0, 1, (2, classes, 7))
    anchors = np.sort(rng.uniform(0, 1, (1, 7, 2, 2)), 2).reshape(1, 7, 4)
    return [array.astype(dtype) for array in (scores, rng.standard_normal((2, 28)), anchors)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_multibox_transform_loc(dtype: str) -> None:
    arrays = multibox(4, dtype)
    arrays[0][1, 1:, 2] = [np.nan, 0.9, 0.9]
    tolerance = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-12}[dtype]
    module = program("vision.multibox_transform_loc", *arrays, threshold=0.75, clip=False)
    rows, counts = check(module, arrays, rtol=tolerance, atol=tolerance)
    scores, _, anchors = (array.astype(np.float64) for array in arrays)
    for image in range(2):
        best = np.nan_to_num(scores[image, 1:], nan=-1)
        kept = np.flatnonzero(best.max(0) >= np.float64(np.dtype(dtype).type(0.75)))
        assert counts[image] == len(kept)
        np.testing.assert_array_equal(rows[image, : len(kept), 0], best.argmax(0)[kept])
        np.testing.assert_array_equal(rows[image, : len(kept), 1], best.max(0)[kept])
        assert (rows[image, len(kept) :] == -1).all()
        dx, dy, dw, dh = arrays[1][image].astype(np.float64).reshape(7, 4).T * [[0.1], [0.1], [0.2], [0.2]]
        left, top, right, bottom = anchors[0].T
        x, y = (left + right) / 2 + dx * (right - left), (top + bottom) / 2 + dy * (bottom - top)
        w, h = np.exp(dw) * (right - left) / 2, np.exp(dh) * (bottom - top) / 2
        sides = np.stack([x - w, y - h, x + w, y + h], -1)[kept]
        np.testing.assert_allclose(rows[image, : len(kept), 2:], sides, rtol=4 * tolerance, atol=4 * tolerance)


def test_multibox_transform_loc_with_the_background() -> None:
    arrays = multibox(4)
    arrays[0][1, :, 2], arrays[0][0, :, 3] = [0.1, np.nan, 0.9, 0.9], [-1, np.nan, -2, -1]
    module = program("vision.multibox_transform_loc", *arrays, threshold=0.75, keep_background=True)
    rows, counts = check(module, arrays, rtol=1e-6, atol=1e-6)
    assert (counts == 7).all()
    scores = np.nan_to_num(arrays[0], nan=-1).clip(-1)
    np.testing.assert_array_equal(rows[..., 1], scores.max(1))
    np.testing.assert_array_equal(rows[..., 0], np.where(scores.max(1) >= 0.75, scores.argmax(1), 0))
    foreground = [each[:, 1:].copy() if number == 0 else each for number, each in enumerate(arrays)]
    padded = [np.concatenate([np.zeros_like(arrays[0][:, :1]), foreground[0]], 1), *foreground[1:]]
    others, _ = check(program("vision.multibox_transform_loc", *padded, threshold=-2.0), padded, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(rows[1, :, 2:], others[1, :, 2:], rtol=1e-6, atol=1e-6)


@pytest.mark.grid(2)
@pytest.mark.parametrize("classes", [0, 1, 2])
def test_multibox_transform_loc_of_few_classes(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_DEBUG", "1")
    arrays = multibox(classes)
    _, counts = check(program("vision.multibox_transform_loc", *arrays), arrays, rtol=1e-6, atol=1e-6)
    assert (counts == (7 if classes == 2 else 0)).all()


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_yolo_reorg(stride: int) -> None:
    n, c, h, w = 2, 2 * stride**2, 2 * stride, 3 * stride
    data = np.arange(n * c * h * w, dtype=np.int32).reshape(n, c, h, w)
    found = applied("vision.yolo_reorg", data, stride=stride)
    wanted, depth, flat = np.zeros_like(data), c // stride**2, data.reshape(-1)
    for b, k, j, i in np.ndindex(*data.shape):
        place, own = divmod(k, depth)
        row, column = j * stride + place // stride, i * stride + place % stride
        wanted[b, k, j, i] = flat[column + w * stride * (row + h * stride * (own + depth * b))]
    np.testing.assert_array_equal(found, wanted.reshape(n, c * stride**2, h // stride, w // stride), strict=True)


def test_no_probability_is_less_than_a_threshold_of_nan() -> None:
    arrays = multibox(3)
    _, counts = check(program("vision.multibox_transform_loc", *arrays, threshold=np.nan), arrays, rtol=1e-6, atol=1e-6)
    assert (counts == 7).all()
