"""Depthwise convolutions with several filters per channel, against windows summed by numpy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay
from xrelay.errors import ConstraintError
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]

RNG = np.random.default_rng(5)
DATA: Array = RNG.integers(-8, 8, (2, 3, 6, 5)).astype(np.float32)
WEIGHT: Array = RNG.integers(-8, 8, (3, 2, 3, 2)).astype(np.float32)
"""Three channels, with two filters of three rows and two columns each."""


def filtered(data: Array, weight: Array) -> Array:
    """Channel c * M + m of the result is channel c of the data under its filter m."""
    channels, multiplier, rows, columns = weight.shape
    height, width = data.shape[2] - rows + 1, data.shape[3] - columns + 1
    out = np.zeros((len(data), channels * multiplier, height, width), data.dtype)
    for c, m, i, j in product(*map(range, weight.shape)):
        out[:, c * multiplier + m] += data[:, c, i : i + height, j : j + width] * weight[c, m, i, j]
    return out


def run(result: relay.Expr, inputs: list[Array]) -> Array:
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))
    (found,) = xrelay.compile(module, cache=False).run(inputs)
    assert np.array_equal(found, run_relay(xrelay.transform.InferType()(module), inputs)[0])
    return np.asarray(found)


@pytest.mark.parametrize("letters", ["OIHW", "HWOI", "HWIO", "OHWI"])
@pytest.mark.parametrize("hints", [{}, {"channels": 6, "kernel_size": (3, 2)}])
def test_filters_of_a_channel_follow_each_other(letters: str, hints: dict[str, Any]) -> None:
    x = relay.var("x", shape=DATA.shape)
    weight = relay.const(WEIGHT.transpose([("OIHW").index(letter) for letter in letters]).copy())
    y = relay.nn.conv2d(x, weight, groups=3, kernel_layout=letters, **hints)
    assert np.array_equal(run(y, [DATA]), filtered(DATA, WEIGHT))


def test_images_whose_channels_are_last_and_volumes() -> None:
    x = relay.var("x", shape=(2, 6, 5, 3))
    weight = relay.const(WEIGHT.transpose(2, 3, 0, 1).copy())
    y = relay.nn.conv2d(x, weight, groups=3, data_layout="NHWC", kernel_layout="HWOI")
    expected = filtered(DATA, WEIGHT)
    assert np.array_equal(run(y, [DATA.transpose(0, 2, 3, 1).copy()]), expected.transpose(0, 2, 3, 1))
    volume = relay.var("x", shape=(2, 3, 1, 6, 5))
    z = relay.nn.conv3d(volume, relay.const(WEIGHT[:, :, None]), groups=3)
    assert np.array_equal(run(z, [DATA[:, :, None]]), expected[:, :, None])


def test_zero_points_and_scales_of_channels_are_those_of_their_filters() -> None:
    data, weight = DATA.astype(np.int8), WEIGHT.astype(np.int8)
    x = relay.var("x", shape=data.shape, dtype="int8")
    zeros, scales = relay.const(np.array([1, -2, 3], np.int32)), relay.const(np.array([1, 2, 3], np.float32))
    y = relay.qnn.op.conv2d(
        x, relay.const(weight), relay.const(2), zeros, relay.const(1.0), scales, (3, 2), 6, groups=3
    )
    away = weight.astype(np.int32) - np.array([1, -2, 3]).reshape(3, 1, 1, 1)
    assert np.array_equal(run(y, [data]), filtered(data.astype(np.int32) - 2, away))


def test_weights_that_are_no_such_weights_stay_as_they_are() -> None:
    x, weight = relay.var("x", shape=DATA.shape), relay.const(WEIGHT)
    with pytest.raises(ConstraintError, match=r"\[relay.nn.conv2d C3\] the weight has 2 "):
        relay.nn.conv2d(x, weight)
    one_each = relay.nn.conv2d(relay.var("x", shape=("n", 3, 6, 5)), relay.const(WEIGHT[:, :1]), groups=3)
    assert isinstance(one_each.args[1], relay.Constant)


def test_the_values_of_one_hot_are_of_its_type() -> None:
    x = relay.var("x", shape=(3,), dtype="int32")
    y = relay.one_hot(x, relay.const(2), relay.const(-1), 4, -1, "float32")
    expected = np.where(np.arange(4) == np.array([[0], [3], [7]]), 2, -1).astype(np.float32)
    found = run(y, [np.array([0, 3, 7], np.int32)])
    assert found.dtype == np.float32
    assert np.array_equal(found, expected)
