"""The programs of the pictures, and the stages of the compiler on them."""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms import get_all_passes

from xrelay.lowering.pipelines import Phase, compile_stages
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module

NETWORK: Final = """
func.func @main(%image: tensor<1x16x28x28xf32>, %v: tensor<16x16x3x3xf32>, %w: tensor<16x16x3x3xf32>) -> !relay.incomplete {
  %conv1 = relay.nn.conv2d(%image, %v) {padding = [1, 1, 1, 1]} : (tensor<1x16x28x28xf32>, tensor<16x16x3x3xf32>) -> !relay.incomplete
  %relu1 = relay.nn.relu(%conv1) : (!relay.incomplete) -> !relay.incomplete
  %conv2 = relay.nn.conv2d(%relu1, %w) {padding = [1, 1, 1, 1]} : (!relay.incomplete, tensor<16x16x3x3xf32>) -> !relay.incomplete
  %sum = relay.add(%conv2, %image) : (!relay.incomplete, tensor<1x16x28x28xf32>) -> !relay.incomplete
  %relu2 = relay.nn.relu(%sum) : (!relay.incomplete) -> !relay.incomplete
  %conv3 = relay.nn.conv2d(%relu2, %v) {padding = [1, 1, 1, 1]} : (!relay.incomplete, tensor<16x16x3x3xf32>) -> !relay.incomplete
  %tanh = relay.tanh(%conv3) : (!relay.incomplete) -> !relay.incomplete
  %mean = relay.nn.global_avg_pool2d(%tanh) : (!relay.incomplete) -> !relay.incomplete
  %row = relay.nn.batch_flatten(%mean) : (!relay.incomplete) -> !relay.incomplete
  %scores = relay.nn.softmax(%row) : (!relay.incomplete) -> !relay.incomplete
  func.return %scores : !relay.incomplete
}
"""  # noqa: E501
"""A block of a residual network."""
BRANCHES: Final = """
func.func @main(%x: tensor<1x16x28x28xf32>, %w: tensor<16x16x3x3xf32>) -> !relay.incomplete {
  %conv = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]} : (tensor<1x16x28x28xf32>, tensor<16x16x3x3xf32>) -> !relay.incomplete
  %gate = relay.sigmoid(%conv) : (!relay.incomplete) -> !relay.incomplete
  %value = relay.tanh(%conv) : (!relay.incomplete) -> !relay.incomplete
  %sum = relay.add(%gate, %value) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %flat = relay.reshape(%sum) {newshape = [16, -1]} : (!relay.incomplete) -> !relay.incomplete
  %best = relay.max(%flat) {axis = [1]} : (!relay.incomplete) -> !relay.incomplete
  func.return %best : !relay.incomplete
}
"""  # noqa: E501
"""A convolution whose two consumers meet."""
PRODUCT: Final = """
func.func @main(%a: tensor<64x128xf32>, %b: tensor<128x64xf32>) -> tensor<64x64xf32> {
  %c = relay.nn.matmul(%a, %b) : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  %r = relay.nn.relu(%c) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %r : tensor<64x64xf32>
}
"""
"""The kernel of the guide on schedules."""
TARGET: Final = "cpu -mcpu=x86-64-v4 -num-threads=1"
"""The pictures do not depend on the machine."""


def program(text: str) -> ModuleOp:
    """Returns the module of a text."""
    return parse_module(full_context(), text, "picture.mlir")


def run_passes(module: ModuleOp, passes: str) -> None:
    """Runs passes in the syntax of `-p` on a module, in place."""
    run_pipeline(module, parse_passes(passes, {**get_all_passes(), **pass_thunks()}), context=full_context())


def stages(text: str) -> dict[Phase, ModuleOp]:
    """Returns the program after each stage of the compiler."""
    module, found = program(text), dict[Phase, ModuleOp]()
    for stage in compile_stages(opt_level=1, schedule_target=TARGET):
        run_passes(module, ",".join(stage.passes))
        found[stage.phase] = module.clone()
    return found
