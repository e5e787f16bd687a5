"""Small float networks with random weights, to be quantised."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay import relay, te

Array = NDArray[Any]


class Weights:
    """Random constant weights, scaled to preserve the variance of activations."""

    def __init__(self, seed: int = 0):
        self.rng = np.random.default_rng(seed)

    def constant(self, *shape: int, fan_in: int | None = None) -> relay.Expr:
        scale = 1.0 if fan_in is None else np.sqrt(2.0 / fan_in)
        return relay.const((self.rng.normal(size=shape) * scale).astype(np.float32))

    def conv(self, x: Any, inputs: int, outputs: int, size: int = 3, groups: int = 1) -> relay.Expr:
        own = inputs // groups
        weight = self.constant(outputs, own, size, size, fan_in=own * size * size)
        return relay.nn.conv2d(x, weight, padding=size // 2, groups=groups)

    def dense(self, x: Any, inputs: int, outputs: int) -> relay.Expr:
        return relay.nn.dense(x, self.constant(outputs, inputs, fan_in=inputs))


def residual_network(batch: Any = 2, seed: int = 0) -> relay.IRModule:
    """Convolutions with biases, a residual connection, pooling, a concatenation, a mean and a dense layer."""
    weights = Weights(seed)
    x = relay.var("data", shape=(batch, 3, 12, 12))
    a = relay.nn.relu(relay.nn.bias_add(weights.conv(x, 3, 8), weights.constant(8)))
    b = weights.conv(relay.nn.relu(weights.conv(a, 8, 8)), 8, 8)
    c = relay.nn.max_pool2d(relay.nn.relu(a + b), (2, 2), (2, 2))
    d = relay.nn.relu(weights.conv(c, 8, 8, groups=2))
    e = relay.nn.global_avg_pool2d(relay.concatenate([c, d], axis=1))
    return relay.IRModule.from_expr(relay.Function([x], weights.dense(relay.nn.batch_flatten(e), 16, 10)))


def perceptron(batch: Any = 4, sizes: Sequence[int] = (24, 32, 32, 5), seed: int = 0) -> relay.IRModule:
    """Dense layers with biases and relus, and a softmax."""
    weights = Weights(seed)
    x = y = relay.var("data", shape=(batch, sizes[0]))
    for inputs, outputs in pairwise(sizes[:-1]):
        y = relay.nn.relu(relay.nn.bias_add(weights.dense(y, inputs, outputs), weights.constant(outputs)))
    y = relay.nn.softmax(relay.nn.bias_add(weights.dense(y, sizes[-2], sizes[-1]), weights.constant(sizes[-1])))
    return relay.IRModule.from_expr(relay.Function([x], y))


def named_batch() -> Any:
    return te.size_var("n")


def batches(*shape: int, count: int = 4, seed: int = 1) -> list[dict[str, Array]]:
    """Batches of standard normal values for the input `data`."""
    rng = np.random.default_rng(seed)
    return [{"data": rng.normal(size=shape).astype(np.float32)} for _ in range(count)]


def signal_to_noise(expected: Array, found: Array) -> float:
    """The signal-to-noise ratio in dB."""
    noise = np.mean((expected.astype(np.float64) - found) ** 2)
    return float(10 * np.log10(np.mean(expected.astype(np.float64) ** 2) / max(noise, 1e-300)))
