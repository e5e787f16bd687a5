"""LinearClassifier and LinearRegressor: products of features and coefficients."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import TRADITIONAL, NodeView, converts, known_extent
from xrelay.frontend.onnx.converters.ml.scores import (
    best_labels,
    class_labels,
    columns,
    labels_above,
    post_transform,
    rows_of_features,
    transformed,
)


@converts(
    "LinearRegressor",
    domain=TRADITIONAL,
    attributes=("coefficients", "intercepts", "post_transform", "targets"),
)
def convert_linear_regressor(node: NodeView) -> SSAValue:
    """The scores; for a single target only the transform PROBIT applies, as in onnxruntime."""
    targets = node.attribute_int("targets", 1, check=lambda value: value > 0)
    scores, transform = linear_scores(node, rows_of_features(node), targets), post_transform(node)
    return scores if targets == 1 and transform != "PROBIT" else transformed(node, scores, transform)


@converts(
    "LinearClassifier",
    domain=TRADITIONAL,
    attributes=(
        "classlabels_ints",
        "classlabels_strings",
        "coefficients",
        "intercepts",
        "multi_class",
        "post_transform",
    ),
    limits="labels that are numbers",
)
def convert_linear_classifier(node: NodeView) -> list[SSAValue]:
    """The label with the greatest score, and the scores.

    A single score decides between two classes by its sign. It is the score of the second class, from which that of the
    first is computed.
    """
    labels = class_labels(node, "classlabels_ints", "classlabels_strings")
    data, transform = rows_of_features(node), post_transform(node)
    count = len(node.attribute_floats("coefficients") or ()) // max(1, known_extent(node, data, 1))
    scores = linear_scores(node, data, count)
    if count > 1:
        if count > len(labels):
            raise node.error(f"there are coefficients of {count} classes, {len(labels)} labels")
        return [best_labels(node, scores, labels), transformed(node, scores, transform)]
    if len(labels) != 2 or transform == "PROBIT":
        raise node.unsupported(
            f"one score for {len(labels)} labels with post_transform {transform}; pass one score per class"
        )
    label = labels_above(node, scores, 0, labels)
    if transform == "LOGISTIC":
        return [label, node.emit("sigmoid", columns(node, node.emit("negative", scores), scores))]
    return [label, columns(node, node.emit("subtract", node.scalar(1, scores), scores), scores)]


def linear_scores(node: NodeView, data: SSAValue, count: int) -> SSAValue:
    """Returns `data · coefficientsᵀ + intercepts` for `count` rows of coefficients."""
    coefficients = np.array(node.attribute_floats("coefficients") or (), np.float32)
    intercepts = np.array(node.attribute_floats("intercepts") or (), np.float32)
    features = known_extent(node, data, 1)
    if len(coefficients) != count * features or not count:
        raise node.error(f"there are {len(coefficients)} coefficients for {count} scores of {features} features")
    weight = node.emit_constant(coefficients.reshape(count, features), "coefficients")
    scores = node.emit("nn.dense", data, weight)
    if not len(intercepts):
        return scores
    if len(intercepts) != count:
        raise node.error(f"there are {len(intercepts)} intercepts for {count} scores")
    return node.emit("add", scores, node.emit_constant(intercepts, "intercepts"))
