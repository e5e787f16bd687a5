"""Ensembles of decision trees of ai.onnx.ml, against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from support.decision_trees import MODES, RandomTrees, indexed, weights_of
from support.examples import examples
from support.microsoft_nodes import check
from support.one_node import both, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

DOMAIN = "ai.onnx.ml"
ONE_EACH, ALL_EACH = "one target for each tree", "all targets for each leaf"
WORDS: dict[str, Any] = {"domain": DOMAIN, "domain_opset": 3}
STUMP: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [1.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}
"""A tree with one inner node."""


def weighted(
    rng: np.random.Generator, kind: str, leaves: list[tuple[int, int]], targets: int, form: str, least: float = -1.0
) -> dict[str, Any]:
    """Random weights of leaves."""
    if form == ONE_EACH:
        own = [tree % targets for tree, _ in leaves]
    else:
        own = list(range(targets)) * len(leaves)
        leaves = [leaf for leaf in leaves for _ in range(targets)]
    return weights_of(kind, leaves, own, [float(value) for value in rng.uniform(least, 1, len(own)).round(3)])


@pytest.mark.grid(1)
@pytest.mark.parametrize("seed", range(examples(6, more=2)))
def test_random_regressors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grown = RandomTrees(rng, int(rng.integers(1, 6)), modes=MODES if seed % 3 else MODES[:1], tracks=seed % 4 > 0)
    leaves, targets = grown.grow(int(rng.integers(1, 20)), int(rng.integers(1, 7))), int(rng.integers(1, 4))
    words: dict[str, Any] = weighted(rng, "target", leaves, targets, ONE_EACH if seed % 2 else ALL_EACH)
    words |= {"n_targets": targets, "aggregate_function": str(rng.choice(["SUM", "AVERAGE", "MIN", "MAX"]))}
    if seed % 5 < 2:
        words["base_values"] = [0.5, -0.25, 2.0][:targets]
    dtype = ["float32", "float64"][seed % 2]
    check("TreeEnsembleRegressor", [grown.data(11, dtype)], **(WORDS | grown.attributes() | words))


@pytest.mark.grid(1)
@pytest.mark.parametrize("seed", range(examples(4, more=2)))
def test_random_ensembles(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    dtype, targets = ["float32", "float64"][seed % 2], int(rng.integers(1, 4))
    grown = RandomTrees(rng, 4, modes=MODES if seed % 3 else MODES[:1])
    leaves = len(grown.grow(int(rng.integers(1, 20)), 5))
    words = indexed(grown, rng.normal(size=leaves).tolist(), rng.integers(0, targets, leaves).tolist(), dtype)
    words |= {"n_targets": targets, "aggregate_function": int(rng.integers(0, 4))}
    check("TreeEnsemble", [grown.data(9, dtype)], domain=DOMAIN, domain_opset=5, **words)


@pytest.mark.grid(4)
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("form", [ONE_EACH, ALL_EACH])
@pytest.mark.parametrize("base", [[], [0.5, -0.25, 0.125]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_three_classes(form: str, transform: str, base: list[float], dtype: str) -> None:
    rng = np.random.default_rng(7)
    grown = RandomTrees(rng, 3)
    words: dict[str, Any] = weighted(rng, "class", grown.grow(9, 4), 3, form) | ({"base_values": base} if base else {})
    words |= {"classlabels_int64s": [4, -7, 9], "post_transform": transform, **grown.attributes()}
    check("TreeEnsembleClassifier", [grown.data(8, dtype)], outputs=("y", "z"), **(WORDS | words))


@pytest.mark.grid(4)
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("least", [0.0, -1.0])
@pytest.mark.parametrize(("target", "base"), [(0, []), (0, [0.25]), (1, [])])
def test_two_classes_with_one_score(transform: str, least: float, target: int, base: list[float]) -> None:
    rng = np.random.default_rng(5)
    grown = RandomTrees(rng, 3)
    words: dict[str, Any] = weighted(rng, "class", grown.grow(2, 3), 1, ONE_EACH, least) | (
        {"base_values": base} if base else {}
    )
    words["class_ids"] = [target] * len(words["class_ids"])
    words |= {"classlabels_int64s": [4, -7], "post_transform": transform, **grown.attributes()}
    check("TreeEnsembleClassifier", [grown.data(40, "float32")], outputs=("y", "z"), **(WORDS | words))


def test_two_classes_with_two_scores() -> None:
    """The greater score decides; onnxruntime only considers the score of the second class, and ignores the labels."""
    words: dict[str, Any] = {name: value for name, value in STUMP.items() if name.startswith("nodes")}
    words |= weights_of("class", [(0, 1), (0, 1), (0, 2), (0, 2)], [0, 1, 0, 1], [0.7, 0.3, 0.2, 0.8])
    x = np.array([[0.5], [1.5]], np.float32)
    proto = node_model("TreeEnsembleClassifier", [x], outputs=("y", "z"), classlabels_int64s=[5, 6], **(WORDS | words))
    for labels, scores in both(proto, [x]):
        np.testing.assert_array_equal(labels, [5, 6])
        np.testing.assert_allclose(scores, [[0.7, 0.3], [0.2, 0.8]])


def test_integers_are_features() -> None:
    words: dict[str, Any] = {name: value for name, value in STUMP.items() if not name.startswith(("target", "n_"))}
    words |= weights_of("class", [(0, 1), (0, 2)], [1, 2], [1.0, 1.0]) | {"classlabels_int64s": [1, 2, 3]}
    check("TreeEnsembleClassifier", [np.array([[1], [2]])], outputs=("y", "z"), **(WORDS | words))


def test_probit() -> None:
    words = STUMP | {"post_transform": "PROBIT", "target_weights": [0.25, 0.75]}
    check("TreeEnsembleRegressor", [np.array([[0.5], [1.5]], np.float32)], **(WORDS | words))


def test_sets_are_searched_by_halves() -> None:
    numbers = [float(number) for number in range(0, 60, 3)]
    words: dict[str, Any] = {
        "aggregate_function": 1,
        "leaf_targetids": [0, 0],
        "leaf_weights": numpy_helper.from_array(np.array([1, 2], np.float32)),
        "membership_values": numpy_helper.from_array(np.array([*numbers, np.nan], np.float32)),
        "nodes_falseleafs": [1],
        "nodes_falsenodeids": [1],
        "nodes_featureids": [0],
        "nodes_missing_value_tracks_true": [1],
        "nodes_modes": numpy_helper.from_array(np.array([6], np.uint8)),
        "nodes_splits": numpy_helper.from_array(np.array([0], np.float32)),
        "nodes_trueleafs": [1],
        "nodes_truenodeids": [0],
        "tree_roots": [0],
    }
    x = np.array([[-1, np.nan, 60, 0.5, *range(60)]], np.float32).T
    proto = node_model("TreeEnsemble", [x], domain=DOMAIN, domain_opset=5, **words)
    expected = np.where(np.isin(x, numbers) | np.isnan(x), 1, 2)
    for (found,) in both(proto, [x]):
        np.testing.assert_array_equal(found, expected)
    (walk,) = [op for op in import_onnx(proto).walk() if op.name == "relay.tree_leaves"]
    assert "depth = 7" in str(walk)


def test_the_batch_is_open() -> None:
    rng = np.random.default_rng(2)
    grown = RandomTrees(rng, 3)
    words: dict[str, Any] = weighted(rng, "target", grown.grow(21, 5), 2, ONE_EACH) | {
        "n_targets": 2,
        **grown.attributes(),
    }
    check("TreeEnsembleRegressor", [grown.data(150, "float32")], dims={0: ("n", 3)}, **(WORDS | words))


def test_one_tree_walks_through_an_open_batch() -> None:
    rng = np.random.default_rng(6)
    grown = RandomTrees(rng, 2)
    words: dict[str, Any] = weighted(rng, "target", grown.grow(1, 5), 1, ONE_EACH) | grown.attributes()
    check("TreeEnsembleRegressor", [grown.data(37, "float32")], n_targets=1, dims={0: ("n", 2)}, **(WORDS | words))


def chain(depth: int) -> dict[str, Any]:
    """A tree in which each inner node has a leaf and the next node, with a target for each leaf."""
    inner = range(depth)
    leaves = [*range(depth, 2 * depth + 1)]
    return STUMP | {
        "nodes_treeids": [0] * (2 * depth + 1),
        "nodes_nodeids": [*range(2 * depth + 1)],
        "nodes_featureids": [0] * (2 * depth + 1),
        "nodes_values": [float(node) for node in inner] + [0.0] * (depth + 1),
        "nodes_modes": ["BRANCH_LEQ"] * depth + ["LEAF"] * (depth + 1),
        "nodes_truenodeids": [depth + node for node in inner] + [0] * (depth + 1),
        "nodes_falsenodeids": [node + 1 for node in range(depth - 1)] + [2 * depth] + [0] * (depth + 1),
        **weights_of("target", [(0, leaf) for leaf in leaves], [0] * len(leaves), [float(n) for n in range(depth + 1)]),
    }


def test_deep_chains() -> None:
    x = np.array([[-5.0], [700.5], [9999.0], [np.nan]], np.float32)
    for (found,) in both(node_model("TreeEnsembleRegressor", [x], **WORDS, **chain(1000)), [x]):
        np.testing.assert_array_equal(found, [[0], [701], [1000], [1000]])


def of_ensemble(**words: Any) -> Callable[[], Any]:
    """Imports a tree with one inner node and some changed attributes."""
    return lambda: import_onnx(
        node_model("TreeEnsembleRegressor", [np.zeros((2, 1), np.float32)], **WORDS, **(STUMP | words))
    )


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"nodes_truenodeids": [0, 0, 0]}, "node 0"),
        ({"nodes_truenodeids": [9, 0, 0]}, "tree 0 has no node 9"),
        ({"nodes_truenodeids": [-1, 0, 0]}, "tree 0 has no node -1"),
        ({"nodes_falsenodeids": [1 << 40, 0, 0]}, "has no node 1099511627776"),
        ({"nodes_nodeids": [0, 1, 1]}, "node 1 of tree 0"),
        ({"nodes_nodeids": [0, 1, -2]}, "nodes_nodeids has the element -2"),
        ({"nodes_featureids": [1, 0, 0]}, "node 0 reads feature 1, the data has 1"),
        ({"nodes_featureids": [0, 0]}, "nodes_featureids has 2 elements, nodes_nodeids 3"),
        ({"nodes_modes": ["BRANCH_LEQ", "LEAF"]}, "nodes_modes has 2 elements"),
        ({"nodes_modes": ["BRANCH_ODD", "LEAF", "LEAF"]}, "'BRANCH_ODD'; help: legal are BRANCH_LEQ"),
        ({"nodes_values": [float("nan"), 0.0, 0.0]}, "node 0 compares with NaN"),
        ({"target_ids": [0, 3]}, "a leaf has a weight for target 3, there are 1"),
        ({"target_weights": [1.0]}, "one for each weight is expected"),
        ({"target_nodeids": [1, 7]}, "tree 0 has no node 7"),
        ({"target_weights": [1.0, float("inf")], "aggregate_function": "MIN"}, "infinite weight or NaN, which MIN"),
        ({"base_values": [1.0, 2.0]}, "base_values has 2 elements for 1 targets"),
        (chain(5000), "more than 4096 nodes on a path"),
    ],
)
def test_what_is_no_tree_is_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        of_ensemble(**words)()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"nodes_truenodeids": [5]}, "node 0 has leaf 5 for its true child, there are 2 leaves"),
        ({"tree_roots": [1]}, "tree_roots has the element 1, there are 1 nodes"),
        ({"nodes_trueleafs": [0]}, "node 0"),
        ({"nodes_trueleafs": [1, 1]}, "must number a child of each of 1 nodes"),
        ({"membership_values": numpy_helper.from_array(np.array([np.nan], np.float32))}, "1 sets, 0 nodes"),
    ],
)
def test_what_is_no_ensemble_is_refused(words: dict[str, Any], message: str) -> None:
    rng = np.random.default_rng(0)
    grown = RandomTrees(rng, 1)
    grown.grow(1, 1)
    given: dict[str, Any] = indexed(grown, [1.0, 2.0], [0, 0], "float32") | words
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model("TreeEnsemble", [np.zeros((2, 1), np.float32)], domain=DOMAIN, domain_opset=5, **given))
