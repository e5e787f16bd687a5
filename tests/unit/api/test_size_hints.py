"""Size hints for named dimensions: from `shapes=` and the command line, and their effects."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

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


def test_a_single_size_that_is_no_extent_is_refused() -> None:
    with pytest.raises(InputError, match="the size of n is -1"):
        xrelay.compile(xrelay.parse(MODULE), shapes={"n": -1})


def test_interpreters_keep_the_promise_at_every_level() -> None:
    module = xrelay.parse(MODULE.replace(" {\n", " attributes {relay.sizes = {n = array<i64: 1, 8, 4>}} {\n", 1))
    with pytest.raises(InterpreterError, match="@main requires n in 1 to 8, got 9"):
        xrelay.interpret(module, [np.zeros((9, 3), np.float32)])


TWO = """
func.func @main(%x: tensor<?x?xf32, #relay.dims<n, m>>, %y: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %z = relay.expand_dims(%y) {axis = 1} : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  %r = relay.add(%x, %z) : (tensor<?x?xf32, #relay.dims<n, m>>, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}"""


@pytest.fixture(params=["text", "onnx"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file with `TWO`, or the same as an ONNX model."""
    path = tmp_path / f"two.{'mlir' if request.param == 'text' else 'onnx'}"
    if request.param == "text":
        path.write_text(TWO)
        return path
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
              for name, dims in (("x", ["n", "m"]), ("y", ["n"]), ("r", ["n", "m"]))]  # fmt: skip
    nodes = [onnx.helper.make_node("Unsqueeze", ["y", "one"], ["z"]), onnx.helper.make_node("Add", ["x", "z"], ["r"])]
    one = onnx.numpy_helper.from_array(np.array([1], np.int64), "one")
    graph = onnx.helper.make_graph(nodes, "g", values[:2], values[2:], [one])
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    return path


def test_one_number_is_the_size_of_a_dimension_in_all_inputs(two: Path) -> None:
    model = xrelay.compile(two, shapes={"n": 2}, threads=1)
    assert [spec.shape for spec in model.inputs] == [(2, "m"), (2,)]
    x, y = np.ones((2, 3), np.float32), np.arange(2, dtype=np.float32)
    model.specialize({"m": 3})
    assert np.array_equal(model(x, y)[0], x + y[:, None])
    assert np.array_equal(model(x[:, :2], y)[0], x[:, :2] + y[:, None])
    with pytest.raises(InputError, match="float32"):
        model(x[:1], y[:1])
    fixed = xrelay.compile(two, shapes={"n": 2, "m": 3}, threads=1)
    assert [spec.shape for spec in fixed.inputs] == [(2, 3), (2,)]
    assert xrelay.same(two, fixed, shapes={"n": 2, "m": 3})
    assert np.array_equal(xrelay.interpret(two, [x, y], shapes={"n": 2})[0], x + y[:, None])


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"n": (1, 8)}, r"the sizes of n are \[1, 8\], not one or three numbers"),
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
    fixed = str(import_onnx(model, shapes={"n": 8, "m": (1, 4, 2)}))
    assert "%x: tensor<8x?xf32, #relay.dims<m>>" in fixed
    assert "relay.sizes = {m = array<i64: 1, 4, 2>}" in fixed
    with pytest.raises(ModelImportError, match="shapes names 'n'"):
        import_onnx(model, shapes={"x": (1, 2), "n": (1, 128, 8)})
    with pytest.raises(ModelImportError, match=r"shapes names 'k'.*'x', 'n', 'm'"):
        import_onnx(model, shapes={"k": 8})


def test_sizes_on_the_command_line() -> None:
    assert parse_shape("n:1..128:8") == ("n", (1, 128, 8))
    assert parse_shape("a:b:1x2") == ("a:b", (1, 2))
    assert parse_shape("n:8") == ("n", (8,))
    with pytest.raises(ArgumentTypeError, match=r"name:1\.\.128:8"):
        parse_shape("n:1..128")
