"""Schedules of shapes that no tile divides, natively against the interpreter."""

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
]


def module_of(body: relay.Expr) -> ModuleOp:
    return relay.Module.from_expr(relay.Function(relay.analysis.free_vars(body), body))


@pytest.mark.parametrize(("channels", "filters", "rows", "columns", "kernel", "groups"), PLAIN)
def test_convolutions_on_plain_images(
    channels: int, filters: int, rows: int, columns: int, kernel: int, groups: int
) -> None:
    data = relay.var("data", shape=(1, channels, rows, columns))
    filter_ = relay.const(weight(filters, channels // groups, kernel, kernel))
    pad = kernel // 2
    body = relay.nn.relu(relay.nn.conv2d(data, filter_, padding=(pad, pad, pad, pad), groups=groups))
    check_native(module_of(body), [weight(1, channels, rows, columns, seed=1)])


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
