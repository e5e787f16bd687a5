"""Decision trees as the tables of `relay.tree_leaves`, built from the nodes of a model.

A node of a model compares in one of seven modes, and sends a missing value (NaN) to either child. A row of the tables
always compares by `<=`, and sends NaN to the right child:

- `x < t` is `x <= p` for the largest number `p` below `t`; `>` and `>=` exchange the children of `<=` and `<`;
- `x == t` is `x <= t`, and then not `x <= p`; membership in a set is a binary search for the number to compare with;
- if NaN goes left, the row reads a second copy of the feature, in which -inf replaces NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.converters.definition import Array


class Mode(IntEnum):
    """The comparison of a feature with its threshold, numbered as in `TreeEnsemble`."""

    LEQ = 0
    LT = 1
    GTE = 2
    GT = 3
    EQ = 4
    NEQ = 5
    MEMBER = 6


EXCHANGED: Final = (Mode.GTE, Mode.GT, Mode.NEQ)
"""The modes that are another mode with exchanged children."""

MAX_DEPTH: Final = 1 << 12
"""The maximum number of nodes on a path; trained trees have some tens."""


@dataclass(frozen=True)
class TreeNodes:
    """The inner nodes of all trees by number. Child `c` is node `c` if that is not negative, else leaf `-1 - c`."""

    features: Array
    thresholds: Array
    """In the dtype of the data."""
    modes: Array
    tracks_true: Array
    """Whether NaN counts as true."""
    true_children: Array
    false_children: Array
    roots: Array
    members: Sequence[Array]
    """The numbers of each node of mode `MEMBER`, in the order of these nodes."""

    def __len__(self) -> int:
        return len(self.features)


@dataclass(frozen=True)
class TreeTables:
    """The columns of the tables of `relay.tree_leaves`; the last `leaves` rows are the leaves, in order."""

    features: Array
    """The feature of a row, plus the number of features if NaN goes left."""
    thresholds: Array
    children: Array
    trees: int
    depth: int
    """The maximum number of steps from a root to a leaf."""
    leaves: int

    @property
    def first_leaf(self) -> int:
        """The row of leaf 0."""
        return len(self.features) - self.leaves


@dataclass
class _Rows:
    """Rows under construction: one per node, then additional ones. Children are numbered as in `TreeNodes`."""

    features: list[int]
    thresholds: list[float]
    left: list[int]
    right: list[int]

    def put(self, feature: int, threshold: float, left: int, right: int, row: int | None = None) -> int:
        """Writes a row at `row`, or appends one; returns its number."""
        if row is None:
            row = len(self.features)
            for column in (self.features, self.left, self.right):
                column.append(0)
            self.thresholds.append(0.0)
        self.features[row], self.thresholds[row] = feature, threshold
        self.left[row], self.right[row] = left, right
        return row


def tree_tables(nodes: TreeNodes, leaves: int, num_features: int) -> TreeTables:
    """Returns the tables of trees that `check_nodes` accepts, with `leaves` leaves; `ModelImportError` for a cycle."""
    modes = nodes.modes
    exchanged = np.isin(modes, EXCHANGED)
    # NaN fails every comparison except `!=`; if children are exchanged, so is the side of NaN.
    goes_left = np.where(exchanged, (modes != Mode.NEQ) & ~nodes.tracks_true, nodes.tracks_true)
    left = np.where(exchanged, nodes.false_children, nodes.true_children)
    right = np.where(exchanged, nodes.true_children, nodes.false_children)
    below = before(nodes.thresholds)
    thresholds = np.where(np.isin(modes, (Mode.LT, Mode.GTE)), below, nodes.thresholds)
    features = nodes.features + num_features * goes_left
    rows = _Rows(features.tolist(), thresholds.tolist(), left.tolist(), right.tolist())
    members = iter(nodes.members)
    for node in np.flatnonzero(modes >= Mode.EQ):
        numbers = next(members) if modes[node] == Mode.MEMBER else nodes.thresholds[node : node + 1]
        if not numbers.size:
            raise ModelImportError(f"node {node} compares with an empty set; remove the node")
        _search(rows, int(node), np.unique(numbers), num_features)
    return _concatenated(rows, nodes, leaves)


def before(numbers: Array) -> Array:
    """Returns the largest number below each; NaN below -inf, since `x <= NaN` is never true."""
    least = np.array(-np.inf, numbers.dtype)
    return np.where(numbers == least, np.nan, np.nextafter(numbers, least)).astype(numbers.dtype)


def _search(rows: _Rows, node: int, numbers: Array, num_features: int) -> None:
    """Makes `node` the root of a binary search for its feature among ascending numbers.

    Each row sends the feature to one half of the numbers, and the last one compares it with the number that is left.
    NaN goes to the last number, or, if it counts as true, to the first.
    """
    feature, found, missed = rows.features[node], rows.left[node], rows.right[node]
    below = before(numbers).tolist()
    values = numbers.tolist()
    pending = [(0, len(values), node)]
    while pending:
        first, end, row = pending.pop()
        if end - first == 1:
            equal = rows.put(feature % num_features, below[first], missed, found)
            rows.put(feature, values[first], equal, missed, row)
            continue
        middle = (first + end) // 2
        parts = [rows.put(0, 0.0, missed, missed) for _ in range(2)]
        rows.put(feature, values[middle - 1], parts[0], parts[1], row)
        pending += [(first, middle, parts[0]), (middle, end, parts[1])]


def check_nodes(nodes: TreeNodes, leaves: int, num_features: int) -> None:
    """Raises `ModelImportError` for children, features and roots that do not exist, and for illegal thresholds."""
    for name, children in (("true", nodes.true_children), ("false", nodes.false_children)):
        wrong = np.flatnonzero((children >= len(nodes)) | (children < -leaves))
        if wrong.size:
            child, node = int(children[wrong[0]]), int(wrong[0])
            there = f"{leaves} leaves" if child < 0 else f"{len(nodes)} nodes"
            what = f"leaf {-1 - child}" if child < 0 else f"node {child}"
            raise ModelImportError(f"node {node} has {what} for its {name} child, there are {there}")
    wrong = np.flatnonzero((nodes.features < 0) | (nodes.features >= num_features))
    if wrong.size:
        feature = int(nodes.features[wrong[0]])
        raise ModelImportError(f"node {int(wrong[0])} reads feature {feature}, the data has {num_features}")
    wrong = np.flatnonzero(np.isnan(nodes.thresholds) & (nodes.modes != Mode.MEMBER))
    if wrong.size:
        raise ModelImportError(f"node {int(wrong[0])} compares with NaN; a number is expected")
    is_below = np.isin(nodes.modes, (Mode.LT, Mode.GTE)) & np.isneginf(nodes.thresholds)
    wrong = np.flatnonzero(is_below & (nodes.tracks_true == (nodes.modes == Mode.LT)))
    if wrong.size:
        raise ModelImportError(f"node {int(wrong[0])} compares with -inf and treats NaN as less; remove the node")
    wrong = np.flatnonzero((nodes.roots >= len(nodes)) | (nodes.roots < -leaves))
    if wrong.size:
        raise ModelImportError(f"tree {int(wrong[0])} begins at node {int(nodes.roots[wrong[0]])} of {len(nodes)}")


def _concatenated(rows: _Rows, nodes: TreeNodes, leaves: int) -> TreeTables:
    """The rows of the roots, all rows, and the leaves, as arrays."""
    trees, inner = len(nodes.roots), len(rows.features)
    children = np.array([rows.left, rows.right], np.int64).reshape(2, inner).T
    depth = _depth(children)
    first_leaf = trees + inner
    own = np.arange(first_leaf, first_leaf + leaves)
    table = np.where(children >= 0, children + trees, first_leaf - 1 - children)
    table = np.concatenate([table, np.stack([own, own], axis=1)])
    features = np.concatenate([np.array(rows.features, np.int64), np.zeros(leaves, np.int64)])
    thresholds = np.concatenate([np.array(rows.thresholds, np.float64), np.full(leaves, np.inf)])
    order = np.concatenate(
        [np.where(nodes.roots >= 0, nodes.roots, inner - 1 - nodes.roots), np.arange(inner + leaves)]
    )
    if len(order) > np.iinfo(np.int32).max:
        raise ModelImportError(f"the trees have {len(order)} nodes, at most {np.iinfo(np.int32).max} are supported")
    return TreeTables(
        features[order].astype(np.int32),
        thresholds[order].astype(nodes.thresholds.dtype),
        table[order].astype(np.int32),
        trees,
        max(depth, 1),
        leaves,
    )


def _depth(children: Array) -> int:
    """The number of nodes on the longest path; negative children are leaves. Raises `ModelImportError` for a cycle.

    Nodes without a remaining parent are removed in waves.
    """
    count = len(children)
    inner = children[children >= 0]
    parents = np.bincount(inner, minlength=count)
    wave = np.flatnonzero(parents == 0)
    waves = removed = 0
    while wave.size:
        waves, removed = waves + 1, removed + wave.size
        if waves > MAX_DEPTH:
            raise ModelImportError(f"a tree has more than {MAX_DEPTH} nodes on a path; limit its depth")
        reached, times = np.unique(children[wave], return_counts=True)
        reached, times = reached[reached >= 0], times[reached >= 0]
        parents[reached] -= times
        wave = reached[parents[reached] == 0]
    if removed < count:
        node = int(np.flatnonzero(parents)[0])
        raise ModelImportError(f"node {node} is its own descendant: the nodes are not trees")
    return waves


def trees_of_leaves(nodes: TreeNodes, leaves: int) -> Array | None:
    """Returns the tree that reaches each leaf, -1 if none does; `None` if trees share nodes."""
    children = np.stack([nodes.true_children, nodes.false_children], axis=1)
    owners = np.full(len(nodes) + leaves, -1)  # leaves have negative numbers, so they index from the end
    rows_reached, trees = nodes.roots, np.arange(len(nodes.roots))
    while rows_reached.size:
        reached, first, again = np.unique(rows_reached, return_index=True, return_inverse=True)
        known = owners[reached]
        if (trees != trees[first][again]).any() or ((known != -1) & (known != trees[first])).any():
            return None
        is_new = known == -1
        rows_reached, trees = reached[is_new], trees[first][is_new]
        owners[rows_reached] = trees
        is_inner = rows_reached >= 0
        rows_reached, trees = children[rows_reached[is_inner]].reshape(-1), trees[is_inner].repeat(2)
    return owners[-1 - np.arange(leaves)]


def trees_of_targets(trees: Array, targets: Array, num_trees: int, num_targets: int) -> list[Array] | None:
    """Returns the trees of each target if every tree has weights for one target only; `None` otherwise.

    Weight `i` is at a leaf of tree `trees[i]`, for target `targets[i]`.
    """
    pairs = np.unique(np.stack([trees, targets], axis=1), axis=0)
    if not len(np.unique(pairs[:, 0])) == len(pairs) == num_trees or (trees < 0).any():
        return None
    return [pairs[pairs[:, 1] == target, 0] for target in range(num_targets)]
