"""Finds the nodes of a directed graph that are on cycles."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def nodes_on_cycles(edges: Mapping[Node, Collection[Node]]) -> set[Node]:
    """Returns the nodes on cycles and those on paths between cycles; every node is a key of `edges`."""
    backward: dict[Node, list[Node]] = {node: [] for node in edges}
    for node, others in edges.items():
        for other in others:
            backward[other].append(node)
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
