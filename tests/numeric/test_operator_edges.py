"""What random uses of operators found: nothing of an extent of 0, truth values that are divided."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
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
DIVIDED = """
func.func @main(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {{
  %z = relay.{op}(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %z : tensor<4xi1>
}}
"""


def test_no_channels_are_reorganised() -> None:
    module = parse_module(full_context(), REORGANISED, "reorg.mlir")
    x = np.zeros((1, 0, 4, 6), np.float32)
    for found in (xrelay.interpret(module, [x]), xrelay.compile(module, cache=False, threads=1).run([x])):
        assert found[0].shape == (1, 0, 2, 3)


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
