"""`relay.tree_leaves`: the leaves of decision trees reached by rows of features."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Dim,
    Facts,
    FloatElements,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    SameElements,
    Tensors,
    TopiBuilder,
    int_property,
    register_relay_op,
    tensor_type,
)


@register_relay_op
class TreeLeavesOp(RelayOp):
    """The node reached in `depth` steps from each of the first `trees` nodes, for each row of the data.

    A row of `nodes` is a feature and two children, left and right. A step goes from `node` to its left child if
    `data[row, feature] <= thresholds[node]`, else, also for NaN, to the right one. Both children of a leaf are the leaf
    itself, so that trees of unequal depth take the same number of steps. A feature or child that is out of range is
    clamped, as in `relay.take`.

    All trees share the tables; nodes 0 to `trees - 1` are the roots. Feature and children are in one table because they
    are then mostly in one cache line.

    Constraints:
    - C4: `thresholds` is a vector; `nodes` is i32 and has a row for each threshold and three columns.
    - C5: there are at least `trees` nodes and at least one feature, and neither `trees` nor `depth` is negative.

    Example:
    ```mlir
    %l = relay.tree_leaves(%x, %t, %n) {trees = 2, depth = 3}
      : (tensor<5x4xf32>, tensor<9xf32>, tensor<9x3xi32>) -> tensor<5x2xi32>
    ```

    """

    name = "relay.tree_leaves"
    CONSTRAINTS = {"C1": FloatElements(), "C2": RankOf(0, 2, 2), "C3": SameElements((0, 1))}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER

    data = operand_def()
    thresholds = operand_def()
    nodes = operand_def()

    trees = int_property()
    depth = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of one node for each row and tree; checks C4 and C5."""
        (rows, columns), thresholds, (nodes, element) = facts.shape(0), facts.shape(1), facts.operand(2)
        trees, depth = self.trees.value.data, self.depth.value.data
        tables = f"{facts[1]} and {facts[2]} are not tables of nodes"
        facts.require((element, len(thresholds), len(nodes)) == (i32, 1, 2), "C4", tables)
        facts.require_equal(nodes[0], thresholds[0], "C4", "nodes and thresholds", message=tables)
        facts.require_equal(nodes[1], 3, "C4", "columns of the nodes", message=tables)
        facts.require(min(trees, depth) >= 0, "C5", f"trees = {trees} and depth = {depth} must not be negative")
        message = f"{nodes[0]} nodes for {trees} roots"
        facts.require_at_least(nodes[0], trees, "C5", "nodes, and roots", message=message)
        facts.require_at_least(columns, 1, "C5", "features, and", message=f"{facts[0]} has no features")
        return tensor_type((rows, trees), i32)

    def evaluate(self, data: Array, thresholds: Array, nodes: Array) -> Array:
        """Takes each step for all rows and trees at once."""
        rows, trees = len(data), self.trees.value.data
        found = np.tile(np.arange(trees, dtype=np.int64), (rows, 1))
        for _ in range(self.depth.value.data):
            columns = _clamped(nodes[found, 0], data.shape[1])
            goes_right = ~(np.take_along_axis(data, columns, axis=1) <= thresholds[found])
            found = _clamped(nodes[found, 1 + goes_right.astype(np.int64)], len(nodes))
        return found.astype(np.int32)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Folds over the steps, which replace a node by one of its children.

        The accumulator is the node's offset from its root, because a fold begins with a constant; offsets wrap. The
        last compute adds the root, whose number is that of the tree.
        """
        from xrelay.dialects.upstream.arith_extras import IndexCastOp, IndexCastUIOp

        data, thresholds, nodes = (build.operand(index) for index in range(3))
        (_, columns), (count,), (rows, trees) = build.shape(data), build.shape(thresholds), build.result_shape

        def root(b: Body) -> SSAValue:
            return b.add(IndexCastOp(b.index(b.spatial[1]), i32))

        def clamped(b: Body, number: SSAValue, size: Dim) -> SSAValue:
            return b.add(arith.MinUIOp(number, b.size(size - 1, i32)))

        def as_index(b: Body, number: SSAValue) -> AffineExpr:
            return b.as_index(b.add(IndexCastUIOp(number, IndexType())))

        def step(b: Body) -> SSAValue:
            node = as_index(b, b.plus(b.accumulators[0], root(b)))
            feature = as_index(b, clamped(b, b.read(nodes, node, 0), columns))
            value, threshold = b.read(data, b.spatial[0], feature), b.read(thresholds, node)
            goes_right = as_index(b, b.add(arith.CmpfOp(value, threshold, "ugt")))
            return b.minus(clamped(b, b.read(nodes, node, goes_right + 1), count), root(b))

        space, steps = {"row": rows, "tree": trees}, {"step": self.depth.value.data}
        offsets = build.compute("tree_steps", space, i32, step, reduce=steps, init=[0])
        return [build.compute("tree_leaves", space, i32, lambda b: b.plus(b.read(offsets, *b.spatial), root(b)))]


def _clamped(indices: Array, size: int) -> Array:
    """Returns the indices as unsigned numbers of at most `size - 1`."""
    return np.minimum(indices.astype(np.uint32), size - 1).astype(np.int64)
