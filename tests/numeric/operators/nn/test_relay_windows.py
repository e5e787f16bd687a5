"""Convolutions and pools of one, two and three spatial axes: native, interpreter and loops over every index agree."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.levels import check_levels, graph_of
from support.op_cases import OpCase

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.dialects.relay.meaning.windows import places_in_steps
from xrelay.index_algebra.windows import WindowAxis, sides_of, window_of
from xrelay.interpreters.relay import apply_op

Array = np.ndarray[Any, Any]
AXES = {1: "W", 2: "HW", 3: "DHW"}


def native(op: str, *arrays: Array, **attributes: Any) -> Array:
    """The single op, compiled."""
    inputs = [relay.var(f"x{number}", shape=array.shape, dtype=str(array.dtype)) for number, array in enumerate(arrays)]
    call = getattr(relay.nn, op.removeprefix("nn."))(*inputs, **attributes)
    return compile(relay.Module.from_expr(relay.Function(inputs, call)), cache=False, threads=1).run(arrays)[0]


def both(op: str, *arrays: Array, **attributes: Any) -> Array:
    """Returns the interpreter's result; checks that native code agrees."""
    result = apply_op(op, *arrays, **attributes)
    found = native(op, *arrays, **attributes)
    tolerance = {"f": 1e-5}.get(result.dtype.kind, 0) if result.dtype != np.float16 else 2e-3
    np.testing.assert_allclose(found, result, rtol=tolerance, atol=tolerance)
    return result


def inside(window: tuple[WindowAxis[int], ...], at: tuple[int, ...], sizes: tuple[int, ...]):
    """The taps of the window at `at` whose positions are inside the data, each with its position."""
    for tap in product(*(range(axis.size) for axis in window)):
        place = tuple(axis.place(i, t) for axis, i, t in zip(window, at, tap, strict=True))
        if all(0 <= index < size for index, size in zip(place, sizes, strict=True)):
            yield tap, place


def naive_conv(data: Array, weight: Array, window: tuple[WindowAxis[int], ...], groups: int) -> Array:
    counts = [axis.count(extent) for axis, extent in zip(window, data.shape[2:], strict=True)]
    result = np.zeros((data.shape[0], weight.shape[0], *counts), np.float64)
    per_group, depth = weight.shape[0] // groups, weight.shape[1]
    for n, o, *at in np.ndindex(result.shape):
        first = o // per_group * depth
        for tap, place in inside(window, tuple(at), data.shape[2:]):
            image = data[(n, slice(first, first + depth), *place)].astype(np.float64)
            result[(n, o, *at)] += image @ weight[(o, slice(None), *tap)].astype(np.float64)
    return result


def naive_pool(data: Array, window: tuple[WindowAxis[int], ...], ceil_mode: bool, summarise: Any) -> Array:
    counts = [axis.count(extent, partial=ceil_mode) for axis, extent in zip(window, data.shape[2:], strict=True)]
    result = np.zeros((*data.shape[:2], *counts), np.float64)
    for at in np.ndindex(result.shape):
        found = [data[(*at[:2], *place)] for _, place in inside(window, at[2:], data.shape[2:])]
        result[at] = summarise(found, at[2:])
    return result


@st.composite
def windows(draw: st.DrawFn, rank: int):
    """A window and extents that it fits: including primes, ones, and data smaller than the window."""
    sizes = [draw(st.integers(1, 3)) for _ in range(rank)]
    padding = [draw(st.integers(0, 2)) for _ in range(2 * rank)]
    strides, dilation = ([draw(st.integers(1, most)) for _ in range(rank)] for most in (3, 2))
    window = window_of(sizes, strides, dilation, padding)
    least = [max(1, axis.reach - axis.before - axis.after) for axis in window]
    return window, tuple(draw(st.integers(low, max(low, 7 - rank))) for low in least)


def attributes_of(window: tuple[WindowAxis[int], ...]) -> dict[str, Any]:
    return {
        "strides": tuple(axis.stride for axis in window),
        "padding": sides_of(window),
        "dilation": tuple(axis.dilation for axis in window),
    }


def random(*shape: int, dtype: str = "float32") -> Array:
    rng = np.random.default_rng(prod(shape))
    values = rng.integers(-9, 9, shape) if "int" in dtype else rng.standard_normal(shape)
    return values.astype(dtype)


