"""Size hints for named dimensions: from `shapes=` and the command line, and their effects."""

from __future__ import annotations

from argparse import ArgumentTypeError

import numpy as np
import onnx
import pytest

import xrelay
from xrelay.errors import ExecutionError, InputError, InterpreterError, ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.tools.commands.base import parse_shape

MODULE = """func.func @main(%x: tensor<?x3xf32, #relay.dims<n>>) -> tensor<?x3xf32, #relay.dims<n>> {
  %y = relay.add(%x, %x) : (tensor<?x3xf32, #relay.dims<n>>, tensor<?x3xf32, #relay.dims<n>>) -> tensor<?x3xf32, #relay.dims<n>>
  func.return %y : tensor<?x3xf32, #relay.dims<n>>
}"""  # noqa: E501


def test_sizes_within_run_and_others_are_refused() -> None:
    model = xrelay.compile(xrelay.parse(MODULE), shapes={"n": (1, 8, 4)}, threads=1)
    for n in (1, 4, 8):
        x = np.random.default_rng(n).random((n, 3), np.float32)
        assert np.array_equal(model(x)[0], 2 * x)
    for n in (0, 9):
        with pytest.raises(ExecutionError, match=f"promised size: .* \\(n = {n}\\)"):
            model(np.zeros((n, 3), np.float32))


def test_interpreters_keep_the_promise_at_every_level() -> None:
    module = xrelay.parse(MODULE.replace(" {\n", " attributes {relay.sizes = {n = array<i64: 1, 8, 4>}} {\n", 1))
    with pytest.raises(InterpreterError, match="@main requires n in 1 to 8, got 9"):
        xrelay.interpret(module, [np.zeros((9, 3), np.float32)])


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"n": (1, 8)}, "the sizes of n are 2 numbers, not 3"),
        ({"n": (4, 8, 2)}, "n .* 4, .* 8, .* 2"),
        ({"m": (1, 8, 2)}, "@main has no dimension 'm'"),
        ({"x": (4, 3)}, "inputs.*ONNX.*models"),
    ],
)
def test_what_cannot_be_said(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        xrelay.compile(xrelay.parse(MODULE), shapes=shapes)


def test_onnx_models_say_sizes_of_the_dimensions_that_stay_open() -> None:
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", "m"])
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", "m"])
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [value], [result]))
    assert "relay.sizes = {n = array<i64: 1, 128, 8>}" in str(import_onnx(model, shapes={"n": (1, 128, 8)}))
    assert "relay.sizes" not in str(import_onnx(model, shapes={"x": (1, 2)}))
    with pytest.raises(ModelImportError, match="shapes names 'n'"):
        import_onnx(model, shapes={"x": (1, 2), "n": (1, 128, 8)})


def test_sizes_on_the_command_line() -> None:
    assert parse_shape("n:1..128:8") == ("n", (1, 128, 8))
    assert parse_shape("a:b:1x2") == ("a:b", (1, 2))
    with pytest.raises(ArgumentTypeError, match=r"name:1\.\.128:8"):
        parse_shape("n:1..128")
