"""Random quantised networks: integers approximate the floats, and native code agrees with the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.float_networks import Weights, batches, signal_to_noise

import xrelay
from xrelay import relay

DECIBELS = 12.0
"""A wrong scale, sign or axis leaves no signal above the noise.

Networks that subtract similar values or clip most numbers have a lower ratio than those of `test_quantize.py`, whose
roundings are counted.
"""

Layer = Callable[[Weights, Any, list[Any]], Any]
CHANNELS = 4


def earlier(values: list[Any], like: Any) -> Any:
    """The second-to-last value with the shape of `like`, or `like` itself."""
    alike = [value for value in values if value.checked_type == like.checked_type]
    return alike[-2] if len(alike) > 1 else like


def halved(x: Any) -> bool:
    return x.checked_type.shape[2] >= 4


LAYERS: dict[str, Layer] = {
    "conv": lambda w, x, _: w.conv(x, CHANNELS, CHANNELS),
    "pointwise": lambda w, x, _: w.conv(x, CHANNELS, CHANNELS, size=1),
    "depthwise": lambda w, x, _: w.conv(x, CHANNELS, CHANNELS, groups=CHANNELS),
    "bias": lambda w, x, _: relay.nn.bias_add(x, w.constant(CHANNELS)),
    "constant": lambda w, x, _: x + relay.const(np.float32(0.3)),
    "relu": lambda w, x, _: relay.nn.relu(x),
    "clip": lambda w, x, _: relay.clip(x, -1.0, 2.0),
    "max_pool": lambda w, x, _: relay.nn.max_pool2d(x, (2, 2), (2, 2)) if halved(x) else x,
    "avg_pool": lambda w, x, _: relay.nn.avg_pool2d(x, (2, 2), (2, 2)) if halved(x) else x,
    "add": lambda w, x, values: relay.add(x, earlier(values, x)),
    "subtract": lambda w, x, values: relay.subtract(x, earlier(values, x) * relay.const(np.float32(0.25))),
    "maximum": lambda w, x, values: relay.maximum(x, earlier(values, x)),
    "sigmoid": lambda w, x, _: relay.sigmoid(x),
    "gate": lambda w, x, _: relay.multiply(x, relay.sigmoid(x)),
    "half": lambda w, x, _: x * relay.const(np.float32(0.5)),
    "scales": lambda w, x, _: x * relay.const(np.float32([[[0.5]], [[1.0]], [[2.0]], [[0.25]]])),
    "join": lambda w, x, values: w.conv(
        relay.concatenate([x, earlier(values, x)], axis=1), 2 * CHANNELS, CHANNELS, size=1
    ),
    "halves": lambda w, x, _: relay.concatenate(list(reversed(list(relay.split(x, 2, axis=1)))), axis=1),
    "turn": lambda w, x, _: relay.transpose(x, (0, 1, 3, 2)),
    "mean": lambda w, x, _: relay.add(x, relay.nn.global_avg_pool2d(x)),
}


def network(names: list[str], seed: int) -> relay.IRModule:
    """A network of the layers in `names`, with a dense layer at the end."""
    weights, x = Weights(seed), relay.var("data", shape=(2, CHANNELS, 8, 8))
    y: Any = weights.conv(x, CHANNELS, CHANNELS)
    values: list[Any] = [x, y]
    for name in names:
        y = LAYERS[name](weights, y, values)
        values.append(y)
    flat = relay.nn.batch_flatten(y)
    result = weights.dense(flat, int(flat.checked_type.shape[1]), 5)
    return relay.IRModule.from_expr(relay.Function([x], relay.Tuple([result, y])))


@given(
    st.lists(st.sampled_from(sorted(LAYERS)), max_size=8),
    st.integers(0, 1000),
    st.sampled_from(["percentile", "kl_divergence", "max"]),
    st.sampled_from(["int8", "uint8"]),
    st.booleans(),
)
@example(["add", "scales", "conv", "add"], 0, "percentile", "int8", False)
@settings(max_examples=examples(2, more=12), deadline=None)
def test_networks(names: list[str], seed: int, mode: str, dtype: str, per_channel: bool) -> None:
    module, dataset = network(names, seed), batches(2, CHANNELS, 8, 8, count=3)
    config = relay.quantize.model_config(calibrate_mode=mode, dtype_input=dtype, per_channel=per_channel)
    found = xrelay.quantize(module, dataset, config=config)
    assert str(found).count("relay.qnn.conv2d") >= 1
    assert "relay.nn.conv2d" not in str(found)
    inputs = [dataset[0]["data"]]
    expected, slow = (xrelay.interpret(each, inputs) for each in (module, found))
    fast = xrelay.compile(found, cache=False, threads=1).run(inputs)
    for wanted, one, other in zip(expected, slow, fast, strict=True):
        # A float product with another rounding may move a later rounding by a step.
        assert np.abs(one.astype(np.float64) - other).max() <= 0.05 * np.abs(one).max()
        assert signal_to_noise(wanted, one) > DECIBELS
