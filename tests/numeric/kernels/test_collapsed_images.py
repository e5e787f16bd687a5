"""Convolutions of one pixel whose images become one row, in native code against the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.levels import check_native
from support.networks import weight

import xrelay
from xrelay import relay


def _convolution(data: relay.Expr, channels: int, groups: int = 1, seed: int = 0) -> relay.Expr:
    """A convolution of 12 channels without padding, on plain channels since no vector divides those of a group."""
    return relay.nn.conv2d(data, relay.const(weight(channels, 12 // groups, 1, 1, seed=seed)), groups=groups)


@pytest.mark.parametrize("shape", [(1, 12, 7, 7), (3, 12, 14, 14), (2, 12, 5, 3), (1, 12, 9, 1), (1, 12, 28, 28)])
@pytest.mark.parametrize("groups", [1, 4])
def test_residual(shape: tuple[int, ...], groups: int) -> None:
    """Two convolutions and a sum with the data, each with a bias."""
    data = relay.var("data", shape=shape)
    bias = relay.const(weight(12, 1, 1, seed=3))
    first = relay.nn.relu(_convolution(data, 12, groups) + bias)
    body = relay.nn.relu(_convolution(first, 12, groups, seed=1) + bias + data)
    check_native(relay.Module.from_expr(relay.Function([data], body)), [weight(*shape, seed=2)], 1e-4)


@pytest.mark.parametrize("batch", [1, 2])
def test_views(batch: int, tmp_path: Path) -> None:
    """Results in the buffer of a concatenation, the sum with a constant image, and a slice as the image.

    In a batch, views of a concatenation have strides, and the images keep their rows.
    """
    data = relay.var("data", shape=(batch, 12, 7, 7))
    left = _convolution(data, 12, groups=4)
    right = _convolution(left, 12, groups=4, seed=1) + relay.const(weight(batch, 12, 7, 7, seed=3))
    both = relay.concatenate([left, right], axis=1)
    part = relay.strided_slice(both, begin=[0, 12], end=[batch, 24], axes=[0, 1])
    body = relay.Tuple([both, _convolution(part, 6, groups=2, seed=4)])
    module = relay.Module.from_expr(relay.Function([data], body))
    check_native(module, [weight(batch, 12, 7, 7, seed=2)], 1e-4)
    xrelay.compile(module, cache=False, dump_stages=tmp_path)
    assert ("x1x49xf32>" in (tmp_path / "06_loop.mlir").read_text(encoding="utf-8")) is (batch == 1)
