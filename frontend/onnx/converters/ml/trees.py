"""Ensembles of decision trees: TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble.

`relay.tree_leaves` finds the leaf of each tree, `take` selects its weights, and a reduction over the trees sums them.
If all weights of a tree are for one target, as in gradient boosting, the trees of a target are adjacent and a leaf has
one number; otherwise, as in a random forest, a leaf has a row of numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from xdsl.ir import SSAValue

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.converters.definition import (
    TRADITIONAL,
    Array,
    NodeView,
    converts,
    element_type_of,
    known_extent,
    numpy_dtype,
)
from xrelay.frontend.onnx.converters.ml.scores import (
    TRANSFORMS,
    as_f32,
    best_labels,
    class_labels,
    columns,
    labels_above,
    post_transform,
    probit,
    rows_of_features,
    transformed,
)
from xrelay.frontend.onnx.converters.ml.tree_attributes import Ensemble, read_indexed, read_numbered
from xrelay.frontend.onnx.converters.ml.tree_tables import (
    TreeNodes,
    TreeTables,
    check_nodes,
    tree_tables,
    trees_of_leaves,
    trees_of_targets,
)

AGGREGATES: Final = ("AVERAGE", "SUM", "MIN", "MAX")
"""The functions that combine the weights of trees, numbered as in `TreeEnsemble`."""

MAX_PADDING: Final = 2
"""The maximum growth by padding targets to equally many trees; beyond it, leaves have weights for all targets."""

_NODES: Final = (
    *("nodes_falsenodeids", "nodes_featureids", "nodes_hitrates", "nodes_missing_value_tracks_true", "nodes_modes"),
    *("nodes_nodeids", "nodes_treeids", "nodes_truenodeids", "nodes_values", "post_transform", "base_values"),
    *("base_values_as_tensor", "nodes_hitrates_as_tensor", "nodes_values_as_tensor"),
)


@converts(
    "TreeEnsembleRegressor",
    domain=TRADITIONAL,
    attributes=(
        *_NODES,
        *("aggregate_function", "n_targets", "target_ids", "target_nodeids", "target_treeids", "target_weights"),
        "target_weights_as_tensor",
    ),
)
def convert_tree_regressor(node: NodeView) -> SSAValue:
    """The combined weights of the leaves; for a single target only the transform PROBIT applies, as in onnxruntime."""
    data = rows_of_features(node, keeps_double=True)
    dtype = numpy_dtype(element_type_of(data.type))
    targets = node.attribute_int("n_targets", 1, check=lambda value: value > 0)
    aggregate = node.attribute_string("aggregate_function", "SUM", AGGREGATES)
    ensemble, transform = read_numbered(node, "target", targets, dtype), post_transform(node)
    scores = _with_base(node, _leaf_sums(node, data, ensemble, targets, aggregate), _base_values(node, dtype), targets)
    if targets == 1:
        return as_f32(node, probit(node, scores) if transform == "PROBIT" else scores)
    return as_f32(node, transformed(node, scores, transform))


@converts(
    "TreeEnsemble",
    domain=TRADITIONAL,
    attributes=(
        *("aggregate_function", "leaf_targetids", "leaf_weights", "membership_values", "n_targets", "nodes_falseleafs"),
        *("nodes_falsenodeids", "nodes_featureids", "nodes_hitrates", "nodes_missing_value_tracks_true", "nodes_modes"),
        *("nodes_splits", "nodes_trueleafs", "nodes_truenodeids", "post_transform", "tree_roots"),
    ),
)
def convert_tree_ensemble(node: NodeView) -> SSAValue:
    """The combined weights of the leaves, in the type of the data."""
    data = rows_of_features(node, keeps_double=True)
    dtype = numpy_dtype(element_type_of(data.type))
    targets = node.attribute_int("n_targets", 1, check=lambda value: value > 0)
    aggregate = AGGREGATES[node.attribute_int("aggregate_function", 1, check=lambda value: 0 <= value < 4)]
    transform = TRANSFORMS[node.attribute_int("post_transform", 0, check=lambda value: 0 <= value < 5)]
    scores = _leaf_sums(node, data, read_indexed(node, targets, dtype), targets, aggregate)
    if targets == 1:
        return probit(node, scores) if transform == "PROBIT" else scores
    return transformed(node, scores, transform)


@converts(
    "TreeEnsembleClassifier",
    domain=TRADITIONAL,
    attributes=(
        *_NODES,
        *("class_ids", "class_nodeids", "class_treeids", "class_weights", "class_weights_as_tensor"),
        *("classlabels_int64s", "classlabels_strings"),
    ),
    limits="labels that are numbers",
)
def convert_tree_classifier(node: NodeView) -> list[SSAValue]:
    """The label with the greatest score, and the scores; see `_two_classes` for two classes with one score."""
    labels = class_labels(node, "classlabels_int64s", "classlabels_strings")
    data = rows_of_features(node, keeps_double=True)
    dtype = numpy_dtype(element_type_of(data.type))
    ensemble, base = read_numbered(node, "class", len(labels), dtype), _base_values(node, dtype)
    scored = np.unique(ensemble.targets)
    if len(labels) == 2 and len(scored) == 1:
        return _two_classes(node, data, ensemble, base, labels)
    scores = _with_base(node, _leaf_sums(node, data, ensemble, len(labels), "SUM"), base, len(labels))
    return [best_labels(node, scores, labels), as_f32(node, transformed(node, scores, post_transform(node)))]


def _two_classes(node: NodeView, data: SSAValue, ensemble: Ensemble, base: Array, labels: list[int]) -> list[SSAValue]:
    """Labels and scores of two classes if all weights are for one of them, as in onnxruntime.

    The score is a probability if no weight is negative; otherwise it is a margin, which selects the second class if it
    is greater than 0. The score of the first class is computed from it; if the weights are for the second class, it is
    0.
    """
    if len(base) > 1:
        raise node.error(f"{len(base)} base values for the score of one class; one is expected")
    is_probability, transform = bool((ensemble.weights >= 0).all()), post_transform(node)
    of_second = bool((ensemble.targets == 1).any())
    one = Ensemble(
        ensemble.nodes, ensemble.num_leaves, ensemble.leaves, np.zeros_like(ensemble.targets), ensemble.weights
    )
    score = _leaf_sums(node, data, one, 1, "SUM")
    if not of_second:
        score = _with_base(node, score, base, 1)
    label = labels_above(node, score, 0.5 if is_probability else 0.0, labels)
    if of_second:
        both = columns(node, node.emit("zeros_like", score), score)
        return [label, as_f32(node, transformed(node, both, transform))]
    if transform == "LOGISTIC":
        both = node.emit("sigmoid", columns(node, node.emit("negative", score), score))
    elif is_probability:
        both = columns(node, node.emit("subtract", node.scalar(1, score), score), score)
    else:
        both = columns(node, node.emit("negative", score), score)
    return [label, as_f32(node, both)]


def _base_values(node: NodeView, dtype: np.dtype[np.generic]) -> Array:
    tensor, floats = node.attribute_tensor("base_values_as_tensor"), node.attribute_floats("base_values")
    if tensor is not None:
        return tensor.reshape(-1).astype(dtype)
    return np.array(floats or (), np.float32).astype(dtype)


def _with_base(node: NodeView, scores: SSAValue, base: Array, targets: int) -> SSAValue:
    """The scores plus the base value of each target."""
    if len(base) not in (0, targets):
        raise node.error(f"base_values has {len(base)} elements for {targets} targets; one for each is expected")
    return node.emit("add", scores, node.emit_constant(base, "base_values")) if base.any() else scores


def _leaf_sums(node: NodeView, data: SSAValue, ensemble: Ensemble, targets: int, aggregate: str) -> SSAValue:
    """The weights of the leaves that each row reaches, combined over all trees: `targets` numbers per row."""
    trees = len(ensemble.nodes.roots)
    if not trees:
        raise node.error("there are no trees")
    num_features = known_extent(node, data, 1)
    if aggregate in ("MIN", "MAX") and not np.isfinite(ensemble.weights).all():
        raise node.error(f"a leaf has an infinite weight or NaN, which {aggregate} does not support")
    table = _weight_table(ensemble, targets, aggregate)
    try:
        check_nodes(ensemble.nodes, ensemble.num_leaves, num_features)
        grouped = _grouped(ensemble, targets)
        if grouped is None:
            tables = tree_tables(ensemble.nodes, ensemble.num_leaves, num_features)
        else:
            tables = tree_tables(grouped, ensemble.num_leaves + 1, num_features)
    except ModelImportError as error:
        raise node.error(error.message) from error
    leaves = _leaves(node, data, tables, num_features)
    if grouped is None:
        weights = node.emit("take", node.emit_constant(table, "weights"), leaves, axis=0, mode="clip")
    else:
        own = {"MIN": table.min, "MAX": table.max}.get(aggregate, table.sum)(axis=1)
        row = node.emit_constant(np.append(own, table.dtype.type(_neutral(aggregate))), "weights")
        weights = node.emit("take", row, leaves, axis=0, mode="clip")
        weights = node.emit("reshape", weights, newshape=(0, targets, -1))
    return _reduced(node, weights, 1 if grouped is None else 2, trees, aggregate)


def _reduced(node: NodeView, weights: SSAValue, axis: int, trees: int, aggregate: str) -> SSAValue:
    """The weights reduced along the axis of the trees; 0 for a target without weights."""
    if aggregate in ("MIN", "MAX"):
        found = node.emit(aggregate.lower(), weights, axis=(axis,))
        return node.emit("where", node.emit("isinf", found), node.scalar(0, found), found)
    total = node.emit("sum", weights, axis=(axis,))
    return node.emit("divide", total, node.scalar(trees, total)) if aggregate == "AVERAGE" else total


def _grouped(ensemble: Ensemble, targets: int) -> TreeNodes | None:
    """The nodes with roots sorted by target, equally many per target; `None` if the trees do not allow it.

    A target with fewer trees is padded with roots that are an additional leaf.
    """
    owners = trees_of_leaves(ensemble.nodes, ensemble.num_leaves) if targets > 1 else None
    roots = ensemble.nodes.roots
    if owners is None:
        return None
    groups = trees_of_targets(owners[ensemble.leaves], ensemble.targets, len(roots), targets)
    if groups is None or targets * (most := max(map(len, groups))) > MAX_PADDING * len(roots):
        return None
    padded = np.full((targets, most), -1 - ensemble.num_leaves)
    for row, group in zip(padded, groups, strict=True):
        row[: len(group)] = roots[group]
    return replace(ensemble.nodes, roots=padded.reshape(-1))


def _leaves(node: NodeView, data: SSAValue, tables: TreeTables, num_features: int) -> SSAValue:
    """The leaf of each row and tree."""
    if (tables.features >= num_features).any():
        least = node.emit("where", node.emit("isnan", data), node.scalar(-np.inf, data), data)
        data = columns(node, data, least)
    found = node.emit(
        "tree_leaves",
        data,
        node.emit_constant(tables.thresholds, "thresholds"),
        node.emit_constant(np.column_stack([tables.features, tables.children]), "nodes"),
        trees=tables.trees,
        depth=tables.depth,
    )
    return node.emit("subtract", found, node.scalar(tables.first_leaf, found))


def _neutral(aggregate: str) -> float:
    """The weight of a leaf for a target that it does not affect: neutral in the aggregation."""
    return {"MIN": np.inf, "MAX": -np.inf}.get(aggregate, 0.0)


def _weight_table(ensemble: Ensemble, targets: int, aggregate: str) -> Array:
    """The weight of each leaf for each target."""
    weights = ensemble.weights
    table = np.full((ensemble.num_leaves, targets), _neutral(aggregate), weights.dtype)
    join = {"MIN": np.minimum, "MAX": np.maximum}.get(aggregate, np.add)
    join.at(table, (ensemble.leaves, ensemble.targets), weights)
    return table
