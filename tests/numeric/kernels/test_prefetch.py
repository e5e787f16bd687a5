"""Products and convolutions prefetch parts of a large weight, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.interpreters.relay import run_relay
from xrelay.target import Target

CPU = Target.host().mcpu
SMALL, LARGE = (f"cpu -mcpu={CPU} -num-threads=1 -l2={size}" for size in (4096, 1 << 24))
"""Targets whose L2 cache is smaller, and larger, than the weight."""


def product(rows: int) -> relay.Module:
    weight = np.random.default_rng(0).standard_normal((100, 70), np.float32)
    return relay.Module.from_expr(relay.nn.dense(relay.var("x", shape=(rows, 70)), relay.const(weight)))


@pytest.mark.parametrize("rows", [5, 60, 131])
def test_results_are_close(rows: int) -> None:
    x = np.random.default_rng(1).standard_normal((rows, 70), np.float32)
    (expected,) = run_relay(product(rows), [x])
    for target in (SMALL, LARGE):
        (found,) = xrelay.compile(product(rows), target=target, cache=False).run([x])
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(2000, 70), (5, 400, 70), (9, 222, 70)])
def test_results_of_blocks_of_rows_are_close(shape: tuple[int, ...]) -> None:
    weight = np.random.default_rng(0).standard_normal((320, 70), np.float32)
    module = relay.Module.from_expr(relay.nn.dense(relay.var("x", shape=shape), relay.const(weight)))
    x = np.random.default_rng(1).standard_normal(shape, np.float32)
    target = f"cpu -mcpu={CPU} -num-threads=1 -l2=307200"
    (found,) = xrelay.compile(module, target=target, cache=False).run([x])
    np.testing.assert_allclose(found, x @ weight.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("channels", "size", "taps"), [(48, 7, 1), (40, 5, 3), (32, 30, 1), (64, 14, 3)])
def test_results_of_convolutions_are_close(channels: int, size: int, taps: int) -> None:
    weight = np.random.default_rng(0).standard_normal((channels, channels, taps, taps), np.float32)
    data = relay.var("x", shape=(2, channels, size, size))
    module = relay.Module.from_expr(relay.nn.conv2d(data, relay.const(weight), padding=(taps // 2,) * 2))
    x = np.random.default_rng(1).standard_normal((2, channels, size, size), np.float32)
    (expected,) = run_relay(module, [x])
    for l1 in (1024, 1 << 24):
        target = f"cpu -mcpu={CPU} -num-threads=1 -l1={l1}"
        (found,) = xrelay.compile(module, target=target, cache=False).run([x])
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
