"""`relay.quantize`: quantised networks compute on integers, and approximate the float network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.float_networks import (
    Weights,
    batches,
    named_batch,
    perceptron,
    residual_network,
    signal_to_noise,
)
from xdsl.dialects.builtin import ModuleOp, i8, i32

import xrelay
from xrelay import relay, transform
from xrelay.dialects.shared.types import element_type_of
from xrelay.passes.infra.verify import walk_ops

Array = NDArray[Any]

DECIBELS = 30.0
"""The least signal-to-noise ratio of results.

Numbers with standard deviation s within 4 s, rounded to 127 steps on each side, have noise of (4 s / 127)**2 / 12: the
signal is 41 dB above it. The networks here round some ten times with equal noise, which leaves 31 dB. The rounding of
weights adds less, as it varies among weights, and relus leave half of the numbers exact.
"""


def quantized(module: relay.IRModule, dataset: Any = None, **options: Any) -> relay.IRModule:
    chosen = {"skip_conv_layers": None, "skip_dense_layer": False, "weight_scale": "max", **options}
    with transform.PassContext(opt_level=3), relay.quantize.qconfig(**chosen):
        return relay.quantize.quantize(module, dataset=dataset)


def natively(module: ModuleOp, arrays: Sequence[Array]) -> Array:
    return compiled(module)(arrays)


def interpreted(module: ModuleOp, arrays: Sequence[Array]) -> Array:
    """Tests of the choices of quantisation run the interpreter, which others compare with native code."""
    return xrelay.interpret(module, list(arrays))[0]


def compiled(module: ModuleOp) -> Callable[[Sequence[Array]], Array]:
    """The first result of the native code of a module."""
    model = xrelay.compile(module, cache=False, threads=1)
    return lambda arrays: model.run(list(arrays))[0]


@cache
def residual_floats() -> Callable[[Sequence[Array]], Array]:
    """What the residual network computes in floats, compiled once."""
    return compiled(residual_network())


def names(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("relay.") for op in walk_ops(module)]


def check_products_are_of_bytes(module: ModuleOp, count: int) -> None:
    """Checks that there are `count` products, with 8-bit operands and 32-bit sums."""
    products = [op for op in walk_ops(module) if op.name in ("relay.qnn.conv2d", "relay.qnn.dense")]
    assert len(products) == count
    for op in products:
        assert [element_type_of(operand.type) for operand in op.operands[:2]] == [i8, i8]
        assert element_type_of(op.results[0].type) == i32
    assert not {"nn.conv2d", "nn.dense", "nn.conv1d"} & set(names(module))


@pytest.mark.grid(3)
@pytest.mark.parametrize("mode", ["kl_divergence", "percentile", "max"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_a_residual_network(mode: str, per_channel: bool) -> None:
    module, dataset = residual_network(), batches(2, 3, 12, 12)
    found = quantized(module, dataset, calibrate_mode=mode, per_channel=per_channel)
    check_products_are_of_bytes(found, 5)
    assert not {"nn.relu", "nn.global_avg_pool2d"} & set(names(found))
    (data,) = batches(2, 3, 12, 12, count=1, seed=7)
    inputs = [data["data"]]
    native = natively(found, inputs)
    assert signal_to_noise(residual_floats()(inputs), native) > DECIBELS
    np.testing.assert_array_equal(native, xrelay.interpret(found, inputs)[0])


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_a_perceptron(dtype: str) -> None:
    module, dataset = perceptron(), batches(4, 24)
    found = quantized(module, dataset, calibrate_mode="max", dtype_input=dtype)
    assert names(found).count("qnn.dense") == 3
    assert "nn.dense" not in names(found)
    assert "nn.softmax" in names(found)
    inputs = [dataset[0]["data"]]
    native = natively(found, inputs)
    assert signal_to_noise(interpreted(module, inputs), native) > DECIBELS
    # Products are exact; the float softmax rounds differently in native code and the interpreter.
    np.testing.assert_allclose(native, xrelay.interpret(found, inputs)[0], rtol=1e-5)


@pytest.mark.parametrize("network", [residual_network, perceptron])
def test_a_batch_of_any_size(network: Callable[[Any], relay.IRModule]) -> None:
    module = network(named_batch())
    shape = (3, 12, 12) if network is residual_network else (24,)
    dataset = [*batches(4, *shape), *batches(1, *shape, count=2, seed=2)]
    found = quantized(module, dataset, calibrate_mode="max")
    assert {"nn.conv2d", "nn.dense"}.isdisjoint(names(found))
    integers = compiled(found)
    for count in (1, 3, 8):
        inputs = [batches(count, *shape, count=1, seed=9)[0]["data"]]
        native = integers(inputs)
        assert signal_to_noise(interpreted(module, inputs), native) > DECIBELS
        np.testing.assert_allclose(native, xrelay.interpret(found, inputs)[0], rtol=1e-5)


def test_without_data_by_the_global_scale() -> None:
    module = residual_network()
    found = quantized(module)
    check_products_are_of_bytes(found, 5)
    inputs = [batches(2, 3, 12, 12, count=1)[0]["data"]]
    # The scale covers numbers up to 8, though these are within 4: steps are twice as wide, and the ratio 6 dB less.
    assert signal_to_noise(residual_floats()(inputs), interpreted(found, inputs)) > DECIBELS - 6


def test_scales_of_channels_are_finer() -> None:
    weights, x = Weights(), relay.var("data", shape=(1, 8, 10, 10))
    kernel = weights.rng.normal(size=(16, 8, 3, 3)) * np.logspace(-2, 1, 16).reshape(-1, 1, 1, 1)
    result = relay.nn.conv2d(x, relay.const(kernel.astype(np.float32)), padding=1)
    module, dataset = relay.IRModule.from_expr(relay.Function([x], result)), batches(1, 8, 10, 10)
    inputs = [dataset[0]["data"]]
    expected = interpreted(module, inputs)
    small: list[float] = []
    for per_channel in (False, True):
        found = quantized(module, dataset, calibrate_mode="max", per_channel=per_channel)
        small.append(signal_to_noise(expected[:, 0], interpreted(found, inputs)[:, 0]))
    # The first filter is a thousandth of the last one, so a common scale would round it to 0.
    assert small[0] < 10
    assert small[1] > DECIBELS


@pytest.mark.parametrize("bits", [2, 4, 6])
def test_fewer_bits(bits: int) -> None:
    module, dataset = perceptron(sizes=(24, 32, 5)), batches(4, 24)
    found = quantized(module, dataset, calibrate_mode="max", nbit_input=bits, nbit_weight=bits)
    most = 2 ** (bits - 1) - 1
    weights = [
        op for op in walk_ops(found) if op.name == "relay.constant" and element_type_of(op.results[0].type) == i8
    ]
    assert weights
    for op in weights:
        array: Array = getattr(op, "array")  # noqa: B009 (a constant, recognised by its name)
        assert np.abs(array.astype(int)).max() == most
    inputs = [dataset[0]["data"]]
    native = natively(found, inputs)
    np.testing.assert_allclose(native, interpreted(found, inputs), rtol=1e-5)
    if bits == 6:
        assert signal_to_noise(interpreted(module, inputs), native) > DECIBELS - 6 * 2


@pytest.mark.grid(2)
@pytest.mark.parametrize("left_out", [[0], [1], [-1], [0, 1, 2, 3]])
def test_convolutions_that_are_left_out(left_out: list[int]) -> None:
    module, dataset = residual_network(), batches(2, 3, 12, 12)
    found = quantized(module, dataset, calibrate_mode="max", skip_conv_layers=left_out)
    assert names(found).count("nn.conv2d") == len(left_out)
    assert names(found).count("qnn.conv2d") == 4 - len(left_out)
    inputs = [dataset[0]["data"]]
    assert signal_to_noise(residual_floats()(inputs), interpreted(found, inputs)) > DECIBELS


def test_products_of_two_tensors() -> None:
    x = relay.var("data", shape=(2, 6, 8))
    y = relay.var("other", shape=(2, 5, 8))
    module = relay.IRModule.from_expr(relay.Function([x, y], relay.nn.batch_matmul(x, y)))
    rng = np.random.default_rng(0)
    dataset = [{"data": rng.normal(size=(2, 6, 8)), "other": rng.normal(size=(2, 5, 8))} for _ in range(3)]
    found = quantized(module, dataset, calibrate_mode="max")
    assert "qnn.batch_matmul" in names(found)
    inputs = [dataset[0][name].astype(np.float32) for name in ("data", "other")]
    assert signal_to_noise(natively(module, inputs), natively(found, inputs)) > DECIBELS


def test_the_simulation_is_one_of_floats() -> None:
    module, dataset = residual_network(), batches(2, 3, 12, 12)
    simulated = quantized(module, dataset, calibrate_mode="max", do_simulation=True)
    assert names(simulated).count("nn.conv2d") == 4
    inputs = [dataset[0]["data"]]
    integers = interpreted(quantized(module, dataset, calibrate_mode="max"), inputs)
    # Both round alike except for single steps, far below their common noise.
    assert signal_to_noise(natively(simulated, inputs), integers) > DECIBELS + 6
    realized = relay.quantize.realize()(simulated)
    np.testing.assert_allclose(interpreted(realized, inputs), integers, rtol=1e-5)


def test_requantisation_rounds_as_asked() -> None:
    module, dataset = residual_network(), batches(2, 3, 12, 12)
    found = quantized(module, dataset, calibrate_mode="max", rounding="TONEAREST")
    assert 'rounding = "TONEAREST"' in str(found)
    inputs = [dataset[0]["data"]]
    assert signal_to_noise(residual_floats()(inputs), natively(found, inputs)) > DECIBELS


@pytest.mark.grid(3)
@pytest.mark.parametrize("mode", ["kl_divergence", "percentile", "max"])
@pytest.mark.parametrize("value", [0.0, 3.0], ids=["zeros", "constant"])
def test_data_that_never_varies(value: float, mode: str) -> None:
    dataset = [{"data": np.full((2, 3, 12, 12), value)}]
    found = quantized(residual_network(), dataset, calibrate_mode=mode)
    inputs = [dataset[0]["data"].astype(np.float32)]
    assert signal_to_noise(residual_floats()(inputs), interpreted(found, inputs)) > DECIBELS
