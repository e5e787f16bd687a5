"""The state of a match: the graph, and the nodes that patterns have matched so far."""

from __future__ import annotations

from collections.abc import Generator
from typing import Generic, TypeAlias

from xrelay.passes.patterns.graph import NodeGraph
from xrelay.passes.patterns.nodes import DFPattern
from xrelay.passes.patterns.terms import NodeT, Terms

Answer: TypeAlias = "Generator[tuple[DFPattern, NodeT], bool, bool]"
"""Yields queries, receives their results, and returns its own result."""


class MatchState(Generic[NodeT]):
    """The nodes of `graph` that patterns have matched."""

    def __init__(self, graph: NodeGraph[NodeT]):
        self.graph = graph
        self.terms: Terms[NodeT] = graph.terms
        self.found: dict[DFPattern, list[NodeT]] = {}
        """The nodes that each pattern matched in the last match."""
        self.binds_once = True
        """Whether a pattern that has matched a node matches no other node."""
        self._order: list[DFPattern] = []

    def mark(self) -> int:
        """Returns the current state of matches, for `forget`."""
        return len(self._order)

    def forget(self, mark: int) -> None:
        """Discards the matches since `mark`."""
        for pattern in self._order[mark:]:
            self.found.pop(pattern, None)
        del self._order[mark:]
