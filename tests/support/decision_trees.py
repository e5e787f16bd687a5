"""Random ensembles of decision trees, as attributes of the operators of ai.onnx.ml."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from onnx import numpy_helper

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
THRESHOLDS = (-1.0, -0.5, 0.0, 0.25, 1.0, 2.0)
"""Few values, so that features are often equal to one."""


class Node(NamedTuple):
    """An inner node or a leaf of a tree; fields are named after the operators' attributes."""

    treeids: int
    nodeids: int
    featureids: int = 0
    modes: str = "LEAF"
    values: float = 0.0
    truenodeids: int = 0
    falsenodeids: int = 0
    missing_value_tracks_true: int = 0


@dataclass
class RandomTrees:
    """Trees whose nodes are numbered in order."""

    rng: np.random.Generator
    features: int
    modes: tuple[str, ...] = MODES
    tracks: bool = True
    nodes: list[Node] = field(default_factory=list[Node])

    def grow(self, trees: int, depth: int) -> list[tuple[int, int]]:
        """Adds trees with at most `depth` inner nodes on a path; returns the tree and node of each leaf."""
        leaves: list[tuple[int, int]] = []
        for tree in range(trees):
            rows: list[Node] = []
            pending, count = [(0, 0)], 1
            while pending:
                node, level = pending.pop()
                if level == depth or (level and self.rng.random() < 0.3):
                    rows.append(Node(tree, node))
                    leaves.append((tree, node))
                    continue
                feature, mode = int(self.rng.integers(self.features)), str(self.rng.choice(self.modes))
                tracks = int(self.tracks and self.rng.random() < 0.5)
                threshold = float(self.rng.choice(THRESHOLDS))
                rows.append(Node(tree, node, feature, mode, threshold, count, count + 1, tracks))
                pending += [(count, level + 1), (count + 1, level + 1)]
                count += 2
            self.nodes += sorted(rows)
        return leaves

    def data(self, rows: int, dtype: str) -> Any:
        """Features: 70 % are thresholds or NaN, the others random."""
        exact = self.rng.choice([*THRESHOLDS, np.nan], (rows, self.features))
        return np.where(self.rng.random(exact.shape) < 0.7, exact, self.rng.normal(size=exact.shape)).astype(dtype)

    def attributes(self) -> dict[str, Any]:
        """The node attributes of TreeEnsembleRegressor and TreeEnsembleClassifier."""
        return {f"nodes_{name}": [getattr(node, name) for node in self.nodes] for name in Node._fields}


def weights_of(kind: str, leaves: list[tuple[int, int]], targets: list[int], weights: list[float]) -> dict[str, Any]:
    """The attributes of the weights; `kind` is "target" or "class"."""
    trees, nodes = zip(*leaves, strict=True)
    words = {"treeids": list(trees), "nodeids": list(nodes), "ids": targets, "weights": weights}
    return {f"{kind}_{name}": value for name, value in words.items()}


def indexed(grown: RandomTrees, weights: list[float], targets: list[int], dtype: str) -> dict[str, Any]:
    """The attributes of TreeEnsemble; `weights` and `targets` are those of the leaves, in the order of the nodes."""
    rows = [node for node in grown.nodes if node.modes != "LEAF"]
    inner = {(node.treeids, node.nodeids): number for number, node in enumerate(rows)}
    others = [node for node in grown.nodes if node.modes == "LEAF"]
    leaves = {(node.treeids, node.nodeids): number for number, node in enumerate(others)}
    children = {
        "true": [(node.treeids, node.truenodeids) for node in rows],
        "false": [(node.treeids, node.falsenodeids) for node in rows],
    }
    words: dict[str, Any] = {}
    for side, keys in children.items():
        words[f"nodes_{side}nodeids"] = [inner.get(key, leaves.get(key)) for key in keys]
        words[f"nodes_{side}leafs"] = [int(key in leaves) for key in keys]
    return words | {
        "leaf_targetids": targets,
        "leaf_weights": numpy_helper.from_array(np.array(weights, dtype)),
        "nodes_featureids": [node.featureids for node in rows],
        "nodes_missing_value_tracks_true": [node.missing_value_tracks_true for node in rows],
        "nodes_modes": numpy_helper.from_array(np.array([MODES.index(node.modes) for node in rows], np.uint8)),
        "nodes_splits": numpy_helper.from_array(np.array([node.values for node in rows], dtype)),
        "tree_roots": [number for key, number in inner.items() if key[1] == 0],
    }
