"""SVMClassifier and SVMRegressor: support vector machines."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import TRADITIONAL, Array, NodeView, converts, known_extent
from xrelay.frontend.onnx.converters.ml.pairwise_coupling import class_probabilities
from xrelay.frontend.onnx.converters.ml.scores import (
    best_labels,
    chosen_labels,
    class_labels,
    columns,
    post_transform,
    rows_of_features,
    transformed,
)

KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")


@converts(
    "SVMRegressor",
    domain=TRADITIONAL,
    attributes=(
        *("coefficients", "kernel_params", "kernel_type", "n_supports", "one_class", "post_transform", "rho"),
        "support_vectors",
    ),
)
def convert_svm_regressor(node: NodeView) -> SSAValue:
    """The weighted sum of the kernels, or its sign as 1 or -1 with `one_class`."""
    if (transform := post_transform(node)) != "NONE":
        raise node.unsupported(f"post_transform {transform} is not defined for a regressor; use NONE")
    data, supports = rows_of_features(node), node.attribute_int("n_supports", 0, check=lambda value: value >= 0)
    values = _kernels(node, data, supports) if supports else data
    count = known_extent(node, values, 1)
    total = _scores(node, values, _floats(node, "coefficients", count).reshape(1, count), _floats(node, "rho", 1))
    if not node.attribute_int("one_class", 0):
        return total
    is_inside = node.emit("greater", total, node.scalar(0, total))
    return node.emit("where", is_inside, node.scalar(1, total), node.scalar(-1, total))


@converts(
    "SVMClassifier",
    domain=TRADITIONAL,
    attributes=(
        *("classlabels_ints", "classlabels_strings", "coefficients", "kernel_params", "kernel_type", "post_transform"),
        *("prob_a", "prob_b", "rho", "support_vectors", "vectors_per_class"),
    ),
    limits="labels that are numbers",
)
def convert_svm_classifier(node: NodeView) -> list[SSAValue]:
    """Labels and scores of one machine per pair of classes, or of one per class without support vectors."""
    labels = class_labels(node, "classlabels_ints", "classlabels_strings")
    per_class = node.attribute_ints("vectors_per_class") or ()
    if not sum(per_class):
        return _one_machine_per_class(node, labels)
    if len(per_class) != len(labels) or min(per_class) < 0 or len(labels) < 2:
        raise node.error(f"vectors_per_class has {len(per_class)} elements for {len(labels)} classes")
    pairs = list(combinations(range(len(labels)), 2))
    kernels = _kernels(node, rows_of_features(node), sum(per_class))
    scores = _scores(node, kernels, _of_pairs(node, per_class, pairs), _floats(node, "rho", len(pairs)))
    label = chosen_labels(node, _most_votes(node, scores, len(labels), pairs), labels)
    transform = post_transform(node)
    if node.attribute_floats("prob_a"):
        slopes, offsets = (_floats(node, name, len(pairs)) for name in ("prob_a", "prob_b"))
        return [label, transformed(node, class_probabilities(node, scores, slopes, offsets, len(labels)), transform)]
    if len(labels) > 2:
        return [label, transformed(node, scores, transform)]
    return [label, _both_scores(node, scores, transform)]


def _both_scores(node: NodeView, score: SSAValue, transform: str) -> SSAValue:
    """The score of one machine as two columns, as in onnxruntime."""
    match transform:
        case "NONE" | "LOGISTIC":
            return transformed(node, columns(node, node.emit("negative", score), score), transform)
        case "PROBIT":
            raise node.unsupported("post_transform PROBIT of two classes is not defined; use NONE")
        case _:
            return columns(node, node.emit("subtract", node.scalar(1, score), score), score)


def _one_machine_per_class(node: NodeView, labels: list[int]) -> list[SSAValue]:
    """As in liblinear, the greatest score decides; of two classes the second also if any score exceeds a bound."""
    if node.attribute_floats("prob_a"):
        raise node.unsupported("prob_a needs support vectors")
    data = rows_of_features(node)
    coefficients = _floats(node, "coefficients", len(labels) * known_extent(node, data, 1))
    scores = _scores(node, data, coefficients.reshape(len(labels), -1), _floats(node, "rho", None)[:1])
    found = transformed(node, scores, post_transform(node))
    if len(labels) != 2:
        return [best_labels(node, scores, labels), found]
    greatest = node.emit("max", scores, axis=(1,))
    is_positive = bool((coefficients >= 0).all())
    bound = node.scalar(0.5 if is_positive else 0.0, scores)
    is_second = node.emit("greater_equal" if is_positive else "greater", greatest, bound)
    best = node.emit("cast", node.emit("argmax", scores, axis=(1,)), dtype="int64")
    second = node.emit("where", is_second, node.scalar(1, best), best)
    return [chosen_labels(node, second, labels), found]


def _of_pairs(node: NodeView, per_class: tuple[int, ...], pairs: list[tuple[int, int]]) -> Array:
    """A row of coefficients per pair of classes: those of the vectors of both, against the other class."""
    count = sum(per_class)
    given = _floats(node, "coefficients", (len(per_class) - 1) * count).reshape(-1, count)
    ends = np.cumsum(per_class)
    parts = [slice(int(end) - size, int(end)) for size, end in zip(per_class, ends, strict=True)]
    table = np.zeros((len(pairs), count), np.float32)
    for row, (first, second) in zip(table, pairs, strict=True):
        row[parts[first]] = given[second - 1, parts[first]]
        row[parts[second]] = given[first, parts[second]]
    return table


def _most_votes(node: NodeView, scores: SSAValue, classes: int, pairs: list[tuple[int, int]]) -> SSAValue:
    """The class with the most votes, the first of equal ones; a positive score votes for the first class of a pair."""
    won, lost = np.zeros((2, classes, len(pairs)), np.float32)
    for number, (first, second) in enumerate(pairs):
        won[first, number] = lost[second, number] = 1
    is_first = node.emit("cast", node.emit("greater", scores, node.scalar(0, scores)), dtype="float32")
    votes = node.emit("nn.dense", is_first, node.emit_constant(won - lost, "votes"))
    return node.emit("argmax", node.emit("add", votes, node.emit_constant(lost.sum(axis=1), "lost")), axis=(1,))


def _scores(node: NodeView, values: SSAValue, coefficients: Array, rho: Array) -> SSAValue:
    product = node.emit("nn.dense", values, node.emit_constant(coefficients, "coefficients"))
    return node.emit("add", product, node.emit_constant(rho, "rho"))


def _kernels(node: NodeView, data: SSAValue, count: int) -> SSAValue:
    """The kernel function of each row and support vector."""
    kernel = node.attribute_string("kernel_type", "LINEAR", KERNELS)
    gamma, offset, degree = _floats(node, "kernel_params", 3).tolist() if kernel != "LINEAR" else (1.0, 0.0, 1.0)
    features = known_extent(node, data, 1)
    vectors = _floats(node, "support_vectors", count * features).reshape(count, features)
    if kernel == "RBF":
        difference = node.emit(
            "subtract", node.emit("expand_dims", data, axis=1), node.emit_constant(vectors, "vectors")
        )
        distance = node.emit("sum", node.emit("multiply", difference, difference), axis=(2,))
        return node.emit("exp", node.emit("multiply", distance, node.scalar(-gamma, distance)))
    product = node.emit("nn.dense", data, node.emit_constant(vectors * np.float32(gamma), "vectors"))
    if kernel == "LINEAR":
        return product
    total = node.emit("add", product, node.scalar(offset, product))
    return node.emit("tanh", total) if kernel == "SIGMOID" else node.emit("power", total, node.scalar(degree, total))


def _floats(node: NodeView, name: str, count: int | None) -> Array:
    """An attribute of `count` floats, or of any non-zero length."""
    found = np.array(node.attribute_floats(name) or (), np.float32)
    if not len(found) or len(found) != (len(found) if count is None else count):
        expected = "at least one is expected" if count is None else f"{count} are expected"
        raise node.error(f"attribute {name!r} has {len(found)} elements; {expected}")
    return found
