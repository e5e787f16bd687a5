"""`relay.tree_leaves`."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.trees import TreeLeavesOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(TreeLeavesOp)
def evaluate_tree_leaves(op: TreeLeavesOp, data: Array, features: Array, thresholds: Array, children: Array) -> Array:
    """Takes each step for all rows and trees at once."""
    rows, trees = len(data), op.trees.value.data
    nodes = np.tile(np.arange(trees, dtype=np.int64), (rows, 1))
    for _ in range(op.depth.value.data):
        columns = _clipped(features[nodes], data.shape[1])
        goes_right = ~(np.take_along_axis(data, columns, axis=1) <= thresholds[nodes])
        nodes = _clipped(children[nodes, goes_right.astype(np.int64)], len(children))
    return nodes.astype(np.int32)


def _clipped(indices: Array, size: int) -> Array:
    return np.minimum(indices.astype(np.uint32), size - 1).astype(np.int64)
