"""A plain reimplementation of Relay's fusion, with which tests compare the partition of `xrelay.passes`.

It shares no code with `xrelay.passes`. The algorithm follows the description of `fuse_ops.cc` and
`graph_partitioner.cc` of TVM 0.16, with its recursion, its walks from parent to parent and its repeated counting, and
is slow. `OracleGraph` is the forward graph, `partition` the three phases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

ELEM_WISE, BROADCAST, INJECTIVE, COMM_REDUCE, HEAVY, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8


@dataclass
class Node:
    """A node of the forward graph.

    `arguments` are the operands of a call or the fields of a tuple, one entry per use, without variables. `own` counts
    the arguments that the node has by itself: operands that are variables or fields of tuples, and arguments for their
    unknown dimensions. `extra_results` is the number of unknown dimensions of a call's result.
    """

    pattern: int
    label: object = None
    arguments: list[int] = field(default_factory=list[int])
    own: int = 0
    extra_results: int = 0
    extern: bool = False
    outputs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(consumer, edge pattern)"""


OracleGraph = list[Node]
"""The nodes in post-DFS order."""


@dataclass
class DominatorNode:
    """A node of the post-dominator tree."""

    index: int
    parent: DominatorNode | None
    depth: int
    pattern: int


@dataclass(eq=False)
class Group:
    """A group of the union-find structure; `root_ref` is the node whose value is the group's result."""

    root_ref: int
    pattern: int
    args: int
    anchor: int | None
    size: int = 1
    parent: Group | None = None

    def find(self) -> Group:
        group = self
        while group.parent is not None:
            group = group.parent
        return group


def post_dominators(graph: OracleGraph) -> list[DominatorNode]:
    """Builds the post-dominator tree from the last node to the first."""
    tree: dict[int, DominatorNode] = {}
    for index in reversed(range(len(graph))):
        node = graph[index]
        if node.extern or not node.outputs:
            tree[index] = DominatorNode(index, None, 1, OPAQUE if node.extern else ELEM_WISE)
            continue
        pattern = ELEM_WISE
        parent: DominatorNode | None = tree[node.outputs[0][0]]
        for consumer, edge in node.outputs:
            other: DominatorNode | None = tree[consumer]
            while parent is not other:
                if parent is None or other is None:
                    parent = None
                    break
                if parent.depth >= other.depth:
                    climbing, parent = parent, parent.parent
                else:
                    climbing, other = other, other.parent
                pattern = max(pattern, climbing.pattern)
            pattern = max(pattern, edge)
        tree[index] = DominatorNode(index, parent, 1 if parent is None else parent.depth + 1, pattern)
    return [tree[index] for index in range(len(graph))]


