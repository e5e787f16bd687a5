"""Convolutions whose threads share pieces of the rows, in native code against the interpreter."""

from __future__ import annotations

import pytest
from support.levels import assert_same, check_native, outputs
from support.networks import weight

import xrelay
from xrelay import relay
from xrelay.target import Target

SHAPES = [
    # data, channels of the result, kernel, stride
    ((1, 16, 24, 20), 32, 3, 1),  # pieces of three rows
    ((1, 32, 23, 9), 48, 1, 1),  # a prime number of rows: pieces of one
    ((2, 16, 33, 18), 32, 3, 2),  # a batch before the pieces
    ((1, 3, 40, 35), 12, 3, 1),  # plain channels
    ((1, 16, 30, 3), 32, 3, 1),  # tiles of several rows
    ((1, 16, 16, 12, 9), 32, 3, 1),  # planes of a volume
]


@pytest.mark.parametrize(("shape", "filters", "kernel", "stride"), SHAPES)
def test_convolution(shape: tuple[int, ...], filters: int, kernel: int, stride: int) -> None:
    axes = len(shape) - 2
    data = relay.var("data", shape=shape)
    filter_ = relay.const(weight(filters, shape[1], *[kernel] * axes))
    conv = relay.nn.conv2d if axes == 2 else relay.nn.conv3d
    body = relay.nn.relu(conv(data, filter_, strides=[stride] * axes, padding=[kernel // 2] * axes))
    check_native(relay.Module.from_expr(relay.Function([data], body)), [weight(*shape, seed=1)], 1e-4)


@pytest.mark.parametrize(("shape", "filters", "kernel", "stride"), [*SHAPES[:3], ((5, 64, 7, 5), 160, 1, 1)])
def test_axes_moved_for_the_cache(shape: tuple[int, ...], filters: int, kernel: int, stride: int) -> None:
    data = relay.var("data", shape=shape)
    filter_ = relay.const(weight(filters, shape[1], kernel, kernel))
    conv = relay.nn.conv2d(data, filter_, strides=(stride, stride), padding=(kernel // 2, kernel // 2))
    target = f"cpu -mcpu={Target.host().mcpu} -num-threads=1 -l2=32768"
    module, inputs = relay.Module.from_expr(relay.Function([data], conv)), [weight(*shape, seed=1)]
    assert_same(xrelay.compile(module, target=target, cache=False).run(inputs), outputs(module, inputs), "native", 1e-4)


def test_rows_of_dynamic_number() -> None:
    text = """
    func.func @main(%x: tensor<1x16x?x20xf32, #relay.dims<h>>, %w: tensor<32x16x3x3xf32>) -> !relay.incomplete {
      %r = relay.nn.conv2d(%x, %w) {padding = array<i64: 1, 1, 1, 1>}
        : (tensor<1x16x?x20xf32, #relay.dims<h>>, tensor<32x16x3x3xf32>) -> !relay.incomplete
      func.return %r : !relay.incomplete
    }"""
    for rows in (1, 9, 40):
        check_native(xrelay.parse(text), [weight(1, 16, rows, 20, seed=rows), weight(32, 16, 3, 3)], 1e-4)
