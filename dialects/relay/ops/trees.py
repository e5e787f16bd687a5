"""`relay.tree_leaves`: the leaves of decision trees reached by rows of features."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import Constraints, FloatElements, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class TreeLeavesOp(RelayOp):
    """The node reached in `depth` steps from each of the first `trees` nodes, for each row of the data.

    A step goes from `node` to `children[node, 0]` if `data[row, features[node]] <= thresholds[node]`, else, also for
    NaN, to `children[node, 1]`. Both children of a leaf are the leaf itself, so that trees of unequal depth take the
    same number of steps. A feature or child that is out of range is clamped, as in `relay.take`.

    The nodes are the rows of three tables, shared by all trees; nodes 0 to `trees - 1` are the roots.

    Constraints:
    - C4: `features` is a vector of i32, `thresholds` has its shape, `children` is i32 and has two columns.
    - C5: there are `trees` nodes and at least one feature, and neither `trees` nor `depth` is negative.

    Example:
    ```mlir
    %l = relay.tree_leaves(%x, %f, %t, %c) {trees = 2, depth = 3}
      : (tensor<5x4xf32>, tensor<9xi32>, tensor<9xf32>, tensor<9x2xi32>) -> tensor<5x2xi32>
    ```

    """

    name = "relay.tree_leaves"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": FloatElements(), "C2": RankOf(0, 2, 2), "C3": SameElements((0, 2))}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    data = operand_def()
    features = operand_def()
    thresholds = operand_def()
    children = operand_def()

    trees = int_property()
    depth = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of one node for each row and tree; checks C4 and C5."""
        (rows, columns), (nodes, feature) = facts.shape(0), facts.operand(1)
        children, child = facts.operand(3)
        trees, depth = self.trees.value.data, self.depth.value.data
        tables = f"{facts[1]}, {facts[2]} and {facts[3]} are not tables of nodes"
        ranks = (len(nodes), len(facts.shape(2)), len(children))
        facts.require((feature, child, *ranks) == (i32, i32, 1, 1, 2), "C4", tables)
        facts.require_equal(facts.shape(2)[0], nodes[0], "C4", "thresholds and features", message=tables)
        facts.require_equal(children[0], nodes[0], "C4", "children and features", message=tables)
        facts.require_equal(children[1], 2, "C4", "columns of the children", message=tables)
        facts.require(min(trees, depth) >= 0, "C5", f"trees = {trees} and depth = {depth} must not be negative")
        message = f"{nodes[0]} nodes for {trees} roots"
        facts.require_at_least(nodes[0], trees, "C5", "nodes, and roots", message=message)
        facts.require_at_least(columns, 1, "C5", "features, and", message=f"{facts[0]} has no features")
        return tensor_type((rows, trees), i32)