class Partitioner:
    """One run of the three phases over one graph."""

    def __init__(self, graph: OracleGraph, max_depth: int, max_args: int):
        self.graph, self.max_depth, self.max_args = graph, max_depth, max_args
        self.tree = post_dominators(graph)
        self.groups = [
            Group(index, node.pattern, node.own, index if node.pattern == HEAVY else None)
            for index, node in enumerate(graph)
        ]
        self.postponed: dict[int, list[int]] = {}
        self.waits_for: int | None = None

    def run(self, level: int) -> list[int]:
        """Returns for each node the node whose value is its group's result."""
        for phase in range(3 if level > 0 else 0):
            for node in range(len(self.graph)):
                self.waits_for = None
                self.retry(node)
                self.consider(node, phase)
        return [group.find().root_ref for group in self.groups]

    def retry(self, node: int) -> None:
        """Repeats the fusions that were postponed until `node` is visited."""
        for source in self.postponed.pop(node, []):
            if self.count_args(node, postpone=False) <= self.args_limit(node):
                sink = self.sink(source)
                assert sink is not None
                if self.groups[sink].anchor is None:
                    self.commit(source, sink)

    def consider(self, node: int, phase: int) -> None:
        """Fuses one node in one phase, if the rules permit it."""
        group, sink = self.groups[node], self.sink(node)
        if group.pattern == OPAQUE or sink is None:
            return
        if self.groups[sink].find().size + self.count_nodes(node, sink) > self.max_depth:
            return
        limit = self.args_limit(node)
        if self.max_args > 0 and limit > 0 and self.fused_args(node) > limit:
            return
        of_sink, root_of_sink = self.groups[sink], self.groups[sink].find()
        if phase == 2:
            if group.pattern > INJECTIVE or root_of_sink.pattern == TUPLE:
                return
            if of_sink.pattern == TUPLE and root_of_sink.pattern <= INJECTIVE:
                self.fuse_if(node, sink, lambda kind, _: kind <= INJECTIVE)
            return
        if group.find() is root_of_sink or of_sink.pattern == TUPLE:
            return
        way = self.tree[node].pattern
        if group.pattern == HEAVY:
            if phase == 0 and way == ELEM_WISE:
                self.fuse_if(node, sink, lambda kind, _: kind <= BROADCAST)
        elif group.pattern <= BROADCAST:
            if way <= INJECTIVE or way == COMM_REDUCE:
                self.fuse_if(
                    node, sink, lambda kind, last: kind <= INJECTIVE or (last and kind in (COMM_REDUCE, HEAVY))
                )
        elif group.pattern in (INJECTIVE, TUPLE):
            if phase == 1:
                self.fuse_if(node, sink, lambda kind, _: kind <= INJECTIVE)
        else:
            assert group.pattern == COMM_REDUCE

    def sink(self, node: int) -> int | None:
        parent = self.tree[node].parent
        return None if parent is None else parent.index

    def between(self, node: int, sink: int) -> set[int]:
        """Returns all nodes on paths from `node` to `sink`, without `sink`."""
        seen: set[int] = set()

        def visit(current: int) -> None:
            if current != sink and current not in seen:
                seen.add(current)
                for consumer, _ in self.graph[current].outputs:
                    visit(consumer)

        visit(node)
        return seen

    def count_nodes(self, node: int, sink: int) -> int:
        # The size of the node's own group, which does not change when that group is merged into another.
        return sum(self.groups[current].size for current in self.between(node, sink))

    def fuse_if(self, node: int, sink: int, condition: Callable[[int, bool], bool]) -> None:
        way = (self.between(node, sink) - {node}) | {sink}
        if all(condition(self.groups[current].find().pattern, current == sink) for current in way):
            self.commit(node, sink)

    def commit(self, node: int, sink: int) -> None:
        if self.waits_for is not None:
            self.postponed.setdefault(self.waits_for, []).append(node)
            return
        for current in self.between(node, sink):
            self.merge(self.groups[current].find(), self.groups[sink].find())

    @staticmethod
    def merge(child: Group, parent: Group) -> None:
        if child is parent:
            return
        parent.size += child.size
        parent.args += child.args
        child.parent = parent
        if child.anchor is not None:
            assert parent.anchor is None, "a group got two anchors"
            assert min(child.pattern, parent.pattern) <= BROADCAST, "two complex groups were merged"
            parent.anchor, parent.pattern = child.anchor, max(child.pattern, parent.pattern)

    # --- arguments

    def args_limit(self, node: int) -> int:
        results = sum(1 + self.graph[consumer].extra_results for consumer, _ in self.graph[node].outputs)
        return max(self.max_args - results, 0)

    def fused_args(self, node: int) -> int:
        return max((self.count_args(consumer, postpone=True) for consumer, _ in self.graph[node].outputs), default=0)

    def count_args(self, node: int, *, postpone: bool) -> int:
        total, seen = self.groups[node].args, {self.groups[node].find()}
        for operand in self.graph[node].arguments:
            group = self.groups[operand].find()
            if group in seen:
                continue
            seen.add(group)
            if group.args > 0:
                total += group.args
            elif postpone:
                self.waits_for = node
            else:
                total += self.count_args(operand, postpone=False)
        return total


def oracle_partition(graph: OracleGraph, *, level: int = 1, max_depth: int = 256, max_args: int = 0) -> list[int]:
    """Returns the group of each node, identified by the node whose value is its result."""
    return Partitioner(graph, max_depth, max_args).run(level)


def classes(roots: Iterable[int], labels: Iterable[object]) -> set[frozenset[object]]:
    """Returns a partition as sets of labels; nodes without a label are ignored."""
    sets: dict[int, set[object]] = {}
    for root, label in zip(roots, labels, strict=True):
        if label is not None:
            sets.setdefault(root, set()).add(label)
    return {frozenset(members) for members in sets.values()}
