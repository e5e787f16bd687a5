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


@pytest.mark.parametrize("size", [(7, 7), (14, 14), (13, 3), (2, 31), (1, 5)])
@pytest.mark.parametrize("block", [4, 8, 16])
def test_channel_shuffle(size: tuple[int, int], block: int) -> None:
    """A channel shuffle to blocks of channels, and a sum with an image on plain channels on the way back."""
    channels = 3 * block
    plain, groups = (2, channels, *size), (2, 3, block, *size)
    data = relay.var("data", shape=plain)
    shuffled = relay.reshape(relay.transpose(relay.reshape(data, groups), axes=(0, 2, 1, 3, 4)), plain)
    blocks = relay.annotation.stop_fusion(relay.layout_transform(shuffled, "NCHW", f"NCHW{block}c"))
    body = relay.nn.relu(relay.layout_transform(blocks, f"NCHW{block}c", "NCHW") + data)
    check_native(relay.Module.from_expr(relay.Function([data], body)), [weight(*plain, seed=2)], 0)


@pytest.mark.parametrize("shape", [(1, 3, 0, 7), (1, 5, 11, 13), (2, 6, 14, 14), (64, 9, 6)])
def test_elementwise(shape: tuple[int, ...]) -> None:
    """Rows of an elementwise op with a factor for each channel, and the channels as the last axis."""
    data = relay.var("data", shape=shape)
    scaled = relay.sigmoid(data) * data + relay.const(weight(shape[-3], 1, 1, seed=1))
    last = relay.transpose(scaled, axes=[*range(len(shape) - 3), -2, -1, -3])
    module = relay.Module.from_expr(relay.Function([data], relay.Tuple([scaled, last])))
    check_native(module, [weight(*shape, seed=2)], 1e-6)
