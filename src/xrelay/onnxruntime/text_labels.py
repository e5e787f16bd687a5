"""Numbers instead of texts in classifiers, since compiled models have no texts.

A classifier of scikit-learn with text labels returns texts that are attributes or weights of the model:

    label = LinearClassifier(x) {classlabels_strings = ["cat", "dog"]}
    →  label = LinearClassifier(x) {classlabels_ints = [0, 1]}

A session replaces the numbers in the outputs by the texts. A model that takes texts as inputs, or computes with them,
is left unchanged, and is refused by the importer.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx
from onnx import helper, numpy_helper

CLASSIFIERS: Final = {
    "LinearClassifier": "classlabels_ints",
    "SVMClassifier": "classlabels_ints",
    "TreeEnsembleClassifier": "classlabels_int64s",
}
"""Classifier → its attribute for labels that are numbers."""
TEXTS: Final = "classlabels_strings"
MOVEMENTS: Final = frozenset(
    {"ArrayFeatureExtractor", "Flatten", "Gather", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
)
"""Ops whose results are elements of their first input."""


def number_texts(model: onnx.ModelProto) -> list[str]:
    """Replaces the texts of a model by numbers, in place; returns the texts, whose indices are the numbers.

    Returns an empty list, and does not change the model, if it has no texts, or more than copies of them.
    """
    values = _text_values(model.graph)
    if not values:
        return []
    numbers: dict[bytes, int] = {}
    for tensor in model.graph.initializer:
        if tensor.name in values:
            found = [numbers.setdefault(text, len(numbers)) for text in tensor.string_data]
            tensor.CopyFrom(numpy_helper.from_array(np.array(found, np.int64).reshape(tensor.dims), tensor.name))
    for node in model.graph.node:
        for labels in [each for each in node.attribute if each.name == TEXTS and node.op_type in CLASSIFIERS]:
            found = [numbers.setdefault(text, len(numbers)) for text in labels.strings]
            labels.CopyFrom(helper.make_attribute(CLASSIFIERS[node.op_type], found))
    for value in (*model.graph.output, *model.graph.value_info):
        if value.name in values:
            value.type.tensor_type.elem_type = onnx.TensorProto.INT64
    return [text.decode() for text in numbers]


def _text_values(graph: onnx.GraphProto) -> set[str]:
    """Returns the names of the values that are texts; empty if an op reads texts and does not only move them."""
    values = {tensor.name for tensor in graph.initializer if tensor.data_type == onnx.TensorProto.STRING}
    for node in graph.node:
        if node.op_type in CLASSIFIERS and any(each.name == TEXTS and each.strings for each in node.attribute):
            values.add(node.output[0])
        elif _moves(node, values):
            values.update(node.output)
    reads = ((node, values.intersection(_names_read(node))) for node in graph.node)
    is_legal = all(_moves(node, values) and values.issuperset(node.output) for node, texts in reads if texts)
    return values if is_legal else set()


def _moves(node: onnx.NodeProto, values: set[str]) -> bool:
    """Whether the results of a node are texts in `values` that it only moves."""
    return node.op_type in MOVEMENTS and node.input[0] in values and values.isdisjoint(node.input[1:])


def _names_read(node: onnx.NodeProto) -> set[str]:
    """Returns the names of the values that a node reads, also in its bodies."""
    names, nodes = set[str](), [node]
    while nodes:
        current = nodes.pop()
        names.update(current.input)
        for attribute in current.attribute:
            for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                names.update(output.name for output in body.output)
                nodes.extend(body.node)
    return names
