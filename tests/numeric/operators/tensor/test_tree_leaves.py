"""`relay.tree_leaves`: a plain walk, the interpreter, every level and native code agree."""

from __future__ import annotations

import numpy as np
import pytest
from support.levels import check_levels, check_native, outputs
from support.one_node import Array
from support.one_op import program

FEATURES = 5


def walked(x: Array, thresholds: Array, nodes: Array, trees: int, depth: int) -> Array:
    """Walks each row and tree separately."""
    features, children = nodes[:, 0], nodes[:, 1:]
    last, found = np.uint32(len(features) - 1), np.empty((len(x), trees), np.int32)
    for row, tree in np.ndindex(found.shape):
        node = np.uint32(tree)
        for _ in range(depth):
            feature = min(np.uint32(features[node]), np.uint32(FEATURES - 1))
            side = 0 if x[row, feature] <= thresholds[node] else 1
            node = min(children[node, side].astype(np.uint32), last)
        found[row, tree] = node
    return found


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("rows", "trees", "depth"), [(0, 3, 2), (3, 1, 0), (4, 7, 5), (1, 40, 9), (130, 21, 6)])
def test_walks(dtype: str, rows: int, trees: int, depth: int) -> None:
    """Tables of arbitrary numbers, including negative ones and ones out of range."""
    rng = np.random.default_rng(rows)
    nodes = trees + 60
    features = np.where(rng.random(nodes) < 0.1, rng.integers(-9, 99, nodes), rng.integers(0, FEATURES, nodes))
    children = np.where(
        rng.random((nodes, 2)) < 0.1, np.arange(nodes)[:, None], rng.integers(-5, nodes + 5, (nodes, 2))
    )
    thresholds = rng.integers(-2, 3, nodes).astype(dtype)
    x = rng.choice([-2, -1, 0, 1, 2, 0.5, np.nan, np.inf, -np.inf], (rows, FEATURES)).astype(dtype)
    tables = [x, thresholds, np.column_stack([features, children]).astype(np.int32)]
    module = program("tree_leaves", *tables, trees=trees, depth=depth)
    (found,) = outputs(module, tables)
    np.testing.assert_array_equal(found, walked(x, *tables[1:], trees, depth))
    check_native(module, tables, rtol=0)
    if rows * trees < 1000:  # the interpreters of the levels take a second for more
        check_levels(module, tables, rtol=0)
