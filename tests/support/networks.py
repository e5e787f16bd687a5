"""Small networks and programs with irregular shapes, made by the builder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xrelay import relay

Build = Callable[[], relay.Expr]


def weight(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(np.float32)


def batch_norm(data: relay.Expr, channels: int) -> relay.Expr:
    gamma, beta, mean = (weight(channels, seed=seed) for seed in range(3))
    return relay.nn.batch_norm(data, gamma, beta, mean, np.abs(weight(channels)) + 0.5)[0]


def conv_block(data: relay.Expr, inputs: int, channels: int, size: int = 3, **attributes: object) -> relay.Expr:
    padding = (size // 2, size // 2)
    conv = relay.nn.conv2d(data, weight(channels, inputs, size, size), padding=padding, **attributes)
    return batch_norm(conv, channels)


def simplenet() -> relay.Expr:
    data = relay.var("data", shape=(1, 3, 14, 14))
    return relay.nn.relu(conv_block(data, 3, 32, strides=(2, 2)))


def residual_block() -> relay.Expr:
    data = relay.var("data", shape=(1, 16, 5, 5))
    first = relay.nn.relu(conv_block(data, 16, 32, strides=(2, 2)))
    shortcut = conv_block(data, 16, 32, size=1, strides=(2, 2))
    joined = relay.nn.relu(relay.add(conv_block(first, 32, 32), shortcut))
    scores = relay.nn.dense(relay.nn.batch_flatten(relay.nn.global_avg_pool2d(joined)), weight(10, 32))
    return relay.nn.softmax(relay.nn.bias_add(scores, weight(10)))


def inception_block() -> relay.Expr:
    data = relay.var("data", shape=(1, 16, 4, 5))
    pooled = relay.nn.max_pool2d(data, pool_size=(3, 3), strides=(1, 1), padding=(1, 1))
    branches = [
        relay.nn.relu(conv_block(data, 16, 16, size=1)),
        relay.nn.relu(conv_block(data, 16, 24)),
        relay.nn.relu(conv_block(pooled, 16, 8, size=1)),
    ]
    return relay.nn.avg_pool2d(relay.concatenate(branches, axis=1), pool_size=(3, 3), strides=(2, 2))


def odd_channels() -> relay.Expr:
    data = relay.var("data", shape=(2, 5, 13, 7))
    return relay.nn.relu(relay.nn.conv2d(data, weight(7, 5, 3, 3), padding=(0, 1, 2, 1), dilation=(2, 1)))


def grouped() -> relay.Expr:
    data = relay.var("data", shape=(1, 32, 5, 5))
    depthwise = relay.nn.conv2d(data, weight(32, 1, 3, 3), padding=(1, 1), groups=32)
    return relay.nn.conv2d(relay.nn.relu(depthwise), weight(32, 8, 3, 3), groups=4)


def shared_operand() -> relay.Expr:
    x = relay.var("x", shape=(3, 37))
    doubled = relay.add(x, x)
    return relay.multiply(doubled, relay.add(doubled, doubled))


def broadcast_against_blocks() -> relay.Expr:
    """Operands of one channel next to blocked operands, on either side."""
    data = relay.var("data", shape=(1, 16, 5, 4))
    conv = relay.nn.conv2d(data, weight(16, 16, 1, 1))
    left = relay.maximum(relay.const(weight(1)), conv)
    return relay.subtract(relay.const(weight(1, 5, 1)), relay.subtract(left, relay.const(weight(1, 1, 1, 4))))


def blocks_of_different_sizes() -> relay.Expr:
    """24 channels have blocks of 8, 16 have blocks of 16; their concatenation fits neither."""
    data = relay.var("data", shape=(1, 16, 3, 3))
    parts = [relay.nn.conv2d(data, weight(channels, 16, 1, 1)) for channels in (16, 24, 8)]
    return relay.concatenate(parts, axis=1)


def layout_round_trip() -> relay.Expr:
    x = relay.var("x", shape=(1, 32, 5, 6))
    blocked = relay.layout_transform(x, src_layout="NCHW", dst_layout="NCHW16c")
    return relay.layout_transform(relay.nn.relu(blocked), src_layout="NCHW16c", dst_layout="NCHW")


def reductions_of_reductions() -> relay.Expr:
    x = relay.var("x", shape=(4, 6, 33))
    centered = relay.subtract(x, relay.mean(x, axis=(2,), keepdims=True))
    variance = relay.mean(relay.multiply(centered, centered), axis=(2,), keepdims=True)
    return relay.multiply(centered, relay.rsqrt(relay.add(variance, relay.const(1e-5))))


def attention_like() -> relay.Expr:
    x = relay.var("x", shape=(12, 40))
    scores = relay.nn.softmax(relay.nn.dense(x, weight(17, 40)))
    return relay.nn.dense(relay.tanh(scores), weight(5, 17))


def split_and_swap() -> relay.Expr:
    x = relay.var("x", shape=(2, 12, 5))
    parts = relay.split(x, indices_or_sections=3, axis=1)
    swapped = relay.concatenate([parts[2], relay.sigmoid(parts[0]), parts[1]], axis=1)
    return relay.reshape(relay.transpose(swapped, axes=(0, 2, 1)), newshape=(-1, 4))


def several_results() -> relay.Expr:
    x = relay.var("x", shape=(2, 3))
    y = relay.nn.relu(x)
    return relay.Tuple([y, x, y, relay.const(np.ones((2, 2), np.float32)), relay.exp(y)])


def scalars() -> relay.Expr:
    x = relay.var("x", shape=())
    return relay.add(relay.exp(x), relay.const(2.0))


def large_elementwise() -> relay.Expr:
    x, y = relay.var("x", shape=(300, 1001)), relay.var("y", shape=(1001,))
    return relay.sigmoid(relay.add(relay.multiply(x, y), relay.negative(x)))


NETWORKS: list[Build] = [
    simplenet,
    residual_block,
    inception_block,
    odd_channels,
    grouped,
    shared_operand,
    broadcast_against_blocks,
    blocks_of_different_sizes,
    layout_round_trip,
    reductions_of_reductions,
    attention_like,
    split_and_swap,
    several_results,
    scalars,
    large_elementwise,
]
