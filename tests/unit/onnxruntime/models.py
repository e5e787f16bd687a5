"""Small models of the tests of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def saved(graph: onnx.GraphProto, ir_version: int = 8) -> bytes:
    """Returns the bytes of a model with metadata."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=ir_version)
    model.producer_name, model.domain, model.model_version, model.doc_string = "tests", "org.tests", 3, "a model"
    helper.set_model_props(model, {"labels": "cat\ndog"})
    return model.SerializeToString()


def value(name: str, shape: Sequence[int | str | None] | None, dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def scaled_sum() -> bytes:
    """Returns a model of `sum = x * scale + y` and `twice = x + x`; `scale` is a weight that is also an input."""
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["m"]),
        helper.make_node("Add", ["m", "y"], ["sum"]),
        helper.make_node("Add", ["x", "x"], ["twice"]),
    ]
    inputs = [value("x", ["batch", 3]), value("y", ["batch", 3]), value("scale", [1])]
    outputs = [value("sum", ["batch", 3]), value("twice", None)]
    scale = numpy_helper.from_array(np.array([2], np.float32), "scale")
    return saved(helper.make_graph(nodes, "scaled", inputs, outputs, [scale], doc_string="a graph"))


def joined() -> bytes:
    """Returns a model that names an extent of its output, which follows from the input."""
    node = helper.make_node("Concat", ["x", "x"], ["y"], axis=1)
    return saved(helper.make_graph([node], "joined", [value("x", ["batch", 3])], [value("y", ["batch", "joined"])]))


def split() -> bytes:
    """Returns a model whose output is a sequence: the rows of `x`, each alone."""
    nodes = [helper.make_node("SplitToSequence", ["x"], ["rows"], axis=0)]
    rows = helper.make_tensor_sequence_value_info("rows", TensorProto.FLOAT, None)
    return saved(helper.make_graph(nodes, "split", [value("x", [1, 3])], [rows]))


def optional() -> bytes:
    """Returns a model whose optional input, if it has a value, is the output; otherwise `x` is."""
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, [3])
    given = helper.make_value_info("given", helper.make_optional_type_proto(inner))
    taken = helper.make_graph([helper.make_node("OptionalGetElement", ["given"], ["t"])], "then", [], [value("t", [3])])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["e"])], "else", [], [value("e", [3])])
    nodes = [
        helper.make_node("OptionalHasElement", ["given"], ["has"]),
        helper.make_node("If", ["has"], ["y"], then_branch=taken, else_branch=other),
    ]
    graph = helper.make_graph(nodes, "optional", [value("x", [3]), given], [value("y", [3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return model.SerializeToString()


def single(op: str, dtype: int = TensorProto.FLOAT, domain: str = "") -> bytes:
    """Returns a model of one elementwise node."""
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], domain=domain)],
        "single",
        [value("x", [2], dtype)],
        [value("y", [2], dtype)],
    )
    opsets = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def denoted_relu() -> bytes:
    """Returns a model with two dynamic extents, the first of which is denoted as the batch."""
    ends = [value(name, ["m", "n"]) for name in "xy"]
    for end in ends:
        end.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    return saved(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", ends[:1], ends[1:]))


def classifier(*labels: str) -> bytes:
    """Returns a linear classifier of three classes, whose labels may be texts, with dictionaries of probabilities."""
    keys: dict[str, Any] = {"classlabels_strings": labels} if labels else {"classlabels_int64s": [7, 8, 9]}
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["found", "scores"],
            domain="ai.onnx.ml",
            coefficients=[1.0, 0.5, -1.0, 2.0, 0.0, 1.0],
            intercepts=[0.0, 0.1, 0.2],
            post_transform="SOFTMAX",
            **(keys if labels else {"classlabels_ints": [7, 8, 9]}),
        ),
        helper.make_node("Identity", ["found"], ["label"]),
        helper.make_node("ZipMap", ["scores"], ["probabilities"], domain="ai.onnx.ml", **keys),
    ]
    key = TensorProto.STRING if labels else TensorProto.INT64
    zipped = helper.make_sequence_type_proto(helper.make_map_type_proto(key, helper.make_tensor_type_proto(1, [])))
    outputs = [value("label", ["rows"], key), helper.make_value_info("probabilities", zipped)]
    return saved_ml(nodes, [value("x", ["rows", 2])], outputs)


def nearest_name(*nodes: onnx.NodeProto) -> bytes:
    """Returns a model whose output is the name with the index of the largest column of `x`, after further nodes."""
    nodes = (
        helper.make_node("ArgMax", ["x"], ["index"], axis=1, keepdims=0),
        helper.make_node("ArrayFeatureExtractor", ["names", "index"], ["row"], domain="ai.onnx.ml"),
        *nodes,
    )
    names = helper.make_tensor("names", TensorProto.STRING, [3], [b"ash", b"birch", b"cedar"])
    output = value(nodes[-1].output[0], [1, "rows"], TensorProto.STRING)
    return saved_ml(nodes, [value("x", ["rows", 3])], [output], [names])


def saved_ml(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Sequence[onnx.TensorProto] = (),
) -> bytes:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    graph = helper.make_graph(nodes, "classical", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
