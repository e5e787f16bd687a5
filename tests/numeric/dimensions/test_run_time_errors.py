"""Errors at sizes or values known only at run time: one line that names the node, and the model stays usable.

Nothing leaks: runs that fail and runs that succeed, at changing sizes, leave memory unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto
from support.exported_graph import ExportedGraph
from support.heap import COUNTED, REASON, kept_bytes
from support.onnx_models import value

from xrelay.api.compile import compile
from xrelay.errors import ExecutionError, InputError, XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]


MADE = """
func.func @main(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>, %s: tensor<1xi64>) -> !relay.incomplete {
  %one = relay.constant dense<1.0> : tensor<f32>
  %a = relay.dyn.full(%one, %s) : (tensor<f32>, tensor<1xi64>) -> !relay.incomplete
  %b = relay.if %c : tensor<i1> -> !relay.incomplete {
    relay.yield %a : !relay.incomplete
  } else {
    relay.yield %x : tensor<?xf32, #relay.dims<n>>
  }
  %y = relay.add(%x, %b) : (tensor<?xf32, #relay.dims<n>>, !relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}"""


def test_interpreter_and_native_code_name_extents_by_what_makes_them() -> None:
    module = parse_module(full_context(), MADE, "made.mlir")
    infer_types(module)
    model = compile(module, cache=False)
    inputs = [np.array(True), np.ones(3, np.float32), np.array([4])]
    for run in (model.run, partial(run_relay, module)):
        with pytest.raises(XRelayError) as error:
            run(inputs)
        assert "broadcastable(n, extent 0 of relay.if) is broadcastable(3, 4) (n = 3)" in told(error.value)
    for run in (model.run, partial(run_relay, module)):
        assert run([np.array(False), *inputs[1:]])[0].shape == (3,)


def told(error: XRelayError) -> str:
    """The message without the location of the op."""
    return str(error).replace(" at made.mlir:5:3", "")


def shared_takes(extent: int | str) -> onnx.ModelProto:
    """Two nodes that share a kernel, with others between them."""
    graph = ExportedGraph(17)
    inputs = [value("x", (extent, 3)), *(value(name, (extent,), TensorProto.INT64) for name in ("at", "then"))]
    first = graph.node("Softmax", graph.node("Gather", "x", "at", axis=0), axis=0)
    return graph.model(inputs, [graph.named("z", graph.node("Gather", first, "then", axis=0))])


@pytest.mark.parametrize("extent", [4, "n"])
def test_an_error_of_a_shared_kernel_names_the_node_that_failed(extent: int | str) -> None:
    model = compile(shared_takes(extent), cache=False)
    inputs = [np.ones((4, 3), np.float32), *np.zeros((2, 4), np.int64)]
    assert sum("Gather" in str(kernel.sources) for kernel in model.artifact.metadata.kernels) == 1
    for number, node in ((1, "/Gather_0"), (2, "/Gather_2")):
        wrong = [array + 9 * (n == number) for n, array in enumerate(inputs)]
        with pytest.raises(ExecutionError, match=rf"^{node}: .*9 is not in \[-4, 4\)") as caught:
            model.run(wrong)
        assert str(caught.value).count("Gather") == 1


LOSS_OF_ONE_CLASS = """
func.func @main(%x: tensor<2x1x4xbf16>, %t: tensor<2x4xi32>, %w: tensor<1xbf16>) -> tensor<bf16> {
  %y = relay.nn.nll_loss(%x, %t, %w) {reduction = "sum"}
      : (tensor<2x1x4xbf16>, tensor<2x4xi32>, tensor<1xbf16>) -> tensor<bf16>
  func.return %y : tensor<bf16>
}"""


@pytest.mark.parametrize("wrong", [1, -2])
def test_an_index_into_the_only_element_of_an_axis_is_checked(wrong: int) -> None:
    module = parse_module(full_context(), LOSS_OF_ONE_CLASS, "loss.mlir")
    model = compile(module.clone(), cache=False)
    bf16 = ml_dtypes.bfloat16
    classes = np.zeros((2, 4), np.int32)
    inputs = [np.ones((2, 1, 4), bf16), classes, np.ones(1, bf16)]
    assert model.run(inputs)[0] == run_relay(module, inputs)[0] == -8
    classes[1, 2] = wrong
    with pytest.raises(ExecutionError, match=rf"{wrong} is not in \[-1, 1\)"):
        model.run(inputs)
    with pytest.raises(XRelayError, match=rf"{wrong} is not in \[-1, 1\)"):
        run_relay(module, inputs)


BIAS_OF_ONE = """
func.func @main(%x: tensor<2x?x3xf32, #relay.dims<n>>, %b: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  %y = relay.nn.bias_add(%x, %b)
      : (tensor<2x?x3xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}"""


@pytest.mark.parametrize("level", [0, 3])
def test_a_bias_of_one_element_is_not_repeated(level: int) -> None:
    module = parse_module(full_context(), BIAS_OF_ONE, "bias.mlir")
    infer_types(module)
    model = compile(module.clone(), cache=False, opt_level=level)
    for run in (model.run, partial(run_relay, module)):
        for n in (0, 1, 4):
            assert run([np.zeros((2, n, 3), np.float32), np.ones(n, np.float32)])[0].sum() == 6 * n
        for n, m in ((4, 1), (0, 1), (1, 4)):
            with pytest.raises(XRelayError, match="C2"):
                run([np.zeros((2, n, 3), np.float32), np.ones(m, np.float32)])


def sum_of_rows() -> onnx.ModelProto:
    graph = ExportedGraph(17)
    inputs = [value("x", ("n", 3)), value("y", ("m", 3))]
    return graph.model(inputs, [graph.named("z", graph.node("Add", "x", graph.node("Exp", "y")))])


def taken_rows() -> onnx.ModelProto:
    graph = ExportedGraph(17)
    inputs = [value("x", ("n", 3)), value("at", ("k",), TensorProto.INT64)]
    return graph.model(inputs, [graph.named("z", graph.node("Gather", graph.node("Exp", "x"), "at", axis=0))])


def reshaped() -> onnx.ModelProto:
    graph = ExportedGraph(17)
    inputs = [value("x", ("n", 3)), value("shape", (2,), TensorProto.INT64)]
    return graph.model(inputs, [graph.named("z", graph.node("Exp", graph.node("Reshape", "x", "shape")))])


def expanded() -> onnx.ModelProto:
    graph = ExportedGraph(17)
    inputs = [value("x", ("n", 1)), value("shape", (2,), TensorProto.INT64)]
    return graph.model(inputs, [graph.named("z", graph.node("Exp", graph.node("Expand", "x", "shape")))])


def best() -> onnx.ModelProto:
    graph = ExportedGraph(17)
    inputs = [value("x", ("n", 4)), value("k", (1,), TensorProto.INT64)]
    return graph.model(inputs, [graph.named("z", graph.nodes("TopK", "x", "k", count=2, axis=-1)[0])])


def rows(n: int, width: int = 3) -> Array:
    return np.arange(n * width, dtype=np.float32).reshape(n, width) / 8


@dataclass(frozen=True)
class Failure:
    """A model, valid inputs by size, invalid inputs, and words of their error message."""

    build: Callable[[], onnx.ModelProto]
    good: Callable[[int], list[Array]]
    bad: list[Array]
    words: tuple[str, ...]
    error: type[XRelayError] = ExecutionError


FAILURES = {
    "wrong size": Failure(sum_of_rows, lambda n: [rows(n), rows(n)], [rows(2), rows(2, 4)], ("'y'", "4"), InputError),
    "extents that do not broadcast": Failure(
        sum_of_rows, lambda n: [rows(n), rows(1)], [rows(2), rows(5)], ("/Add_1", "relay.add C2", "2", "5")
    ),
    "index out of range": Failure(
        taken_rows, lambda n: [rows(n + 1), np.arange(n)], [rows(3), np.array([0, 3])], ("/Gather_1", "3")
    ),
    "reshape": Failure(
        reshaped, lambda n: [rows(n), np.array([3, n or -1])], [rows(4), np.array([5, 2])], ("/Reshape_0", "12", "10")
    ),
    "expand": Failure(
        expanded, lambda n: [rows(n, 1), np.array([n, 2])], [rows(3, 1), np.array([2, 2])], ("/Expand_0", "3", "2")
    ),
    "more than there are": Failure(
        best, lambda n: [rows(n, 4), np.array([n % 5])], [rows(3, 4), np.array([7])], ("/TopK_0", "7", "4")
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_one_line_names_the_node_and_the_model_runs_on(name: str) -> None:
    case = FAILURES[name]
    proto = case.build()
    native, module = compile(proto, cache=False, threads=1), import_onnx(proto)

    def run(number: int) -> None:
        good = case.good(number % 7)
        np.testing.assert_allclose(native.run(good)[0], run_relay(module, good)[0], rtol=1e-5)
        with pytest.raises(case.error) as caught:
            native.run(case.bad)
        text = str(caught.value)
        assert "\n" not in text
        assert all(word in text for word in case.words), text

    for number in range(20):
        run(number)


@pytest.mark.skipif(not COUNTED, reason=REASON)
def test_memory_is_flat_over_runs_that_fail_and_do_not() -> None:
    """Each run allocates 60 to 120 kB by the size of its operand, so a round that leaks them would leak 6 MB."""
    native = compile(reshaped(), cache=False, threads=1)

    def run(number: int) -> None:
        n = 5000 + 5000 * (number % 7) // 6
        native.run([rows(n), np.array([3, -1])])
        with pytest.raises(ExecutionError, match="Reshape_0"):
            native.run([rows(n), np.array([7, n])])

    assert kept_bytes(lambda: [run(number) for number in range(75)]) < 50_000
