"""Which nodes of a directed graph lie on cycles."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def nodes_on_cycles(edges: Mapping[Node, Collection[Node]]) -> set[Node]:
    """The nodes that lie on cycles, and those that lie between two such; every node is a key."""
    backward: dict[Node, list[Node]] = {node: [] for node in edges}
    for node, others in edges.items():
        for other in others:
            backward[other].append(node)
    left = _without_ends(edges, backward, set(edges))
    return _without_ends(backward, edges, left)


def _without_ends(
    onward: Mapping[Node, Collection[Node]], backward: Mapping[Node, Collection[Node]], nodes: set[Node]
) -> set[Node]:
    """`nodes` without those from which no way along `onward` leads to a cycle."""
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
