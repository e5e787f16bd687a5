"""Bugs that random uses of operators found: extents of 0, divisions of booleans."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from support.one_op import check, program

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module

REORGANISED = """
func.func @main(%x: tensor<1x0x4x6xf32>) -> tensor<1x0x2x3xf32> {
  %y = relay.vision.yolo_reorg(%x) {stride = 2} : (tensor<1x0x4x6xf32>) -> tensor<1x0x2x3xf32>
  func.return %y : tensor<1x0x2x3xf32>
}
"""
REVERSED = """
func.func @main(%x: tensor<2x0xf32>, %n: tensor<2xi32>) -> tensor<2x0xf32> {
  %y = relay.reverse_sequence(%x, %n) : (tensor<2x0xf32>, tensor<2xi32>) -> tensor<2x0xf32>
  func.return %y : tensor<2x0xf32>
}
"""
POOLED = """
func.func @main(%x: tensor<1x1x5x?xf32, #relay.dims<n>>) -> tensor<1x1x5x?xf32, #relay.dims<n>> {
  %y = relay.nn.adaptive_avg_pool2d(%x) : (tensor<1x1x5x?xf32, #relay.dims<n>>) -> tensor<1x1x5x?xf32, #relay.dims<n>>
  func.return %y : tensor<1x1x5x?xf32, #relay.dims<n>>
}
"""
GROUPED = """
func.func @main(%x: tensor<?x?x3xf32, #relay.dims<m, n>>, %g: tensor<?xf32, #relay.dims<n>>,
                %b: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %y = relay.nn.group_norm(%x, %g, %b) {num_groups = 4}
      : (tensor<?x?x3xf32, #relay.dims<m, n>>, tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>)
      -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""
DIVIDED = """
func.func @main(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {{
  %z = relay.{op}(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %z : tensor<4xi1>
}}
"""
PADDED = """
func.func @main(%x: tensor<f32>, %v: tensor<f32>) -> tensor<f32> {{
  %y = relay.nn.{call} -> tensor<f32>
  func.return %y : tensor<f32>
}}
"""


def test_no_channels_are_reorganised() -> None:
    module = parse_module(full_context(), REORGANISED, "reorg.mlir")
    x = np.zeros((1, 0, 4, 6), np.float32)
    for found in (xrelay.interpret(module, [x]), xrelay.compile(module, cache=False, threads=1).run([x])):
        assert found[0].shape == (1, 0, 2, 3)


@pytest.mark.parametrize(
    "call",
    [
        "pad(%x, %v) {pad_width = []} : (tensor<f32>, tensor<f32>)",
        'pad(%x, %v) {pad_width = [], pad_mode = "edge"} : (tensor<f32>, tensor<f32>)',
        "mirror_pad(%x) {pad_width = []} : (tensor<f32>)",
    ],
)
def test_a_number_has_no_axes_to_pad(call: str) -> None:
    module = parse_module(full_context(), PADDED.format(call=call), "padded.mlir")
    inputs = [np.array(3, np.float32), np.array(5, np.float32)]
    for found in (xrelay.interpret(module, inputs), xrelay.compile(module, cache=False, threads=1).run(inputs)):
        assert found[0] == 3


def test_of_no_elements_no_lengths_are_asked_for() -> None:
    module = parse_module(full_context(), REVERSED, "reversed.mlir")
    inputs = [np.zeros((2, 0), np.float32), np.array([0, 2], np.int32)]
    for found in (xrelay.interpret(module, inputs), xrelay.compile(module, cache=False, threads=1).run(inputs)):
        assert found[0].shape == (2, 0)


@pytest.mark.parametrize("op", ["floor_mod", "mod"])
def test_truth_values_have_remainders_as_integers_do(op: str) -> None:
    module = parse_module(full_context(), DIVIDED.format(op=op), "divided.mlir")
    model = xrelay.compile(module, cache=False, threads=1)
    x, ones = np.array([True, False, True, False]), np.ones(4, np.bool_)
    for run in (partial(xrelay.interpret, module), model.run):
        assert run([x, ones])[0].tolist() == [False] * 4
        with pytest.raises((ExecutionError, InterpreterError), match="division by zero"):
            run([x, x])


def test_an_adaptive_pool_keeps_an_extent_that_is_open() -> None:
    module = parse_module(full_context(), POOLED, "pooled.mlir")
    model = xrelay.compile(module, cache=False, threads=1)
    for extent in (0, 1, 3):
        x = np.arange(5 * extent, dtype=np.float32).reshape(1, 1, 5, extent)
        np.testing.assert_array_equal(model.run([x])[0], x)


def test_groups_of_channels_whose_number_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_DEBUG", "1")
    module = parse_module(full_context(), GROUPED, "grouped.mlir")
    model = xrelay.compile(module, cache=False, threads=1)
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in ((2, 8, 3), (8,), (8,))]
    groups = inputs[0].reshape(2, 4, 6).astype(np.float64)
    normal = (groups - groups.mean(2, keepdims=True)) / np.sqrt(groups.var(2, keepdims=True) + 1e-5)
    expected = normal.reshape(2, 8, 3) * inputs[1][:, None] + inputs[2][:, None]
    np.testing.assert_allclose(model.run(inputs)[0], expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ExecutionError, match="n mod 4 == 0 is 6 mod 4 == 0"):
        model.run([np.zeros((2, 6, 3), np.float32), np.zeros(6, np.float32), np.zeros(6, np.float32)])


def test_the_root_of_a_zero_has_no_sign() -> None:
    x = np.array([[[[-1.0]], [[2.0]]]], np.float32)
    found = check(program("nn.lrn", x, bias=-0.0, alpha=-0.0, beta=0.5), [x])
    np.testing.assert_array_equal(found[0].reshape(-1), [-np.inf, np.inf])


@pytest.mark.parametrize(("beta", "first"), [(0.75, 0.0), (0.0, 1e25)])
def test_squares_that_overflow_are_infinite(beta: float, first: float) -> None:
    x = np.array([[[[1e25]], [[1.0]], [[2.0]]]], np.float32)
    found = check(program("nn.lrn", x, size=1, beta=beta), [x])
    np.testing.assert_allclose(found[0].reshape(-1)[0], first, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "uint32", "float16"])
@pytest.mark.parametrize("extent", ["n", 300])
def test_extents_as_numbers_of_a_type_that_may_lack_them(dtype: str, extent: str | int) -> None:
    x = relay.var("x", shape=(extent, 2), dtype="int8")
    module = relay.IRModule.from_expr(relay.Function([x], relay.shape_of(x, dtype=dtype)))
    model = xrelay.compile(module, cache=False, threads=1)
    for size in (0, 2, 300) if extent == "n" else (300,):
        data = np.zeros((size, 2), np.int8)
        for found in (model.run([data])[0], run_relay(module, [data])[0]):
            np.testing.assert_array_equal(found, np.array([size, 2]).astype(dtype), strict=True)


def test_a_stride_so_great_that_no_element_is_left() -> None:
    x = relay.var("x", shape=(1, "c", "h", "w"))
    module = relay.IRModule.from_expr(relay.Function([x], relay.vision.yolo_reorg(x, stride=(1 << 63) - 1)))
    model = xrelay.compile(module, cache=False, threads=1)
    assert model.run([np.zeros((1, 0, 0, 0), np.float32)])[0].shape == (1, 0, 0, 0)
