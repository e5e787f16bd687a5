"""Convolutions and products of i32 in blocked layouts, on several CPUs: sums wrap as in plain layouts."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
TARGETS = ("cpu", "cpu -mcpu=x86-64", "cpu -mcpu=haswell")


def agree(result: relay.Expr, shape: tuple[int, ...], target: str) -> None:
    """Checks that native code agrees with the interpreter for integers of all sizes."""
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))
    data = np.random.default_rng(3).integers(INT32_MIN, INT32_MAX, shape, endpoint=True).astype(np.int32)
    (expected,) = run_relay(transform.InferType()(module), [data])
    np.testing.assert_array_equal(xrelay.compile(module, target=target, cache=False).run([data])[0], expected)


@pytest.mark.grid(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("channels", "filters", "groups", "stride"), [(16, 32, 1, 1), (8, 16, 2, 2), (32, 32, 32, 1)])
def test_convolutions(channels: int, filters: int, groups: int, stride: int, target: str) -> None:
    shape = (1, channels, 9, 7)
    weight = (
        np.random.default_rng(2).integers(INT32_MIN, INT32_MAX, (filters, channels // groups, 3, 3)).astype(np.int32)
    )
    y = relay.nn.conv2d(
        relay.var("x", shape=shape, dtype="int32"),
        relay.const(weight),
        groups=groups,
        strides=(stride, stride),
        padding=(1, 1),
    )
    bias = relay.const(np.arange(filters, dtype=np.int32).reshape(filters, 1, 1))
    agree(relay.nn.relu(y + bias), shape, target)


@pytest.mark.parametrize("target", TARGETS)
def test_products(target: str) -> None:
    x, weight = (
        relay.var("x", shape=(5, 7), dtype="int32"),
        np.random.default_rng(2).integers(INT32_MIN, INT32_MAX, (16, 7)),
    )
    agree(relay.nn.dense(x, relay.const(weight.astype(np.int32))), (5, 7), target)
