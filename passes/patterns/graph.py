"""The graph of the nodes that some roots need: order, users and post-dominators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Generic

from xrelay.passes.infra.digraph import post_order
from xrelay.passes.patterns.post_dominators import PostDominators
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
    def users(self) -> list[list[NodeT]]:
        """For each node number the users of the node."""
        users: list[list[NodeT]] = [[] for _ in self.index]
        for node in self.index:
            for part in needs(self.terms, node):
                users[self.index[part]].append(node)
        return users

    @cached_property
    def _post_dominators(self) -> PostDominators:
        numbers = [[self.index[user] for user in users] for users in self.users]
        return PostDominators(numbers, [self.index[root] for root in self.roots])

    def users_of(self, node: NodeT) -> list[NodeT]:
        """Returns the users of `node`."""
        return self.users[self.index[node]]

    def dominates(self, node: NodeT, other: NodeT) -> bool:
        """Returns whether `node` strictly post-dominates `other`: all paths from `other` to a root pass it."""
        return self._post_dominators.dominates(self.index[node], self.index[other])


def below(terms: Terms[NodeT], roots: Sequence[NodeT], without: Sequence[NodeT] = ()) -> list[NodeT]:
    """Returns the roots and the nodes they need, in post-order, without visiting the nodes `without`."""
    ends = set(without)
    order = post_order(roots, lambda node: () if node in ends else needs(terms, node))
    return [node for node in order if node not in ends]
