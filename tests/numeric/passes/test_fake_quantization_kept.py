"""Ops with an integer form for only some types and extents: in other cases they stay in floats."""

from __future__ import annotations

import numpy as np
import pytest
from numeric.passes.test_fake_quantization import compared, constant, floats, numbers, on_integers, qnn
from support.pass_checks import apply

from xrelay import relay, transform
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module

BIAS = """
func.func @main(%x: tensor<2x?xi8, #relay.dims<n>>, %b: tensor<?xi8, #relay.dims<m>>)
    -> tensor<2x?xi8, #relay.dims<n>> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %f = relay.qnn.dequantize(%x, %s, %z)
    : (tensor<2x?xi8, #relay.dims<n>>, tensor<f32>, tensor<i32>) -> tensor<2x?xf32, #relay.dims<n>>
  %g = relay.qnn.dequantize(%b, %s, %z)
    : (tensor<?xi8, #relay.dims<m>>, tensor<f32>, tensor<i32>) -> tensor<?xf32, #relay.dims<m>>
  %y = relay.nn.bias_add(%f, %g) {axis = 1}
    : (tensor<2x?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> tensor<2x?xf32, #relay.dims<n>>
  %q = relay.qnn.quantize(%y, %s, %z)
    : (tensor<2x?xf32, #relay.dims<n>>, tensor<f32>, tensor<i32>) -> tensor<2x?xi8, #relay.dims<n>>
  func.return %q : tensor<2x?xi8, #relay.dims<n>>
}
"""


@pytest.mark.parametrize("method", ["nearest_neighbor", "linear"])
def test_resized_images_of_another_type(method: str) -> None:
    data = numbers("uint8", 1, 2, 4, 5)
    x, a = floats("x", data)
    y = relay.image.resize2d(a, size=(8, 7), layout="NCHW", method=method, out_dtype="float64")
    compared([x], [data], y, 0.05, 3, "uint8")


def test_results_of_integers_stay_as_they_are_with_use_qat() -> None:
    data = numbers("uint8", 1, 2, 4, 5)
    x, a = floats("x", data)
    y = relay.image.resize2d(a, size=(8, 7), layout="NCHW", method="nearest_neighbor", out_dtype="int32")
    module = relay.Module.from_expr(relay.Function([x], y))
    changed = on_integers(module, use_qat=True)
    np.testing.assert_array_equal(*(run_relay(each, [data])[0] for each in (module, changed)))


def test_an_op_that_declares_a_movement_keeps_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    data = numbers("int8", 2, 3)
    x, a = floats("x", data)
    y = qnn.quantize(relay.trilu(a, relay.const(0), upper=True), constant(0.05, np.float32), 0, out_dtype="int8")
    module = relay.Module.from_expr(relay.Function([x], y))
    assert "relay.qnn.dequantize" in str(on_integers(module))
    monkeypatch.setattr(get_relay_op("trilu"), "QUANTIZATION", Quantization.MOVEMENT)
    changed = on_integers(module)
    assert "relay.qnn.dequantize" not in str(changed)
    np.testing.assert_array_equal(*(run_relay(each, [data])[0] for each in (module, changed)))


def test_the_greatest_of_no_numbers_stays_infinite() -> None:
    data = numbers("int8", 0, 2)
    x, a = floats("x", data)
    y = qnn.quantize(relay.max(a, axis=0), constant(0.5, np.float32), constant(0, np.int32), out_dtype="int8")
    module = relay.Module.from_expr(relay.Function([x], y))
    np.testing.assert_array_equal(*(run_relay(each, [data])[0] for each in (module, on_integers(module))))


@pytest.mark.parametrize(("shape", "scale", "zero"), [((2, 0), [], 0), ((2, 3), 0.5, -7)])
def test_steps_that_nothing_or_no_integer_has(shape: tuple[int, ...], scale: object, zero: int) -> None:
    data = numbers("uint8", *shape)
    x, a = floats("x", data, scale=scale, zero=zero, axis=1)
    steps = constant(scale, np.float32), constant(zero, np.int32)
    y = qnn.quantize(relay.nn.relu(a), *steps, axis=1, out_dtype="uint8")
    module = relay.Module.from_expr(relay.Function([x], y))
    np.testing.assert_array_equal(*(run_relay(each, [data])[0] for each in (module, on_integers(module))))


def test_a_bias_of_another_name_keeps_its_demand() -> None:
    module = transform.InferType()(parse_module(full_context(), BIAS, "bias.mlir"))
    changed = apply(module, "relay-fake-quantization-to-integer")
    changed.verify()
    data, bias = numbers("int8", 2, 3), numbers("int8", 3, seed=1)
    np.testing.assert_array_equal(*(run_relay(each, [data, bias])[0] for each in (module, changed)))
    for each in (module, changed):
        with pytest.raises(InterpreterError, match="C2"):
            run_relay(each, [data, bias[:1]])
