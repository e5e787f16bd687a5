"""The forward graph of fusion and its post-dominator tree, with the worst pattern on the way to each post-dominator.

Nodes are numbers in post-DFS order, edges go from producer to consumer and have patterns. So the analyses are plain
loops over lists and can be tested without IR. In post-DFS order a node comes after all nodes that it uses: `0 … n-1` is
a topological order, and its reverse visits consumers first. `op_patterns.forward_graph` builds the graph of a function.

Node `p` post-dominates `n` if every path from `n` to the outside passes through `p`; the nearest such node is the
parent of `n`. In a DAG it is the least common ancestor, in the tree built so far, of the consumers of `n`; when nodes
are visited in reverse post-DFS order, all consumers are in the tree already.

Relay finds this ancestor by walking from parent to parent, which is quadratic on long chains with early branches. Here
every tree node also has one *jump* to a far ancestor, with distances as in a skew-binary number (Myers 1983): two nodes
of equal depth jump equally far, and any ancestor is reached in O(log n) steps with one extra link per node.

The pattern of a node is the greatest of its out-edges and of all tree nodes between its consumers and the ancestor. To
report *which* edge has this pattern, each jump stores the worst node that it skips.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from xrelay.dialects.relay.core.op_pattern import OpPatternKind


class Edge(NamedTuple):
    """A use of `producer`'s value by `consumer`, with the pattern of the access."""

    producer: int
    consumer: int
    pattern: OpPatternKind


class Use(NamedTuple):
    """An operand of a node being added; `pattern` is `None` for an extern use, which blocks fusion."""

    producer: int
    pattern: OpPatternKind | None


@dataclass
class ForwardGraph:
    """Nodes `0 … len(graph) - 1` in post-DFS order; every list is indexed by node."""

    names: list[str] = field(default_factory=list[str])
    """The name of the node in explanations."""
    patterns: list[OpPatternKind] = field(default_factory=list[OpPatternKind])
    extern: list[bool] = field(default_factory=list[bool])
    """Whether the value is used outside the graph: it is returned, yielded, bound by a let, or a condition."""
    outputs: list[list[Edge]] = field(default_factory=list[list[Edge]])
    """The edges to the node's consumers, one for each operand."""
    operands: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """The nodes that produce the node's operands, in operand order."""
    is_variable: list[bool] = field(default_factory=list[bool])
    """Whether the node is a parameter or another value from outside."""
    own_arguments: list[int] = field(default_factory=list[int])
    """The number of arguments of a kernel of the node alone (Relay's args_num)."""
    counted_operands: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """The operands whose groups count among the arguments of the node's kernel (`groups.py`), without variables."""
    dynamic_extents: list[int] = field(default_factory=list[int])
    """The number of unknown dimensions of the node's result; each is one more output of its kernel."""
    hints: dict[int, AbstractSet[int]] = field(default_factory=dict[int, AbstractSet[int]])
    """Hinted nodes, each with the post-dominators that its hint names."""

    def __len__(self) -> int:
        return len(self.names)

    def add(
        self,
        name: str,
        pattern: OpPatternKind,
        uses: Sequence[Use] = (),
        *,
        is_variable: bool = False,
        own_arguments: int = 0,
        counted: Sequence[int] | None = None,
        dynamic_extents: int = 0,
    ) -> int:
        """Appends a node that uses earlier ones and returns its number; raises `ValueError` for a use of a later node.

        `counted` are the operands that count as arguments, by default all.
        """
        node, operands = len(self.names), tuple(use.producer for use in uses)
        self.names.append(name)
        self.patterns.append(pattern)
        self.extern.append(False)
        self.outputs.append([])
        self.operands.append(operands)
        self.is_variable.append(is_variable)
        self.own_arguments.append(own_arguments)
        self.dynamic_extents.append(dynamic_extents)
        for producer, edge_pattern in uses:
            if not 0 <= producer < node:
                raise ValueError(f"node {node} ({name}) uses node {producer}, which does not come before it")
            if edge_pattern is None:
                self.extern[producer] = True
            else:
                self.outputs[producer].append(Edge(producer, node, edge_pattern))
        counted = operands if counted is None else counted
        self.counted_operands.append(tuple(operand for operand in counted if not self.is_variable[operand]))
        return node

    def describe(self, node: int) -> str:
        """The node as text for messages: `#3 nn.relu`."""
        return f"#{node} {self.names[node]}"


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
                # A node without an edge is a child of the exit, and has no parent.
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
