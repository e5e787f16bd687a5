"""Models that contradict the standard, or their own declarations."""

from __future__ import annotations

import logging

import onnx
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

X = [value("x", (2, "n"))]


def relu_declared(shape: tuple[int | str | None, ...] | None, elem: int = TensorProto.FLOAT) -> onnx.ModelProto:
    source = model([helper.make_node("Relu", ["x"], ["y"], name="relu")], X, ["y"])
    source.graph.output[0].CopyFrom(value("y", shape, elem))
    return source


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (helper.make_node("Relu", ["x", "x"], ["y"], name="n"), "2 inputs, Relu has at most 1"),
        (helper.make_node("Add", ["x", "x", "x"], ["y"], name="n"), "3 inputs, Add has at most 2"),
        (helper.make_node("Relu", ["x"], ["y", "z"], name="n"), "2 outputs, Relu has at most 1"),
        (helper.make_node("Split", ["x", "x", "x"], ["y"], name="n"), "3 inputs, Split has at most 2"),
    ],
    ids=lambda value: getattr(value, "op_type", ""),
)
def test_more_inputs_or_outputs_than_the_op_has(node: onnx.NodeProto, reason: str) -> None:
    with pytest.raises(ModelImportError, match=f"node 'n' .*: .*{reason}"):
        import_onnx(model([node], X, ["y"]))


def test_empty_names_and_any_number_where_the_op_takes_it() -> None:
    nodes = [
        helper.make_node("Relu", ["x", ""], ["a", ""]),
        helper.make_node("Sum", ["a"] * 50, ["b"]),
        helper.make_node("Dropout", ["b"], ["y", ""]),
    ]
    import_onnx(model(nodes, X, ["y"]))


@pytest.mark.parametrize(("op", "opset", "most"), [("Dropout", 7, 1), ("BatchNormalization", 15, 5)])
def test_the_number_is_that_of_the_opset(op: str, opset: int, most: int) -> None:
    node = helper.make_node(op, ["x"] * (most + 1), ["y"])
    with pytest.raises(ModelImportError, match=f".*{most + 1} inputs, {op} has at most {most}"):
        import_onnx(model([node], X, ["y"], opset=opset))


def test_an_output_of_another_type_is_refused() -> None:
    with pytest.raises(ModelImportError, match=r"output 'y': the model declares INT64, .* f32"):
        import_onnx(relu_declared((2, "n"), TensorProto.INT64))
    with pytest.raises(ModelImportError, match="output 'y': element type STRING is not supported"):
        import_onnx(relu_declared((2, "n"), TensorProto.STRING))


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((2, "n"), None),
        ((2, "other"), None),
        ((None, 5), None),
        ((2, -1), None),
        (None, None),
        ((3, "n"), "[3, ?], its graph has [2, n]"),
        ((2,), "[2], its graph has [2, n]"),
        ((), "[], its graph has [2, n]"),
    ],
)
def test_an_output_of_another_shape_gives_a_warning(
    shape: tuple[int | str | None, ...] | None, text: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        import_onnx(relu_declared(shape))
    assert [record.getMessage() for record in caplog.records] == (
        [] if text is None else [f"output 'y': the model declares the shape {text}"]
    )


@pytest.mark.parametrize("opset", [10**4, 2**62])
def test_an_opset_that_nobody_knows_yet(opset: int, caplog: pytest.LogCaptureFixture) -> None:
    source = relu_declared((2, "n"))
    source.opset_import[0].version = opset
    with caplog.at_level(logging.WARNING):
        import_onnx(source)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"graph: opset {opset} is read as opset {onnx.defs.onnx_opset_version()}")
