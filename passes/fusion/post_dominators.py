"""The post-dominator tree of a forward graph, with the worst pattern met between a node and its post-dominator.

Node `p` post-dominates `n` if every path from `n` to the outside passes through `p`; the nearest such node is the
parent of `n`. In a DAG it is the least common ancestor, in the tree built so far, of the consumers of `n`; when nodes
are visited in reverse post-DFS order, all consumers are in the tree already.

Relay finds this ancestor by walking from parent to parent, which is quadratic on long chains with early branches. Here
every tree node also has one *jump* to a far ancestor, with distances as in a skew-binary number (Myers 1983): two nodes
of equal depth jump equally far, and any ancestor is reached in O(log n) steps with one extra link per node.

The pattern of a node is the greatest among its out-edges and the patterns of all tree nodes passed on the way to the
ancestor. To report *which* edge has this pattern, each jump stores the worst node that it skips.
"""

from __future__ import annotations

from dataclasses import dataclass

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.passes.fusion.forward_graph import Edge, ForwardGraph


@dataclass(frozen=True)
class PostDominatorTree:
    """The tree, in fact a forest: a node whose value is used outside has no parent. Lists are indexed by node."""

    parents: list[int | None]
    """The immediate post-dominator, or `None`."""
    depths: list[int]
    """1 for a root, one more than the parent's otherwise."""
    patterns: list[OpPatternKind]
    """The greatest edge pattern between the node and its parent; opaque for an extern node."""
    worst_edges: list[Edge | None]
    """An edge with that pattern; `None` for a node without consumers."""


def post_dominator_tree(graph: ForwardGraph) -> PostDominatorTree:
    """The post-dominator tree of `graph`, in O(edges · log nodes) time and linear memory."""
    builder = _TreeBuilder(graph)
    for node in reversed(range(len(graph))):
        builder.add(node)
    parents = [None if parent == builder.exit else parent for parent in builder.parents[:-1]]
    return PostDominatorTree(parents, builder.depths[:-1], builder.patterns[:-1], builder.worst_edges)


class _TreeBuilder:
    """The tree under construction. A virtual exit, numbered after the nodes, is the parent of all roots."""

    def __init__(self, graph: ForwardGraph):
        self.graph = graph
        self.exit = size = len(graph)
        self.parents = [self.exit] * (size + 1)
        self.depths = [0] * (size + 1)
        self.patterns = [OpPatternKind.ELEM_WISE] * (size + 1)
        self.worst_edges: list[Edge | None] = [None] * size
        self.jumps = [self.exit] * (size + 1)
        self.worst_skipped = list(range(size + 1))
        """For each node, the node of greatest pattern from it up to, excluding, its jump."""

    def add(self, node: int) -> None:
        """Adds `node` to the tree; its consumers must be in the tree."""
        if self.graph.extern[node] or not self.graph.outputs[node]:
            self.patterns[node] = OpPatternKind.OPAQUE if self.graph.extern[node] else OpPatternKind.ELEM_WISE
            self._attach(node, self.exit)
            return
        first, *rest = self.graph.outputs[node]
        ancestor, worst, pattern = first.consumer, first, first.pattern
        for edge in rest:
            if edge.pattern > worst.pattern:
                worst = edge
            if edge.consumer != ancestor:
                ancestor, climbed = self._common_ancestor(ancestor, edge.consumer)
                pattern = max(pattern, self.patterns[climbed])
                # A node without an edge is a child of the exit, so no parent will be found either.
                skipped = self.worst_edges[climbed]
                if skipped is not None and skipped.pattern > worst.pattern:
                    worst = skipped
        self.patterns[node] = max(pattern, worst.pattern)
        self.worst_edges[node] = worst
        self._attach(node, ancestor)

    def _attach(self, node: int, parent: int) -> None:
        self.parents[node] = parent
        self.depths[node] = self.depths[parent] + 1
        middle = self.jumps[parent]
        far = self.jumps[middle]
        if self.depths[parent] - self.depths[middle] != self.depths[middle] - self.depths[far] or parent == self.exit:
            self.jumps[node] = parent
            return
        self.jumps[node] = far
        self.worst_skipped[node] = self._worse(
            node, self._worse(self.worst_skipped[parent], self.worst_skipped[middle])
        )

    def _worse(self, left: int, right: int) -> int:
        return left if self.patterns[left] >= self.patterns[right] else right

    def _common_ancestor(self, left: int, right: int) -> tuple[int, int]:
        """The least common ancestor of two different tree nodes, and the worst node passed on the way to it."""
        depths, jumps, parents, worst_skipped = self.depths, self.jumps, self.parents, self.worst_skipped
        if depths[left] < depths[right]:
            left, right = right, left
        worst, target = left if depths[left] > depths[right] else self._worse(left, right), depths[right]
        while depths[left] > target:
            if depths[jumps[left]] >= target:
                worst, left = self._worse(worst, worst_skipped[left]), jumps[left]
            else:
                worst, left = self._worse(worst, left), parents[left]
        while left != right:
            if jumps[left] != jumps[right]:
                worst = self._worse(worst, self._worse(worst_skipped[left], worst_skipped[right]))
                left, right = jumps[left], jumps[right]
            else:
                worst = self._worse(worst, self._worse(left, right))
                left, right = parents[left], parents[right]
        return left, worst
