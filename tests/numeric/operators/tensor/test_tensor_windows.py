"""Slice updates, windows, elements at several indices, and deformable convolutions, at all levels."""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
import pytest
from support.one_op import Array, applied, check

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay

LAST = (1 << 63) - 1
SLICES = [
    ([0], [2], [1]),
    ([1, 7], [4, 0], [2, -3]),
    ([-1, -2], [-9, -9], [-1, -1]),
    ([-LAST - 1, 3], [LAST, LAST], [1, LAST]),
    ([3, LAST], [0, -LAST - 1], [-LAST - 1, -2]),
    ([0, 0], [4, 8], [1, 0]),
    ([2, 5], [1, 5], [1, 1]),
]


@pytest.mark.grid(8)
@pytest.mark.parametrize(("begin", "end", "strides"), SLICES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_strided_set(begin: list[int], end: list[int], strides: list[int], dtype: str) -> None:
    data, wanted = (np.zeros((4, 8), dtype) for _ in range(2))
    bounds = [np.array(each, np.int64) for each in (begin, end, strides)]
    part = wanted[tuple(map(slice, begin, end, strides))] if 0 not in strides else wanted[:0]
    new = (np.arange(part.size).reshape(part.shape) + 1).astype(dtype)
    part[...] = new
    np.testing.assert_array_equal(applied("strided_set", data, new, *bounds), wanted, strict=True)


def test_strided_set_of_fewer_and_more_elements() -> None:
    data, bounds = np.zeros((3, 4), np.float32), [np.array([each]) for each in (0, 3, 1)]
    few, many = np.ones((2, 3), np.float32), np.ones((5, 9), np.float32)
    assert applied("strided_set", data, few, *bounds).sum() == 6
    assert applied("strided_set", data, many, *bounds).sum() == 12


@pytest.mark.parametrize(
    ("axis", "window", "strides"), [(1, (2, 3), (1, 2)), (-1, (5,), (3,)), (0, (1, 4, 7), (2, 1, 1))]
)
def test_sliding_window(axis: int, window: tuple[int, ...], strides: tuple[int, ...]) -> None:
    data = np.arange(2 * 4 * 7, dtype=np.int16).reshape(2, 4, 7)
    found = applied("sliding_window", data, axis=axis, window_shape=window, strides=strides)
    front = data.shape[: axis % 3]
    for at in np.ndindex(*found.shape):
        places, taps = at[len(front) : len(front) + len(window)], at[len(front) + len(window) :]
        inner = tuple(p * s + k for p, s, k in zip(places, strides, taps, strict=True))
        assert found[at] == data[(*at[: len(front)], *inner)]


def indexed(data: Array, *indices: Array) -> relay.Module:
    given = [relay.var(f"x{k}", shape=each.shape, dtype=each.dtype.name) for k, each in enumerate((data, *indices))]
    return relay.Module.from_expr(relay.adv_index(relay.Tuple(given)))


@pytest.mark.grid(2)
@pytest.mark.parametrize("shapes", [((3,),), ((2, 1), (4,)), ((), (2, 3)), ((0,), (1,)), ((2,), (2,), (1,))])
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint32"])
def test_adv_index(shapes: tuple[tuple[int, ...], ...], dtype: str) -> None:
    rng, data = np.random.default_rng(len(shapes)), np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    low = 0 if dtype == "uint32" else -3
    indices = [rng.integers(low, 3, shape).astype(dtype) for shape in shapes]
    (found,) = check(indexed(data, *indices), [data, *indices])
    np.testing.assert_array_equal(found, data[tuple(indices)], strict=True)


def test_an_index_that_is_not_there() -> None:
    arrays = [np.zeros((3, 4), np.float32), np.array([1, 0]), np.array([4])]
    with pytest.raises(InterpreterError):
        run_relay(indexed(*arrays), arrays)
    with pytest.raises(ExecutionError):
        xrelay.compile(indexed(*arrays), cache=False).run(arrays)


@pytest.mark.grid(2)
@pytest.mark.parametrize("multiplies", [True, False])
@pytest.mark.parametrize(
    ("size", "far", "stride1", "stride2", "padding"),
    [(1, 1, 1, 1, (1, 1)), (3, 2, 2, 1, (2, 1, 3, 3)), (1, 3, 1, 2, (3, 3))],
)
def test_correlation(
    size: int, far: int, stride1: int, stride2: int, padding: tuple[int, ...], multiplies: bool
) -> None:
    rng = np.random.default_rng(size)
    one, other = (rng.standard_normal((2, 3, 6, 7)).astype(np.float32) for _ in range(2))
    options: dict[str, Any] = {"kernel_size": size, "max_displacement": far, "stride1": stride1, "stride2": stride2}
    found = applied(
        "nn.correlation", one, other, padding=padding, is_multiply=multiplies, rtol=1e-5, atol=1e-5, **options
    )
    top, left, bottom, right = padding if len(padding) == 4 else padding * 2
    first, second = (np.pad(each, ((0, 0), (0, 0), (top, bottom), (left, right))) for each in (one, other))
    radius = far // stride2
    assert found.shape[1] == (2 * radius + 1) ** 2
    for n, q, i, j in np.ndindex(*found.shape):
        y, x = i * stride1 + far, j * stride1 + far
        v, u = (y + (q // (2 * radius + 1) - radius) * stride2, x + (q % (2 * radius + 1) - radius) * stride2)
        a, b = first[n, :, y : y + size, x : x + size], second[n, :, v : v + size, u : u + size]
        mean = (a * b if multiplies else np.abs(a - b)).mean()
        np.testing.assert_allclose(found[n, q, i, j], mean, rtol=1e-3, atol=1e-5)


def test_windows_of_a_correlation_that_lie_far_apart_take_no_memory_between_them() -> None:
    """The first and third rows of windows cover nothing of the images."""
    one, other = np.full((1, 2, 3, 4), 3, np.float32), np.full((1, 2, 3, 4), 5, np.float32)
    options: dict[str, Any] = {"max_displacement": 0, "stride1": 2**40, "padding": (2**40, 0, 2**40, 0)}
    np.testing.assert_array_equal(applied("nn.correlation", one, other, **options), [[[[0], [15], [0]]]])


def sampled(image: Array, y: float, x: float) -> float:
    height, width = image.shape
    if not (0 <= y < height and 0 <= x < width):
        return 0.0
    i, j = floor(y), floor(x)
    wide = np.pad(image, (0, 1))
    above = wide[i, j] * (1 - x + j) + wide[i, j + 1] * (x - j)
    below = wide[i + 1, j] * (1 - x + j) + wide[i + 1, j + 1] * (x - j)
    return float(above * (1 - y + i) + below * (y - i))


@pytest.mark.grid(2)
@pytest.mark.parametrize(("groups", "parts"), [(1, 1), (2, 1), (1, 2), (2, 4)])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_deformable_conv2d(groups: int, parts: int, layout: str) -> None:
    rng = np.random.default_rng(groups + parts)
    data = rng.standard_normal((2, 4, 5, 6)).astype(np.float32)
    weight = rng.standard_normal((2, 4 // groups, 2, 3)).astype(np.float32)
    height, width = (5 + 1 - 3) // 2 + 1, (6 + 2 - 3) // 1 + 1
    offset = rng.uniform(-2, 2, (2, 12 * parts, height, width)).astype(np.float32)
    offset[0, 0, 0, 0] = np.nan
    options: dict[str, Any] = {"strides": (2, 1), "padding": (1, 1, 0, 1), "dilation": (2, 1), "groups": groups}
    arrays, kernel = [data, offset, weight], "OIHW"
    if layout == "NHWC":
        arrays = [data.transpose(0, 2, 3, 1), offset.transpose(0, 2, 3, 1), weight.transpose(2, 3, 1, 0)]
        arrays, kernel = [np.ascontiguousarray(each) for each in arrays], "HWIO"
    found = applied(
        "nn.deformable_conv2d", *arrays, deformable_groups=parts, data_layout=layout, kernel_layout=kernel,
        rtol=1e-4, atol=1e-4, **options,
    )  # fmt: skip
    found = found if layout == "NCHW" else found.transpose(0, 3, 1, 2)
    for n, f, i, j in np.ndindex(*found.shape):
        total = 0.0
        for c, k, m in np.ndindex(*weight.shape[1:]):
            channel = f // (2 // groups) * weight.shape[1] + c
            tap = (channel // (4 // parts) * 6 + k * 3 + m) * 2
            y, x = i * 2 - 1 + k * 2 + offset[n, tap, i, j], j - 1 + m + offset[n, tap + 1, i, j]
            total += sampled(data[n, channel], float(y), float(x)) * float(weight[f, c, k, m])
        np.testing.assert_allclose(found[n, f, i, j], total, rtol=1e-3, atol=1e-4)