@pytest.mark.parametrize("rank", [1, 2, 3])
@given(drawn=st.data())
@settings(max_examples=examples(4, more=2), deadline=None)
def test_convolutions(rank: int, drawn: st.DataObject) -> None:
    window, extents = drawn.draw(windows(rank))
    groups, depth, per_group = drawn.draw(
        st.tuples(st.sampled_from([1, 1, 2, 3]), st.integers(1, 3), st.integers(1, 2))
    )
    data = random(drawn.draw(st.integers(1, 2)), groups * depth, *extents)
    weight = random(groups * per_group, depth, *(axis.size for axis in window))
    found = both(f"nn.conv{rank}d", data, weight, groups=groups, **attributes_of(window))
    np.testing.assert_allclose(found, naive_conv(data, weight, window, groups), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 2, 3])
@given(drawn=st.data())
@settings(max_examples=examples(4, more=2), deadline=None)
def test_pools(rank: int, drawn: st.DataObject) -> None:
    window, extents = drawn.draw(windows(rank))
    ceil_mode, include = drawn.draw(st.booleans()), drawn.draw(st.booleans())
    data = random(1, drawn.draw(st.sampled_from([1, 2, 5])), *extents)
    common = attributes_of(window) | {"pool_size": [axis.size for axis in window], "ceil_mode": ceil_mode}
    found = both(f"nn.max_pool{rank}d", data, **common)
    expected = naive_pool(data, window, ceil_mode, lambda elements, at: max(elements, default=-np.inf))
    np.testing.assert_array_equal(found, expected.astype(np.float32))

    def mean(elements: list[float], at: tuple[int, ...]) -> float:
        counted = prod(
            sum(-axis.before <= axis.place(i, tap) < extent + axis.after for tap in range(axis.size))
            for axis, i, extent in zip(window, at, extents, strict=True)
        )
        return sum(map(float, elements)) / max(counted if include else len(elements), 1)

    found = both(f"nn.avg_pool{rank}d", data, count_include_pad=include, **common)
    np.testing.assert_allclose(found, naive_pool(data, window, ceil_mode, mean), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 2, 3])
@given(drawn=st.data())
@settings(max_examples=examples(3, more=2), deadline=None)
def test_places_of_maxima(rank: int, drawn: st.DataObject) -> None:
    window, extents = drawn.draw(windows(rank))
    column_major, dtype = (
        drawn.draw(st.booleans()),
        drawn.draw(st.sampled_from(["float32", "int8", "uint8", "float64"])),
    )
    data = np.random.default_rng(0).integers(0, 5, (1, 2, *extents)).astype(dtype)
    if dtype.startswith("float"):
        data = np.where(data == 4, np.nan, np.where(data == 3, -np.inf, data)).astype(dtype)
    common = attributes_of(window) | {"pool_size": [axis.size for axis in window]}
    found = both(f"nn.max_pool{rank}d_indices", data, column_major=column_major, **common)
    for at in np.ndindex(found.shape):
        image = data[at[:2]]
        places = [place for _, place in inside(window, at[2:], extents)]
        numbers = [np.ravel_multi_index(place, extents, order="F" if column_major else "C") for place in places]
        best = np.argmax([image[place] for place in places]) if places else -1
        assert found[at] == (numbers[best] if places else -1)


@pytest.mark.grid(2)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("channels", [1, 7, 0])
def test_global_pools(rank: int, channels: int) -> None:
    data = random(2, channels, *(5, 3, 4)[:rank])
    axes = tuple(range(2, data.ndim))
    np.testing.assert_array_equal(both(f"nn.global_max_pool{rank}d", data), data.max(axes, keepdims=True))
    found = both(f"nn.global_avg_pool{rank}d", data)
    np.testing.assert_allclose(found, data.mean(axes, keepdims=True), rtol=1e-5, atol=1e-6)


@pytest.mark.grid(9)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int32", "int64"])
def test_dtypes(rank: int, dtype: str) -> None:
    data, weight = random(1, 4, *(5, 4, 6)[:rank], dtype=dtype), random(6, 2, *[2] * rank, dtype=dtype)
    both(f"nn.conv{rank}d", data, weight, groups=2, padding=1)
    both(f"nn.max_pool{rank}d", data, pool_size=2, padding=1)
    if dtype.startswith("float"):
        both(f"nn.avg_pool{rank}d", data, pool_size=2, padding=1, strides=2)
        both(f"nn.global_avg_pool{rank}d", data)
    both(f"nn.global_max_pool{rank}d", data)


