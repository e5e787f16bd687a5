"""`partition_conversions`: functions for the conversions of a quantised program, and an integer core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.float_networks import Weights, batches, named_batch, perceptron, residual_network
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay, transform
from xrelay.errors import InputError, XRelayError

Array = NDArray[Any]
PARTS = {"quantize_inputs", "quantized_main", "dequantize_outputs", "main"}


def quantized(module: relay.IRModule, dataset: Any = None, **options: Any) -> relay.IRModule:
    chosen = {"skip_conv_layers": None, "skip_dense_layer": False, **options}
    with transform.PassContext(opt_level=3), relay.quantize.qconfig(**chosen):
        return relay.quantize.quantize(module, dataset=dataset)


def natively(module: ModuleOp, *arrays: Array) -> list[Array]:
    return xrelay.compile(module, cache=False, threads=1).run(list(arrays))


def alone(module: relay.IRModule, name: str) -> relay.IRModule:
    return relay.IRModule.from_expr(module[name])


def test_the_parts_compute_what_the_whole_does() -> None:
    module, dataset = residual_network(), batches(2, 3, 12, 12)
    whole = quantized(module, dataset, calibrate_mode="max")
    parts = quantized(module, dataset, calibrate_mode="max", partition_conversions="fully_integral")
    assert {name.name_hint for name in parts.get_global_vars()} == PARTS
    data = dataset[0]["data"]
    (expected,) = xrelay.interpret(whole, [data])
    np.testing.assert_array_equal(natively(parts, data)[0], expected)
    np.testing.assert_array_equal(xrelay.interpret(parts, [data])[0], expected)
    step = natively(alone(parts, "quantize_inputs"), data)
    assert step[0].dtype == np.int8
    step = natively(alone(parts, "quantized_main"), *step)
    assert step[0].dtype == np.int32
    np.testing.assert_array_equal(natively(alone(parts, "dequantize_outputs"), *step)[0], expected)


def test_names_stay() -> None:
    parts = quantized(perceptron(), partition_conversions="enabled")
    model = xrelay.compile(parts, cache=False)
    assert (model.input_names, model.output_names) == (["data"], ["output"])


def test_a_batch_of_any_size() -> None:
    x = relay.var("data", shape=(named_batch(), 6))
    module = relay.IRModule.from_expr(relay.Function([x], relay.nn.relu(Weights().dense(x, 6, 3))))
    whole = quantized(module)
    parts = xrelay.compile(quantized(module, partition_conversions="fully_integral"), cache=False, threads=1)
    for count in (1, 5):
        data = batches(count, 6, count=1)[0]["data"]
        np.testing.assert_array_equal(parts.run([data])[0], xrelay.interpret(whole, [data])[0])


def test_several_inputs_and_results() -> None:
    weights = Weights()
    x, y, extra = (relay.var(name, shape=(2, 6)) for name in ("x", "y", "extra"))
    first, second = weights.dense(x, 6, 4), weights.dense(y, 6, 4)
    results = relay.Tuple([first + second, relay.exp(extra), first])
    module = relay.IRModule.from_expr(relay.Function([x, y, extra], results))
    parts = quantized(module, partition_conversions="enabled")
    arrays = [np.random.default_rng(n).normal(size=(2, 6)).astype(np.float32) for n in range(3)]
    for found, expected in zip(natively(parts, *arrays), natively(quantized(module), *arrays), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert [array.dtype.name for array in natively(alone(parts, "quantize_inputs"), *arrays)] == [
        "int8",
        "int8",
        "float32",
    ]
    with pytest.raises(AssertionError, match="input 'extra' is read as floats"):
        quantized(module, partition_conversions="fully_integral")


def test_floats_in_the_middle_are_an_error_where_none_may_be() -> None:
    weights, x = Weights(), relay.var("x", shape=(2, 6))
    middle = relay.sigmoid(weights.dense(x, 6, 6))
    module = relay.IRModule.from_expr(relay.Function([x], weights.dense(middle, 6, 3)))
    assert "relay.sigmoid" in str(alone(quantized(module, partition_conversions="enabled"), "quantized_main"))
    with pytest.raises(XRelayError, match="is computed in floats; help: partition_conversions='enabled'"):
        quantized(module, partition_conversions="fully_integral")


def test_a_result_that_is_no_dequantisation() -> None:
    module = perceptron()
    parts = quantized(module, partition_conversions="enabled")
    data = batches(4, 24)[0]["data"]
    np.testing.assert_allclose(natively(parts, data)[0], xrelay.interpret(quantized(module), [data])[0], rtol=1e-6)
    with pytest.raises(AssertionError, match="is computed in floats"):
        quantized(module, partition_conversions="fully_integral")


def test_nothing_to_quantise() -> None:
    x = relay.var("x", shape=(4,))
    module = relay.IRModule.from_expr(relay.Function([x], relay.exp(x)))
    parts = quantized(module, partition_conversions="enabled")
    assert {name.name_hint for name in parts.get_global_vars()} == PARTS
    np.testing.assert_allclose(natively(parts, np.ones(4, np.float32))[0], np.e, rtol=1e-6)
    with pytest.raises(AssertionError, match="input 'x' is read as floats"):
        quantized(module, partition_conversions="fully_integral")


def test_fewer_bits_are_cut_with_the_inputs() -> None:
    parts = quantized(perceptron(), nbit_input=4, partition_conversions="enabled")
    (found,) = natively(alone(parts, "quantize_inputs"), np.full((4, 24), 100.0, np.float32))
    assert (found == 7).all()


def test_other_functions_are_refused() -> None:
    x, y = relay.var("x", shape=(2, 6)), relay.var("y", shape=(2, 6))
    module = relay.IRModule({"half": relay.Function([x], x * relay.const(0.5))})
    module["main"] = relay.Function([y], Weights().dense(module.get_global_var("half")(y), 6, 3))
    with pytest.raises(InputError, match=r"requires a module with @main only, found @half, @main; help: inline"):
        quantized(module, partition_conversions="enabled")
