"""Algorithms on directed graphs, without recursion: post-order, cycles, strongly connected components, union-find."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)


class DisjointSets(Generic[Node]):
    """Disjoint sets of nodes, initially of one node each, identified by a root (union-find with compressed paths)."""

    def __init__(self) -> None:
        self._parents: dict[Node, Node] = {}

    def root(self, node: Node) -> Node:
        """Returns the root of the node's set."""
        root = node
        while root in self._parents:
            root = self._parents[root]
        while node != root:
            self._parents[node], node = root, self._parents[node]
        return root

    def merge(self, child: Node, parent: Node) -> None:
        """Merges the set of `child` into that of `parent`, whose root stays."""
        child, parent = self.root(child), self.root(parent)
        if child != parent:
            self._parents[child] = parent


def post_order(starts: Iterable[Node], needs: Callable[[Node], Sequence[Node]]) -> list[Node]:
    """Returns `starts` and their transitive needs, each once. Needs precede their users, except on cycles."""
    done: dict[Node, None] = {}
    entered = set[Node]()
    for start in starts:
        pending = [start]
        while pending:
            node = pending[-1]
            if node in entered:
                done.setdefault(pending.pop())
                continue
            entered.add(node)
            pending += (need for need in reversed(needs(node)) if need not in entered)
    return list(done)


def nodes_on_cycles(edges: Mapping[Node, Collection[Node]]) -> set[Node]:
    """Returns the nodes on cycles and those on paths between cycles; every node is a key of `edges`."""
    backward = reversed_edges(edges)
    left = _without_ends(edges, backward, set(edges))
    return _without_ends(backward, edges, left)


def _without_ends(
    onward: Mapping[Node, Collection[Node]], backward: Mapping[Node, Collection[Node]], nodes: set[Node]
) -> set[Node]:
    """Returns those of `nodes` from which a cycle can be reached along `onward`."""
    waiting = {node: sum(other in nodes for other in onward[node]) for node in nodes}
    ends = [node for node, count in waiting.items() if not count]
    left = set(nodes)
    while ends:
        node = ends.pop()
        left.discard(node)
        for other in backward[node]:
            if other in left:
                waiting[other] -= 1
                if not waiting[other]:
                    ends.append(other)
    return left


def reversed_edges(edges: Mapping[Node, Iterable[Node]]) -> dict[Node, list[Node]]:
    """Returns the predecessors of each node; edges to nodes that are no key are left out."""
    backward: dict[Node, list[Node]] = {node: [] for node in edges}
    for node, others in edges.items():
        for other in others:
            if other in backward:
                backward[other].append(node)
    return backward


def cyclic_components(edges: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """Returns the strongly connected components, without single nodes that have no edge to themselves.

    The nodes of a component, and the components by their first nodes, are in the order of `edges`.
    """
    position = {node: number for number, node in enumerate(edges)}
    backward = reversed_edges(edges)
    left = set(edges)
    found: list[list[Node]] = []
    # Kosaraju: the nodes that reach `start`, and are in no earlier component, are also reached from it.
    for start in reversed(post_order(edges, lambda node: [other for other in edges[node] if other in edges])):
        component: list[Node] = []
        pending = [start]
        while pending:
            node = pending.pop()
            if node in left:
                left.discard(node)
                component.append(node)
                pending += backward[node]
        if len(component) > 1 or (component and component[0] in edges[component[0]]):
            found.append(sorted(component, key=position.__getitem__))
    return sorted(found, key=lambda component: position[component[0]])