@pytest.mark.parametrize("rank", [1, 3])
def test_convolutions_of_last_channels(rank: int) -> None:
    axes, extents = AXES[rank], (4, 5, 6)[:rank]
    data, weight = random(2, 4, *extents), random(6, 2, *[3] * rank)
    last, first = (0, *range(2, 2 + rank), 1), (0, 1 + rank, *range(1, 1 + rank))
    plain = both(f"nn.conv{rank}d", data, weight, groups=2, padding=1)
    layouts = {"data_layout": f"N{axes}C", "kernel_layout": f"{axes}IO"}
    filters = weight.transpose(*range(2, 2 + rank), 1, 0)
    found = both(f"nn.conv{rank}d", data.transpose(last), filters, groups=2, padding=1, **layouts)
    np.testing.assert_allclose(found.transpose(first), plain, rtol=1e-5, atol=1e-5)


@pytest.mark.grid(2)
@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("pool", ["max_pool", "avg_pool", "global_avg_pool", "global_max_pool"])
def test_pools_of_last_channels_and_any_other_layout(pool: str, rank: int) -> None:
    op, axes, extents = f"nn.{pool}{rank}d", AXES[rank], (4, 5, 6)[:rank]
    data, last, first = random(2, 4, *extents), (0, *range(2, 2 + rank), 1), (0, 1 + rank, *range(1, 1 + rank))
    window = {} if "global" in op else {"pool_size": 2, "strides": 2, "padding": 1}
    plain = both(op, data, **window)
    found = both(op, data.transpose(last), layout=f"N{axes}C", **window)
    np.testing.assert_allclose(found.transpose(first), plain, rtol=1e-6)
    turned = both(op, data, out_layout=f"N{axes}C", **window)
    np.testing.assert_allclose(turned.transpose(first), plain, rtol=1e-6)
    blocked = np.moveaxis(data.reshape(2, 2, 2, *extents), 2, -1)
    found = both(op, blocked, layout=f"NC{axes}2c", **window)
    np.testing.assert_allclose(np.moveaxis(found, -1, 2).reshape(plain.shape), plain, rtol=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_filters_without_channels_sum_nothing(rank: int) -> None:
    found = both(f"nn.conv{rank}d", random(1, 0, *[4] * rank), random(3, 0, *[2] * rank))
    assert found.shape == (1, 3, *[3] * rank)
    assert not found.any()


def naive_transpose(data: Array, weight: Array, window: tuple[WindowAxis[int], ...], extra: list[int], groups: int):
    """Every element of the data adds its filters, one product at a time."""
    extents = [
        axis.covered(extent) - axis.before - axis.after + more
        for axis, extent, more in zip(window, data.shape[2:], extra, strict=True)
    ]
    depth, filters = data.shape[1] // groups, weight.shape[1]
    result = np.zeros((data.shape[0], filters * groups, *extents), np.float64)
    for n, c, *at in np.ndindex(data.shape):
        for tap in np.ndindex(weight.shape[2:]):
            place = [axis.place(i, t) for axis, i, t in zip(window, at, tap, strict=True)]
            if all(0 <= index < extent for index, extent in zip(place, extents, strict=True)):
                first = c // depth * filters
                result[(n, slice(first, first + filters), *place)] += float(data[(n, c, *at)]) * weight[(c, ..., *tap)]
    return result


@pytest.mark.parametrize("rank", [1, 2, 3])
@given(drawn=st.data())
@settings(max_examples=examples(4, more=2), deadline=None)
def test_transposed_convolutions(rank: int, drawn: st.DataObject) -> None:
    window, extents = drawn.draw(windows(rank))
    extra = [drawn.draw(st.integers(0, 2)) for _ in range(rank)]
    rows = zip(window, extents, extra, strict=True)
    assume(all(axis.covered(extent) - axis.before - axis.after + more > 0 for axis, extent, more in rows))
    groups, depth, filters = drawn.draw(st.tuples(st.integers(1, 3), st.integers(1, 2), st.integers(1, 3)))
    data = random(drawn.draw(st.integers(1, 2)), groups * depth, *extents)
    weight = random(groups * depth, filters, *(axis.size for axis in window))
    options = attributes_of(window) | {"output_padding": extra, "groups": groups}
    found = both(f"nn.conv{rank}d_transpose", data, weight, **options)
    expected = naive_transpose(data, weight, window, extra, groups)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.grid(2)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed_convolutions_in_other_layouts(rank: int) -> None:
    axes, op = AXES[rank], f"nn.conv{rank}d_transpose"
    data, weight = random(2, 4, *(4, 5, 3)[:rank]), random(4, 3, *[3] * rank)
    last, first = (0, *range(2, 2 + rank), 1), (0, 1 + rank, *range(1, 1 + rank))
    plain = both(op, data, weight, strides=2, padding=1)
    layouts = {"data_layout": f"N{axes}C", "kernel_layout": f"{axes}OI"}
    filters = weight.transpose(*range(2, 2 + rank), 1, 0)
    found = both(op, data.transpose(last), filters, strides=2, padding=1, **layouts)
    np.testing.assert_allclose(found.transpose(first), plain, rtol=1e-5, atol=1e-5)
    turned = both(op, data, weight, strides=2, padding=1, out_layout=f"N{axes}C")
    np.testing.assert_allclose(turned.transpose(first), plain, rtol=1e-5, atol=1e-5)


@pytest.mark.grid(5)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int32", "uint8"])
def test_transposed_convolutions_of_each_dtype(dtype: str, rank: int) -> None:
    data, weight = random(1, 4, *[3] * rank, dtype=dtype), random(4, 2, *[2] * rank, dtype=dtype)
    both(f"nn.conv{rank}d_transpose", data, weight, strides=2, groups=2)


CASES = [
    OpCase("nn.conv1d_transpose", [(1, 8, 19), (8, 6, 4)], {"strides": (2,), "padding": (1, 1)}),
    OpCase("nn.conv2d_transpose", [(1, 4, 5, 17), (4, 16, 3, 3)], {"strides": (2, 2), "output_padding": (1, 1)}),
    OpCase("nn.conv3d_transpose", [(1, 2, 2, 3, 4), (2, 3, 2, 2, 2)], {"strides": (2, 1, 2), "dilation": (1, 2, 1)}),
    OpCase("nn.conv1d", [(2, 8, 37), (16, 8, 3)], {"padding": (1, 1)}),
    OpCase("nn.conv1d", [(1, 4, 19), (4, 1, 5)], {"groups": 4, "strides": (2,), "dilation": (2,)}),
    OpCase("nn.conv3d", [(1, 3, 4, 5, 17), (8, 3, 3, 3, 3)], {"padding": (1, 1, 1)}),
    OpCase("nn.max_pool1d", [(1, 2, 13)], {"pool_size": (3,), "strides": (2,), "padding": (1,), "ceil_mode": True}),
    OpCase("nn.avg_pool3d", [(1, 2, 4, 5, 6)], {"pool_size": (2, 3, 2), "strides": (2, 2, 1), "padding": (1, 1, 1)}),
    OpCase("nn.max_pool2d_indices", [(1, 2, 5, 6)], {"pool_size": (3, 2), "padding": (1, 1), "layout": "NCHW"}),
    OpCase("nn.global_avg_pool3d", [(1, 3, 2, 3, 4)]),
    OpCase("nn.global_max_pool1d", [(1, 3, 17)]),
]


@pytest.mark.grid(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_level(case: OpCase) -> None:
    check_levels(graph_of(case), case.inputs())


def test_taps_of_a_transposed_convolution_that_lie_far_apart_take_no_memory_between_them() -> None:
    """The first tap contributes only to padding, which is cropped."""
    data, weight = np.arange(6, dtype=np.float32).reshape(1, 1, 3, 2), np.array([3, 5], np.float32).reshape(1, 1, 2, 1)
    found = apply_op("nn.conv2d_transpose", data, weight, dilation=(2**40, 1), padding=(2**40, 0, 0, 0))
    np.testing.assert_array_equal(found, 5 * data)


@pytest.mark.parametrize("first", [0, 3, -7, -(2**70), 2**70])
@pytest.mark.parametrize("step", [1, 3, 2**63 - 1])
def test_places_in_steps_are_those_of_each_step(first: int, step: int) -> None:
    for count, extent in [(0, 5), (4, 0), (1, 1), (5, 4), (9, 13)]:
        places = [first + number * step for number in range(count)]
        wanted = [place if 0 <= place < extent else extent for place in places]
        np.testing.assert_array_equal(places_in_steps(first, step, count, extent), wanted)
