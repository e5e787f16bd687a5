"""Programs with named dimensions: compiled once, run at several sizes, equal to the interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel
from xrelay.api.stage_runner import StageRunner
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.at_level import run_at_level
from xrelay.lowering.pipelines import Phase, compile_stages
from xrelay.passes.infra.source import full_context, parse_module

DENSE = """
func.func @main(%x: tensor<?x8xf32, #relay.dims<n>>, %b: tensor<?x8xf32, #relay.dims<m>>, %w: tensor<4x8xf32>)
    -> tensor<?x4xf32, #relay.dims<n>> {
  %a = relay.add(%x, %b) : (tensor<?x8xf32, #relay.dims<n>>, tensor<?x8xf32, #relay.dims<m>>) -> !relay.incomplete
  %d = relay.nn.dense(%a, %w) : (!relay.incomplete, tensor<4x8xf32>) -> !relay.incomplete
  %y = relay.nn.relu(%d) : (!relay.incomplete) -> tensor<?x4xf32, #relay.dims<n>>
  func.return %y : tensor<?x4xf32, #relay.dims<n>>
}
"""
CONV = """
func.func @main(%x: tensor<?x3x?x9xf32, #relay.dims<n, h>>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x4x1x1xf32>)
    -> !relay.incomplete {
  %c = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], strides = [2, 2]}
    : (tensor<?x3x?x9xf32, #relay.dims<n, h>>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  %r = relay.nn.relu(%c) : (!relay.incomplete) -> !relay.incomplete
  %p = relay.nn.max_pool2d(%r) {pool_size = [2, 2], strides = [1, 1]} : (!relay.incomplete) -> !relay.incomplete
  %d = relay.nn.conv2d(%p, %v) : (!relay.incomplete, tensor<4x4x1x1xf32>) -> !relay.incomplete
  %s = relay.add(%d, %p) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %g = relay.nn.global_avg_pool2d(%s) : (!relay.incomplete) -> !relay.incomplete
  %y = relay.nn.batch_flatten(%g) : (!relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""
WINDOWS = """
func.func @main(%x: tensor<?x?x?x5xf32, #relay.dims<n, h, w>>) -> !relay.incomplete {
  %two = relay.constant dense<2> : tensor<1xi64>
  %four = relay.constant dense<[2, 5]> : tensor<2xi64>
  %s = relay.shape_of(%x) {dtype = i64} : (tensor<?x?x?x5xf32, #relay.dims<n, h, w>>) -> tensor<4xi64>
  %n = relay.strided_slice(%s) {begin = [0], end = [1]} : (tensor<4xi64>) -> tensor<1xi64>
  %h = relay.strided_slice(%s) {begin = [1], end = [2]} : (tensor<4xi64>) -> tensor<1xi64>
  %w = relay.strided_slice(%s) {begin = [2], end = [3]} : (tensor<4xi64>) -> tensor<1xi64>
  %h2 = relay.floor_divide(%h, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %w2 = relay.floor_divide(%w, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = relay.tuple(%n, %h2, %two, %w2, %four)
    : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> !relay.incomplete
  %extents = relay.concatenate(%t) {axis = 0} : (!relay.incomplete) -> tensor<6xi64>
  %r = relay.nn.relu(%x) : (tensor<?x?x?x5xf32, #relay.dims<n, h, w>>) -> !relay.incomplete
  %a = relay.dyn.reshape(%r, %extents) : (!relay.incomplete, tensor<6xi64>) -> !relay.incomplete
  %b = relay.transpose(%a) {axes = [0, 1, 3, 2, 4, 5]} : (!relay.incomplete) -> !relay.incomplete
  %y = relay.reshape(%b) {newshape = [-1, 4, 5]} : (!relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""
SHUFFLE = """
func.func @main(%x: tensor<?x4x?x?xf32, #relay.dims<n, h, w>>) -> !relay.incomplete {
  %a = relay.reshape(%x) {newshape = [-1, 2, 2, 6, 5]}
    : (tensor<?x4x?x?xf32, #relay.dims<n, h, w>>) -> !relay.incomplete
  %b = relay.transpose(%a) {axes = [0, 2, 1, 3, 4]} : (!relay.incomplete) -> !relay.incomplete
  %y = relay.reshape(%b) {newshape = [-1, 4, 6, 5]} : (!relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""
POOLS = """
func.func @main(%x: tensor<?x3x?x?xf32, #relay.dims<n, h, w>>)
    -> (!relay.incomplete, !relay.incomplete, !relay.incomplete) {
  %a = relay.nn.max_pool2d(%x) {pool_size = [3, 3], strides = [2, 2], ceil_mode = true}
    : (tensor<?x3x?x?xf32, #relay.dims<n, h, w>>) -> !relay.incomplete
  %b = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], strides = [2, 2], ceil_mode = true}
    : (tensor<?x3x?x?xf32, #relay.dims<n, h, w>>) -> !relay.incomplete
  %c = relay.nn.max_pool2d(%x) {pool_size = [5, 5], padding = [2, 2, 2, 2]}
    : (tensor<?x3x?x?xf32, #relay.dims<n, h, w>>) -> !relay.incomplete
  func.return %a, %b, %c : !relay.incomplete, !relay.incomplete, !relay.incomplete
}
"""
TILE = """
func.func @main(%x: tensor<?x4x?xf32, #relay.dims<n, m>>) -> !relay.incomplete {
  %y = relay.tile(%x) {reps = [2, 2, 3]} : (tensor<?x4x?xf32, #relay.dims<n, m>>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""


def through(module: ModuleOp, last: Phase) -> ModuleOp:
    """The module after the stages of the compiler up to `last`."""
    stages = compile_stages()
    phases = [stage.phase for stage in stages]
    StageRunner(stages[: phases.index(last) + 1]).run(module)
    return module


class Levels:
    """A program in relay, in loops, and native, from one text."""

    def __init__(self, text: str):
        self.relay = through(parse_module(full_context(), text, "named.mlir"), Phase.TYPED)
        self.loops = through(self.relay.clone(), Phase.LOOP)
        self.native: CompiledModel = compile(self.relay, cache=False)

    def check(self, shapes: Sequence[Sequence[int]]) -> None:
        rng = np.random.default_rng(sum(map(sum, shapes)))
        inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
        wanted = run_at_level("relay", self.relay, "main", inputs)
        for found in (run_at_level("loop", self.loops, "main", inputs), self.native.run(inputs)):
            for expected, actual in zip(wanted, found, strict=True):
                assert actual.shape == expected.shape
                np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4, err_msg=str(shapes))


@pytest.fixture(scope="module")
def dense() -> Levels:
    return Levels(DENSE)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 1), (7, 7), (7, 1), (100, 100)])
def test_a_dense_layer_at_every_size(dense: Levels, n: int, m: int) -> None:
    dense.check([(n, 8), (m, 8), (4, 8)])


@pytest.mark.parametrize(
    ("n", "m", "message"),
    [
        (3, 5, r"\[relay.add C2\] extents: broadcastable\(n, m\) is broadcastable\(3, 5\)"),
        (1, 4, r"\[relay.nn.relu C0\] result extent: broadcast\(m, n\) == n is 4 == 1"),
    ],
)
def test_demands_that_fail_name_op_and_values(dense: Levels, n: int, m: int, message: str) -> None:
    inputs = [np.zeros((n, 8), np.float32), np.zeros((m, 8), np.float32), np.zeros((4, 8), np.float32)]
    with pytest.raises(ExecutionError, match=message):
        dense.native.run(inputs)
    with pytest.raises(InterpreterError, match=message):
        run_at_level("loop", dense.loops, "main", inputs)
    dense.check([(2, 8), (2, 8), (4, 8)])


def test_a_small_network_with_open_batch_and_height() -> None:
    levels = Levels(CONV)
    for n, h in [(0, 9), (1, 9), (3, 4), (2, 11)]:
        levels.check([(n, 3, h, 9), (4, 3, 3, 3), (4, 4, 1, 1)])
    sizes: Mapping[str, int] = {"n": 2, "h": 40}
    assert levels.native.memory(sizes) < levels.native.memory({"n": 20, "h": 40}) <= 10 * levels.native.memory(sizes)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (WINDOWS, [(1, 2, 2, 5), (2, 4, 6, 5)]),
        (SHUFFLE, [(1, 4, 6, 5), (3, 4, 5, 6), (1, 4, 30, 2)]),
        (TILE, [(1, 4, 1), (0, 4, 7), (2, 4, 0), (3, 4, 19)]),
    ],
)
def test_reshapes_of_several_named_axes_copy_nothing(text: str, shapes: Sequence[Sequence[int]]) -> None:
    levels = Levels(text)
    for shape in shapes:
        levels.check([shape])
    scheduled = str(through(levels.relay.clone(), Phase.SCHEDULED))
    assert "@fused_reshape(" not in scheduled
    assert "@fused_dyn_reshape(" not in scheduled


def test_pools_of_images_of_named_size() -> None:
    levels = Levels(POOLS)
    for n, h, w in [(1, 3, 4), (2, 4, 3), (1, 6, 40), (1, 5, 131)]:
        levels.check([(n, 3, h, w)])
