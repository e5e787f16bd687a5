"""Operators against their definitions, which are written out as loops."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.one_op import applied, check

from xrelay import relay

Array = NDArray[Any]


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)


def points(array: Array) -> product[tuple[int, ...]]:
    return product(*map(range, array.shape))


def test_bias_add_adds_a_number_for_each_index_along_the_axis() -> None:
    data, bias = drawn(2, 3, 4), drawn(3, seed=1)
    found = applied("nn.bias_add", data, bias, axis=-2)
    for n, c, w in points(found):
        assert found[n, c, w] == data[n, c, w] + bias[c]


@pytest.mark.parametrize(("scale", "center"), [(True, True), (False, True), (True, False)])
def test_batch_norm_uses_the_statistics_along_the_axis(scale: bool, center: bool) -> None:
    data, gamma, beta, mean = drawn(2, 3, 4), drawn(4, seed=1), drawn(4, seed=2), drawn(4, seed=3)
    variance = np.abs(drawn(4, seed=4)) + 0.5
    given = [relay.var(f"x{k}", shape=x.shape) for k, x in enumerate((data, gamma, beta, mean, variance))]
    call = relay.nn.batch_norm(*given, axis=2, epsilon=0.25, scale=scale, center=center)
    found, *statistics = check(relay.Module.from_expr(call), [data, gamma, beta, mean, variance], rtol=1e-5)
    for n, h, c in points(found):
        value = (float(data[n, h, c]) - float(mean[c])) / math.sqrt(float(variance[c]) + 0.25)
        value = value * (float(gamma[c]) if scale else 1) + (float(beta[c]) if center else 0)
        assert found[n, h, c] == pytest.approx(value, rel=1e-5, abs=1e-6)
    np.testing.assert_array_equal(statistics, [mean, variance])


def test_layer_norm_normalises_each_vector_along_the_axis() -> None:
    data, gamma, beta = drawn(3, 5, 2), drawn(5, seed=1), drawn(5, seed=2)
    found = applied("nn.layer_norm", data, gamma, beta, axis=1, epsilon=0.5, atol=1e-6)
    for n, w in product(range(3), range(2)):
        row = [float(x) for x in data[n, :, w]]
        mean = sum(row) / 5
        root = math.sqrt(sum((x - mean) ** 2 for x in row) / 5 + 0.5)
        for c, x in enumerate(row):
            assert found[n, c, w] == pytest.approx((x - mean) / root * gamma[c] + beta[c], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_global_pools_fold_each_image(rank: int) -> None:
    data = drawn(2, 3, *(4, 3, 2)[:rank])
    mean, greatest = (applied(f"nn.global_{kind}_pool{rank}d", data, rtol=1e-6, atol=1e-7) for kind in ("avg", "max"))
    assert mean.shape == greatest.shape == (2, 3, *(1,) * rank)
    for n, c in product(range(2), range(3)):
        values = [float(x) for x in data[n, c].ravel()]
        assert mean[n, c].item() == pytest.approx(sum(values) / len(values), rel=1e-5, abs=1e-6)
        assert greatest[n, c].item() == max(values)


def test_layout_transform_fills_partial_blocks_with_zeros() -> None:
    data = drawn(2, 6, 3)
    found = applied("layout_transform", data, src_layout="NCW", dst_layout="NWC4c")
    assert found.shape == (2, 3, 2, 4)
    for n, w, block, c in points(found):
        channel = block * 4 + c
        assert found[n, w, block, c] == (data[n, channel, w] if channel < 6 else 0)


def test_reverse_reshape_reads_the_codes_from_the_last_axis() -> None:
    data = drawn(2, 5, 4, 3)
    found = applied("contrib_reverse_reshape", data, newshape=(-1, 0))
    assert found.shape == (40, 3)
    for n, c, h, w in points(data):
        assert found[(n * 5 + c) * 4 + h, w] == data[n, c, h, w]


def test_reductions_of_booleans() -> None:
    data = np.random.default_rng(0).random((3, 4, 5)) < 0.7
    every, some = applied("all", data, axis=(0, -1)), applied("any", data, axis=(1,), keepdims=True, exclude=True)
    for c in range(4):
        values = [bool(x) for x in data[:, c].ravel()]
        assert (every[c], some[0, c, 0]) == (all(values), any(values))


def test_quantised_error_function() -> None:
    """A step of the result is 0.01, and errors of the interpreter's and native code's functions are far less."""
    data = np.arange(-128, 128).astype(np.int8)
    given = np.float32(0.02), np.int32(5), np.float32(0.01), np.int32(-3)
    found = applied("qnn.erf", data, *map(np.asarray, given), atol=1)
    for x, y in zip(data.tolist(), found.tolist(), strict=True):
        assert abs(y - min(max(math.erf((x - 5) * 0.02) / 0.01 - 3, -128), 127)) <= 1


def test_quantised_concatenation_represents_the_same_numbers() -> None:
    parts = [np.arange(-60, 60, 7).astype(np.int8), np.arange(-100, 100, 9).astype(np.int8)]
    scales, zeros, scale, zero = (0.5, 0.125), (3, -7), 0.25, 10
    fields = [relay.var(f"x{k}", shape=part.shape, dtype="int8") for k, part in enumerate(parts)]
    numbers = (
        relay.Tuple([relay.const(np.float32(each)) for each in scales]),
        relay.Tuple([relay.const(np.int32(each)) for each in zeros]),
        relay.const(np.float32(scale)),
        relay.const(np.int32(zero)),
    )
    module = relay.Module.from_expr(relay.qnn.op.concatenate(relay.Tuple(fields), *numbers, axis=0))
    (found,) = check(module, parts)
    wanted: list[float] = []
    for part, own_scale, own_zero in zip(parts, scales, zeros, strict=True):
        wanted += [min(max((q - own_zero) * own_scale / scale + zero, -128), 127) for q in part.tolist()]
    assert all(abs(y - each) <= 0.5 for y, each in zip(found.tolist(), wanted, strict=True))


def test_dropout_keeps_all_elements() -> None:
    x = relay.var("x", shape=(3, 4))
    data = drawn(3, 4)
    found, mask = check(relay.Module.from_expr(relay.nn.dropout_raw(x, rate=0.4)), [data])
    for n, c in points(data):
        assert (found[n, c], mask[n, c]) == (data[n, c], 1)
