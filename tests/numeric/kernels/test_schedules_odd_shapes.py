"""Schedules of shapes that no tile divides, in native code against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from support.levels import check_native
from support.networks import weight
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay

PLAIN = [
    # channels, filters, rows, columns, kernel, groups
    (3, 13, 9, 17, 3, 1),
    (8, 31, 6, 28, 3, 1),
    (7, 23, 5, 14, 1, 1),
    (5, 37, 4, 4, 3, 1),
    (6, 3, 4, 5, 3, 1),
    (68, 68, 7, 14, 1, 4),
    (4, 62, 5, 33, 3, 2),
    (6, 34, 3, 20, 1, 2),
    (3, 3, 13, 19, 5, 3),
    (5, 2, 21, 16, 3, 1),
]


def module_of(body: relay.Expr) -> ModuleOp:
    return relay.Module.from_expr(relay.Function(relay.analysis.free_vars(body), body))


@pytest.mark.grid(2)
@pytest.mark.parametrize(("channels", "filters", "rows", "columns", "kernel", "groups"), PLAIN)
def test_convolutions_on_plain_images(
    channels: int, filters: int, rows: int, columns: int, kernel: int, groups: int
) -> None:
    data = relay.var("data", shape=(1, channels, rows, columns))
    filter_ = relay.const(weight(filters, channels // groups, kernel, kernel))
    pad = kernel // 2
    body = relay.nn.relu(relay.nn.conv2d(data, filter_, padding=(pad, pad, pad, pad), groups=groups))
    check_native(module_of(body), [weight(1, channels, rows, columns, seed=1)])


BLOCKED = [
    # channels, filters, rows, columns, kernel, stride
    (16, 48, 7, 7, 3, 1),
    (32, 16 * 13, 5, 14, 1, 1),
    (16, 80, 9, 5, 3, 2),
    (32, 24, 3, 3, 3, 1),
    (16, 16 * 7, 2, 4, 1, 1),
]


@pytest.mark.grid(2)
@pytest.mark.parametrize(("channels", "filters", "rows", "columns", "kernel", "stride"), BLOCKED)
def test_convolutions_in_blocks(channels: int, filters: int, rows: int, columns: int, kernel: int, stride: int) -> None:
    data = relay.var("data", shape=(2, channels, rows, columns))
    filter_ = relay.const(weight(filters, channels, kernel, kernel))
    pad = kernel // 2
    conv = relay.nn.conv2d(data, filter_, strides=(stride, stride), padding=(pad, pad, pad, pad))
    check_native(module_of(relay.nn.relu(conv)), [weight(2, channels, rows, columns, seed=1)], exact=True)


DEPTHWISE = [
    # channels, rows, columns, kernel, stride, dilation, padding
    (32, 5, 9, 3, 1, 1, (1, 1, 1, 1)),
    (16, 30, 29, 3, 2, 1, (0, 1, 2, 0)),
    (16, 4, 3, 5, 1, 1, (2, 2, 2, 2)),
    (48, 11, 40, 3, 1, 2, (2, 0, 1, 3)),
    (24, 6, 6, 3, 1, 1, (0, 0, 0, 0)),
    (16, 3, 3, 3, 2, 1, (4, 4, 4, 4)),
]


@pytest.mark.grid(2)
@pytest.mark.parametrize(("channels", "rows", "columns", "kernel", "stride", "dilation", "padding"), DEPTHWISE)
def test_depthwise_convolutions(
    channels: int, rows: int, columns: int, kernel: int, stride: int, dilation: int, padding: tuple[int, int, int, int]
) -> None:
    data = relay.var("data", shape=(2, channels, rows, columns))
    filter_ = relay.const(weight(channels, 1, kernel, kernel))
    options = {"strides": (stride, stride), "dilation": (dilation, dilation), "padding": padding, "groups": channels}
    body = relay.nn.relu(relay.nn.conv2d(data, filter_, **options))
    check_native(module_of(body), [weight(2, channels, rows, columns, seed=1)])


@pytest.mark.grid(2)
@pytest.mark.parametrize("shape", [(1, 3, 7, 7), (2, 5, 13, 13), (1, 40, 5, 9), (3, 1, 2, 33)])
def test_means_of_images(shape: tuple[int, ...]) -> None:
    data = relay.var("data", shape=shape)
    pooled = relay.nn.global_avg_pool2d(data)
    check_native(
        module_of(relay.mean(relay.nn.relu(data), axis=[2, 3]) + relay.squeeze(pooled, axis=[2, 3])), [weight(*shape)]
    )


@pytest.mark.parametrize("shape", [(16, 16), (17, 16), (33, 50), (64, 8), (128, 128), (3, 40, 24)])
def test_transpositions(shape: tuple[int, ...]) -> None:
    data = relay.var("data", shape=shape)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    check_native(module_of(relay.transpose(data)), [x])


@pytest.mark.parametrize(("channels", "size"), [(32, 7), (16, 33), (48, 16), (32, 56)])
def test_layout_transforms(channels: int, size: int) -> None:
    data = relay.var("data", shape=(1, channels, size, size))
    blocked = relay.layout_transform(data, src_layout="NCHW", dst_layout="NCHW16c")
    body = relay.layout_transform(relay.nn.relu(blocked), src_layout="NCHW16c", dst_layout="NCHW")
    check_native(module_of(body), [weight(1, channels, size, size)])
