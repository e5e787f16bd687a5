"""Reads the decision trees of ai.onnx.ml's operators from their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from xrelay.frontend.onnx.converters.definition import Array, NodeView
from xrelay.frontend.onnx.converters.ml.tree_tables import Mode, TreeNodes

_LEAF: Final = "LEAF"
_MODES: Final = {f"BRANCH_{mode.name}": mode for mode in Mode if mode is not Mode.MEMBER}
_COLUMNS: Final = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")


@dataclass(frozen=True)
class Ensemble:
    """The trees of a node, and the weights of leaves: `weights[i]` for target `targets[i]` at leaf `leaves[i]`."""

    nodes: TreeNodes
    num_leaves: int
    leaves: Array
    targets: Array
    weights: Array


def read_numbered(node: NodeView, kind: str, num_targets: int, dtype: np.dtype[Any]) -> Ensemble:
    """Returns the trees of TreeEnsembleRegressor (`kind` is "target") or TreeEnsembleClassifier ("class").

    Leaves are nodes too, and a node is identified by a tree id and a node id.
    """
    columns = {name: _ints(node, f"nodes_{name}") for name in _COLUMNS}
    count = len(columns["nodeids"])
    values, modes = _numbers(node, "nodes_values", dtype), node.attribute_strings("nodes_modes") or ()
    tracks = node.attribute_ints("nodes_missing_value_tracks_true") or (0,) * count
    sizes = {name: len(column) for name, column in columns.items()}
    sizes |= {"values": len(values), "modes": len(modes), "missing_value_tracks_true": len(tracks)}
    for name, size in sizes.items():
        if size != count:
            raise node.error(f"nodes_{name} has {size} elements, nodes_nodeids {count}; one for each node is expected")
    unknown = sorted({*modes} - {*_MODES, _LEAF})
    if unknown:
        raise node.illegal("nodes_modes", unknown[0], f"legal are {', '.join(_MODES)}, {_LEAF}")
    is_leaf = np.array([mode == _LEAF for mode in modes], np.bool_)
    numbers = np.where(is_leaf, -np.cumsum(is_leaf, dtype=np.int64), np.cumsum(~is_leaf, dtype=np.int64) - 1)
    rows = _RowsOfNodes(node, columns["treeids"], columns["nodeids"])
    inner = np.flatnonzero(~is_leaf)
    trees = columns["treeids"][inner]
    nodes = TreeNodes(
        columns["featureids"][inner],
        values[inner],
        np.array([_MODES[modes[row]] for row in inner], np.int64),
        np.array(tracks, np.bool_)[inner],
        numbers[rows.find(trees, columns["truenodeids"][inner])],
        numbers[rows.find(trees, columns["falsenodeids"][inner])],
        numbers[rows.first_of_trees],
        (),
    )
    leaf_trees, leaf_nodes = (_ints(node, f"{kind}_{name}") for name in ("treeids", "nodeids"))
    targets, weights = _ints(node, f"{kind}_ids"), _numbers(node, f"{kind}_weights", dtype)
    _check_weights(node, kind, (leaf_trees, leaf_nodes, targets, weights), num_targets)
    leaves = numbers[rows.find(leaf_trees, leaf_nodes)]
    at_leaf = leaves < 0  # older exporters assign weights to inner nodes, which have no meaning
    return Ensemble(nodes, int(is_leaf.sum()), -1 - leaves[at_leaf], targets[at_leaf], weights[at_leaf])


def read_indexed(node: NodeView, num_targets: int, dtype: np.dtype[Any]) -> Ensemble:
    """Returns the trees of TreeEnsemble, whose nodes and leaves are numbered across all trees."""
    features, splits = _ints(node, "nodes_featureids"), _tensor(node, "nodes_splits").astype(dtype)
    count, modes = len(features), _tensor(node, "nodes_modes").astype(np.int64)
    tracks = node.attribute_ints("nodes_missing_value_tracks_true") or (0,) * count
    children: dict[str, Array] = {}
    for side in ("true", "false"):
        ids, is_leaf = _ints(node, f"nodes_{side}nodeids"), _ints(node, f"nodes_{side}leafs") != 0
        if not len(ids) == len(is_leaf) == count or ids.min(initial=0) < 0:
            raise node.error(f"nodes_{side}nodeids and nodes_{side}leafs must number a child of each of {count} nodes")
        children[side] = np.where(is_leaf, -1 - ids, ids)
    if not len(splits) == len(modes) == len(tracks) == count:
        raise node.error(f"nodes_splits and nodes_modes have {len(splits)} and {len(modes)} elements for {count} nodes")
    if modes.size and not 0 <= modes.min() <= modes.max() <= Mode.MEMBER:
        raise node.illegal("nodes_modes", int(modes.max()), f"modes are 0 to {Mode.MEMBER.value}")
    roots, targets = _ints(node, "tree_roots"), _ints(node, "leaf_targetids")
    weights = _tensor(node, "leaf_weights").astype(dtype)
    if roots.size and not 0 <= roots.min() <= roots.max() < count:
        raise node.error(f"tree_roots has the element {int(roots.max())}, there are {count} nodes")
    leaves = np.arange(len(targets))
    _check_weights(node, "leaf", (leaves, leaves, targets, weights), num_targets)
    members = _members(node, int((modes == Mode.MEMBER).sum()), dtype)
    nodes = TreeNodes(
        features, splits, modes, np.array(tracks, np.bool_), children["true"], children["false"], roots, members
    )
    return Ensemble(nodes, len(targets), leaves, targets, weights)


def _members(node: NodeView, count: int, dtype: np.dtype[Any]) -> Sequence[Array]:
    """The sets of numbers; in the attribute, NaN ends each set."""
    given = node.attribute_tensor("membership_values")
    numbers = np.empty(0, dtype) if given is None else given.reshape(-1).astype(dtype)
    ends = np.flatnonzero(np.isnan(numbers))
    if len(ends) != count:
        raise node.error(f"membership_values has {len(ends)} sets, {count} nodes compare with one")
    return [part[part == part] for part in np.split(numbers, ends)[:count]]


class _RowsOfNodes:
    """Finds the rows of nodes by tree id and node id."""

    def __init__(self, node: NodeView, trees: Array, nodes: Array):
        self._node = node
        self._trees, self.first_of_trees = np.unique(trees, return_index=True)
        keys = self._keys(trees, nodes)
        if keys.size and keys.min() < 0:
            raise node.error(f"nodes_nodeids has the element {nodes[keys.argmin()]}; numbers are 0 to 2^31 - 1")
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]
        twice = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        if twice.size:
            row = self._order[twice[0]]
            raise node.error(f"node {nodes[row]} of tree {trees[row]} occurs twice")

    def find(self, trees: Array, nodes: Array) -> Array:
        """Returns the rows; raises an error for a missing node."""
        keys = self._keys(trees, nodes)
        positions = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        wrong = np.flatnonzero(self._sorted[positions] != keys) if len(self._sorted) else np.arange(len(keys))
        if wrong.size:
            raise self._node.error(f"tree {trees[wrong[0]]} has no node {nodes[wrong[0]]}, which the attributes name")
        return self._order[positions]

    def _keys(self, trees: Array, nodes: Array) -> Array:
        """One key per node; -1 for a tree or node that cannot exist."""
        positions = np.minimum(np.searchsorted(self._trees, trees), max(0, len(self._trees) - 1))
        known = (nodes >= 0) & (nodes < 1 << 31)
        if len(self._trees):
            known &= self._trees[positions] == trees
        return np.where(known, (positions << 31) + nodes, -1)


def _check_weights(node: NodeView, kind: str, columns: Sequence[Array], num_targets: int) -> None:
    sizes = [len(column) for column in columns]
    if len(set(sizes)) > 1:
        raise node.error(f"the attributes {kind}_… have {sizes} elements; one for each weight is expected")
    targets = columns[2]
    if targets.size and not 0 <= targets.min() <= targets.max() < num_targets:
        wrong = targets.min() if targets.min() < 0 else targets.max()
        raise node.error(f"a leaf has a weight for target {wrong}, there are {num_targets}")


def _ints(node: NodeView, name: str) -> Array:
    found = node.attribute_ints(name)
    if found is None:
        raise node.error(f"attribute {name!r} is missing")
    return np.array(found, np.int64)


def _tensor(node: NodeView, name: str) -> Array:
    found = node.attribute_tensor(name)
    if found is None:
        raise node.error(f"attribute {name!r} is missing")
    return found.reshape(-1)


def _numbers(node: NodeView, name: str, dtype: np.dtype[Any]) -> Array:
    """A list of floats, or the tensor `<name>_as_tensor`."""
    tensor, floats = node.attribute_tensor(f"{name}_as_tensor"), node.attribute_floats(name)
    if tensor is not None:
        return tensor.reshape(-1).astype(dtype)
    return np.array(() if floats is None else floats, np.float32).astype(dtype)
