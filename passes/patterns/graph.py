"""The graph of the nodes that some roots need: order, users and post-dominators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Generic

from xrelay.passes.infra.digraph import post_order
from xrelay.passes.patterns.terms import NodeT, Terms, needs


class NodeGraph(Generic[NodeT]):
    """All nodes that `roots` need, including bodies of functions and branches; computed on first use."""

    def __init__(self, terms: Terms[NodeT], roots: Sequence[NodeT]):
        self.terms, self.roots = terms, roots

    @cached_property
    def index(self) -> dict[NodeT, int]:
        """Node → its number in post-order, with Relay's order of parts."""
        return {node: number for number, node in enumerate(below(self.terms, self.roots))}

    @cached_property
    def _users(self) -> list[list[NodeT]]:
        """For each node number the users of the node."""
        users: list[list[NodeT]] = [[] for _ in self.index]
        for node in self.index:
            for part in needs(self.terms, node):
                users[self.index[part]].append(node)
        return users

    @cached_property
    def _post_dominators(self) -> PostDominators:
        numbers = [[self.index[user] for user in users] for users in self._users]
        return PostDominators(numbers, [self.index[root] for root in self.roots])

    def users_of(self, node: NodeT) -> list[NodeT]:
        """Returns the users of `node`."""
        return self._users[self.index[node]]

    def dominates(self, node: NodeT, other: NodeT) -> bool:
        """Returns whether `node` strictly post-dominates `other`: all paths from `other` to a root pass it."""
        return self._post_dominators.dominates(self.index[node], self.index[other])


def below(terms: Terms[NodeT], roots: Sequence[NodeT], without: Sequence[NodeT] = ()) -> list[NodeT]:
    """Returns the roots and the nodes they need, in post-order, without visiting the nodes `without`."""
    ends = set(without)
    order = post_order(roots, lambda node: () if node in ends else needs(terms, node))
    return [node for node in order if node not in ends]


class PostDominators:
    """The post-dominator tree of numbered nodes: queries in O(log n), construction in O(n log n).

    Node `p` post-dominates `n` if every path from `n` to the outside passes `p`. The nearest such node is the least
    common ancestor of the users of `n` in the tree built so far, users first. Each node of the tree has a jump pointer
    beside its parent (Myers 1983), as in `passes/fusion/forward_graph.py`, which also tracks patterns along the
    edges. Users have greater numbers than the node; `outside` lists the nodes used outside.
    """

    def __init__(self, users: Sequence[Sequence[int]], outside: Sequence[int]):
        size = len(users)
        self._parents, self._jumps = [size] * (size + 1), [size] * (size + 1)
        self._depths = [0] * (size + 1)
        seen = set(outside)
        for node in reversed(range(size)):
            ends = [size] if node in seen or not users[node] else users[node]
            self._attach(node, reduce(self._common, ends))

    def dominates(self, node: int, other: int) -> bool:
        """Returns whether `node` strictly post-dominates `other`."""
        return node != other and self._ancestor(other, self._depths[node]) == node

    def _attach(self, node: int, parent: int) -> None:
        self._parents[node], self._depths[node] = parent, self._depths[parent] + 1
        jump = self._jumps[parent]
        equally_far = self._depths[parent] - self._depths[jump] == self._depths[jump] - self._depths[self._jumps[jump]]
        self._jumps[node] = self._jumps[jump] if equally_far else parent

    def _ancestor(self, node: int, depth: int) -> int:
        """Returns the ancestor of `node` at `depth`, or `node` itself if it is not deeper."""
        while self._depths[node] > depth:
            jump = self._jumps[node]
            node = jump if self._depths[jump] >= depth else self._parents[node]
        return node

    def _common(self, left: int, right: int) -> int:
        """Returns the least common ancestor."""
        left, right = self._ancestor(left, self._depths[right]), self._ancestor(right, self._depths[left])
        while left != right:
            steps = self._jumps if self._jumps[left] != self._jumps[right] else self._parents
            left, right = steps[left], steps[right]
        return left
