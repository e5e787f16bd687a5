"""Quantised layers without quotients: results differ from those of the interpreter by one step, and rarely."""

from __future__ import annotations

import numpy as np

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

qnn = relay.qnn.op


def test_residual_layer() -> None:
    rng = np.random.default_rng(3)
    scales = [relay.const(np.float32(scale)) for scale in (0.013, 0.021, 0.37)]
    zeros = [relay.const(np.int32(zero)) for zero in (120, 7, 100)]
    bias = relay.const(rng.normal(size=(16, 1, 1)).astype(np.float32))
    weight = relay.const(rng.integers(-127, 128, (16, 16, 3, 3)).astype(np.int8))
    units = relay.const(rng.uniform(0.01, 0.02, 16).astype(np.float32))
    x, other = (relay.var(name, shape=(1, 16, 9, 8), dtype="uint8") for name in "xy")
    factor = qnn.dequantize(weight, units, relay.const(np.int32(0)), axis=0)
    layer = relay.nn.conv2d(qnn.dequantize(x, scales[0], zeros[0]), factor, padding=(1, 1))
    total = relay.nn.relu(layer + bias + qnn.dequantize(other, scales[1], zeros[1]))
    result = qnn.quantize(total, scales[2], zeros[2], out_dtype="uint8")
    check(relay.Function([x, other], result), rng, "3.700000e-01")


def test_depthwise_layer() -> None:
    """Floats are multiplied by a weight whose scale is divided."""
    rng = np.random.default_rng(4)
    scale, least = relay.const(np.float32(0.013)), relay.const(np.float32(0.23))
    zeros = [relay.const(np.int32(zero)) for zero in (120, 100)]
    weight = relay.const(rng.integers(-127, 128, (16, 1, 3, 3)).astype(np.int8))
    units = relay.const(rng.uniform(0.01, 0.02, 16).astype(np.float32))
    x = relay.var("x", shape=(1, 16, 9, 8), dtype="uint8")
    factor = qnn.dequantize(weight, units, relay.const(np.int32(0)), axis=0)
    layer = relay.nn.conv2d(qnn.dequantize(x, scale, zeros[0]), factor, padding=(1, 1), groups=16)
    bias = relay.const(rng.normal(size=16).astype(np.float32))
    result = qnn.quantize(relay.nn.bias_add(layer, bias), least, zeros[1], out_dtype="uint8")
    check(relay.Function([x], result), rng, "2.300000e-01")


def check(function: relay.Function, rng: np.random.Generator, scale: str) -> None:
    """Checks that the pass removes the scale, and that results differ by one step at most, and rarely."""
    module = transform.InferType()(relay.Module.from_expr(function))
    changed = transform.create_pass("qnn-fold-quantize-scale")(transform.create_pass("qnn-multiply-integers")(module))
    assert f"dense<{scale}>" not in str(changed)
    arrays = [rng.integers(0, 256, (1, 16, 9, 8)).astype(np.uint8) for _ in function.params]
    (expected,) = run_relay(module, arrays)
    assert len(np.unique(expected)) > 50
    for found in (run_relay(changed, arrays)[0], xrelay.compile(module, cache=False, threads=1).run(arrays)[0]):
        steps = np.abs(found.astype(int) - expected)
        assert steps.max() <= 1
        assert (steps != 0).mean() < 0.01
