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


def classifier(*labels: str) -> bytes:
    """Returns a linear classifier of three classes with dictionaries of probabilities, whose keys may be texts."""
    keys: dict[str, Any] = {"classlabels_strings": labels} if labels else {"classlabels_int64s": [7, 8, 9]}
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "scores"],
            domain="ai.onnx.ml",
            coefficients=[1.0, 0.5, -1.0, 2.0, 0.0, 1.0],
            intercepts=[0.0, 0.1, 0.2],
            classlabels_ints=[7, 8, 9],
            post_transform="SOFTMAX",
        ),
        helper.make_node("ZipMap", ["scores"], ["probabilities"], domain="ai.onnx.ml", **keys),
    ]
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    key = TensorProto.STRING if labels else TensorProto.INT64
    zipped = helper.make_sequence_type_proto(helper.make_map_type_proto(key, inner))
    outputs = [value("label", ["rows"], TensorProto.INT64), helper.make_value_info("probabilities", zipped)]
    graph = helper.make_graph(nodes, "classifier", [value("x", ["rows", 2])], outputs)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
