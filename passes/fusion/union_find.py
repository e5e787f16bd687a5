"""Union-find over the nodes of a forward graph: the groups that become kernels."""

from __future__ import annotations

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.errors import PassError
from xrelay.passes.fusion.forward_graph import ForwardGraph


class Groups:
    """Disjoint sets of nodes, initially of one node each, identified by the node that produces the group's result.

    `pattern`, `num_nodes`, `arguments` and `anchor` are indexed by node. They describe the group whose root the node
    is, or was when it merged into another group: the rules of partitioning use both.
    """

    def __init__(self, graph: ForwardGraph):
        size = len(graph)
        self._parent = list(range(size))
        self.pattern = list(graph.patterns)
        self.num_nodes = [1] * size
        self.arguments = list(graph.own_arguments)
        self.anchor: list[int | None] = [
            node if pattern is OpPatternKind.OUT_ELEM_WISE_FUSABLE else None
            for node, pattern in enumerate(graph.patterns)
        ]

    def root(self, node: int) -> int:
        """The root of the node's group."""
        root = node
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[node] != root:
            self._parent[node], node = root, self._parent[node]
        return root

    def merge(self, child: int, parent: int) -> None:
        """Merges the group of `child` into that of `parent`, whose root stays; raises `PassError` for two heavy ops."""
        child, parent = self.root(child), self.root(parent)
        if child == parent:
            return
        self._parent[child] = parent
        self.num_nodes[parent] += self.num_nodes[child]
        self.arguments[parent] += self.arguments[child]
        anchor = self.anchor[child]
        if anchor is not None:
            if self.anchor[parent] is not None:
                raise PassError(f"fusion would put two heavy ops, nodes {anchor} and {self.anchor[parent]}, together")
            self.anchor[parent] = anchor
            self.pattern[parent] = max(self.pattern[child], self.pattern[parent])
