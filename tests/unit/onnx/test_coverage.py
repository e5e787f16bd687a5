"""`xrelay inspect --coverage` for a model with every possible problem."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.conversion import ConversionKind
from xrelay.frontend.onnx.coverage import MAX_READ, Coverage, coverage
from xrelay.tools.commands.coverage import as_json, as_text


def function(name: str, *ops: str) -> onnx.FunctionProto:
    names = ["a", *(f"v{number}" for number in range(len(ops)))]
    nodes = [helper.make_node(op, [names[i]], [names[i + 1]], name=f"of {op}") for i, op in enumerate(ops)]
    return helper.make_function("local", name, ["a"], [names[-1]], nodes, [helper.make_opsetid("", 13)])


def wrong_model() -> onnx.ModelProto:
    body = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["r"]), helper.make_node("Zap", ["x"], ["dead"])], "b", [], [value("r", (2,))]
    )
    nodes = [
        helper.make_node("Broken", ["x"], ["y0"], domain="local"),
        helper.make_node("Fine", ["x"], ["y1"], domain="local"),
        helper.make_node("Frob", ["x"], ["y2"], name="frob"),
        helper.make_node("Sigmoid", ["y2"], ["y3"]),
        helper.make_node("If", ["c"], ["y4"], then_branch=body, else_branch=body),
        helper.make_node("StringUpper", ["s"], ["y5"]),
        helper.make_node("Identity", ["s"], ["y6"]),
        helper.make_node("Add", ["x", "nowhere"], ["y7"], name="add"),
        helper.make_node("SoftmaxCrossEntropyLoss", ["l", "t"], ["y8"]),
        helper.make_node("Celu", ["x"], ["dead"]),
        helper.make_node("MatMul", ["l", "l"], ["y9"], name="product"),
        helper.make_node("Relu", ["x"], ["y10"], name="relu", slope=1),
    ]
    inputs = [value("x", (2,)), value("c", (), TensorProto.BOOL), value("s", (2,), TensorProto.STRING)]
    inputs += [value("l", (3, 5)), value("t", (3,), TensorProto.INT64)]
    source = model(nodes, inputs, [f"y{number}" for number in range(11)], opset=20)
    source.functions.extend([function("Broken", "Relu", "Nope"), function("Fine", "Relu"), function("Unread", "Zap")])
    source.opset_import.append(helper.make_opsetid("local", 1))
    return source


def coverage_of(source: onnx.ModelProto, folder: Path) -> Coverage:
    path = folder / "model.onnx"
    path.write_bytes(source.SerializeToString())
    return coverage(path)


def test_every_node_is_counted_and_every_fault_found(tmp_path: Path) -> None:
    found = coverage_of(wrong_model(), tmp_path)
    assert not found.is_whole
    assert {(op.op_type, op.opset): dict(op.kinds) for op in found.ops if op.kinds.total()} == {
        ("Fine", 1): {ConversionKind.FUNCTION: 1},
        ("If", 20): {ConversionKind.CONVERTER: 1},
        ("Neg", 20): {ConversionKind.CONVERTER: 2},
        ("Relu", 13): {ConversionKind.CONVERTER: 2},
        ("SoftmaxCrossEntropyLoss", 20): {ConversionKind.DEFINITION: 1},
    }
    reasons = {op.op_type: op.refused for op in found.ops if op.refused}
    assert reasons == {
        "Add": {"input 'nowhere' is not defined in the model": ["add"]},
        "Broken": {"node 'y0/of Nope' (Nope, opset 13): no converter for this op": ["y0"]},
        "Frob": {"no converter for this op": ["frob"]},
        "MatMul": {"[relay.nn.matmul C3] the depths of tensor_a and tensor_b differ: 5 != 3": ["product"]},
        "Nope": {"no converter for this op": ["of Nope"]},
        "Relu": {"attribute 'slope' is not supported by the converter": ["relu"]},
        "StringUpper": {"no converter for this op": ["y5"]},
    }
    assert {op.op_type: op.unneeded for op in found.ops if op.unneeded} == {"Zap": 2, "Celu": 1}
    assert [op.op_type for op in found.ops if op.untried] == ["Identity", "Sigmoid"]
    assert found.problems == ["input 's': element type STRING is not supported"]
    text = as_text(found)
    assert text[0].split() == ["domain", "op", "opset", "nodes", "imported", "by"]
    assert re.match(r"7 of 19 nodes .*7 of 16 ops\); 2 depend on", text[-1])
    data = json.loads(as_json(found))
    assert data["whole"] is False
    assert {op["op"]: op["nodes"] for op in data["ops"]} == {op.op_type: op.nodes for op in found.ops}


def test_a_model_that_is_whole(tmp_path: Path) -> None:
    found = coverage_of(model([helper.make_node("Relu", ["x"], ["y"])], [value("x", ("n",))], ["y"]), tmp_path)
    assert found.is_whole
    relu, totals = as_text(found)[1:]
    assert relu == "ai.onnx  Relu  17     1      converter"
    assert re.fullmatch(r"0 of 1 nodes .*0 of 1 ops\)", totals)


def elsewhere(name: str, size: int) -> onnx.TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.INT64, dims=[size], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=f"{name}.bin")
    return tensor


def test_large_weights_in_files_are_not_read_and_missing_ones_end_nothing(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["a"]),
        helper.make_node("Add", ["x", "large"], ["b"]),
        helper.make_node("Add", ["x", "absent"], ["c"]),
        helper.make_node("Reshape", ["x", "absent"], ["d"], name="reshape"),
    ]
    source = model(nodes, [value("x", ("n",), TensorProto.INT64)], ["a", "b", "c", "d"])
    large = MAX_READ // 8 + 1
    source.graph.initializer.extend([elsewhere("shape", 2), elsewhere("large", large), elsewhere("absent", 2)])
    (tmp_path / "shape.bin").write_bytes(np.array([-1, 1]).tobytes())
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate(8 * large)
    found = coverage_of(source, tmp_path)
    assert [problem.partition("tensor ")[2][:8] for problem in found.problems] == ["'absent'"]
    assert sum(op.kinds.total() for op in found.ops) >= 3


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x00\x01")
    with pytest.raises(ModelImportError, match="not an ONNX model"):
        coverage(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(ModelImportError, match="cannot read the model"):
        coverage(path)
