"""Texts become numbers if a model only moves them."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from unit.onnxruntime.models import classifier, nearest_name, scaled_sum, value

from xrelay.onnxruntime.text_labels import number_texts


def branch(name: str) -> onnx.GraphProto:
    """Returns a body that reads a value of the graph around it."""
    node = helper.make_node("Identity", ["row"], [f"{name}_row"])
    return helper.make_graph([node], name, [], [value(f"{name}_row", None, TensorProto.STRING)])


def test_labels_and_weights_are_numbered() -> None:
    model = onnx.ModelProto.FromString(classifier("cat", "dog", "cat"))
    assert number_texts(model) == ["cat", "dog"]
    (labels,) = (each for each in model.graph.node[0].attribute if each.name.startswith("classlabels"))
    assert (labels.name, list(labels.ints)) == ("classlabels_ints", [0, 1, 0])
    model = onnx.ModelProto.FromString(nearest_name())
    assert number_texts(model) == ["ash", "birch", "cedar"]
    assert numpy_helper.to_array(model.graph.initializer[0]).tolist() == [0, 1, 2]
    assert model.graph.output[0].type.tensor_type.elem_type == TensorProto.INT64


@pytest.mark.parametrize(
    "nodes",
    [
        [helper.make_node("StringNormalizer", ["row"], ["name"], case_change_action="UPPER")],
        [helper.make_node("Reshape", ["x", "row"], ["name"])],
        [
            helper.make_node("Cast", ["x"], ["condition"], to=TensorProto.BOOL),
            helper.make_node("If", ["condition"], ["name"], then_branch=branch("a"), else_branch=branch("b")),
        ],
    ],
    ids=["changed", "another input", "body"],
)
def test_a_model_that_does_more_is_unchanged(nodes: list[onnx.NodeProto]) -> None:
    source = nearest_name(*nodes)
    model = onnx.ModelProto.FromString(source)
    assert number_texts(model) == []
    assert model == onnx.ModelProto.FromString(source)


def test_a_model_without_texts_is_unchanged() -> None:
    model = onnx.ModelProto.FromString(scaled_sum())
    assert number_texts(model) == []
    assert model == onnx.ModelProto.FromString(scaled_sum())
