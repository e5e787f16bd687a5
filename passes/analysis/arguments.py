"""How many arguments a kernel would have, counted as Relay counts them.

A node alone needs an argument for each parameter and each field of a tuple that it takes. A group needs what its nodes
need, and values that come from other groups are not counted. Before a node is fused, its consumer counts what the
groups feeding it need; a group that counts none *yet* makes that number provisional, and Relay decides such a fusion
only when it comes to the consumer, then looking through groups without arguments to what feeds those.
"""

from __future__ import annotations

from typing import NamedTuple

from xrelay.passes.analysis.forward_graph import ForwardGraph
from xrelay.passes.analysis.groups import Groups


class Count(NamedTuple):
    """Arguments of the would-be kernel, and the last consumer whose count is provisional, if any is."""

    arguments: int
    waits_for: int | None


class ArgumentCounter:
    """Counts over the groups as they are now."""

    def __init__(self, graph: ForwardGraph, groups: Groups, maximum: int):
        self.graph, self.groups, self.maximum = graph, groups, maximum
        self._without: set[int] = set()
        """Nodes found to need no argument, nor anything that feeds them; see `note_merge`."""

    def limit(self, node: int) -> int:
        """How many inputs the kernel of `node` may have: each consumer takes one output, unknown extents one more.

        Never less than 0, where a kernel without inputs still fits.
        """
        outputs = sum(1 + self.graph.dynamic_extents[edge.consumer] for edge in self.graph.outputs[node])
        return max(self.maximum - outputs, 0)

    def fused(self, node: int) -> Count:
        """What the kernel would need if `node` were fused into its consumers: the greatest count among them."""
        found, waits_for = 0, None
        for edge in self.graph.outputs[node]:
            arguments, provisional = self._at(edge.consumer)
            found = max(found, arguments)
            waits_for = edge.consumer if provisional else waits_for
        return Count(found, waits_for)

    def _at(self, node: int) -> tuple[int, bool]:
        """Arguments of `node` and of the groups feeding it; whether one of those counts none yet."""
        counts = [self.groups.arguments[root] for root in self._feeding(node)]
        return self.groups.arguments[node] + sum(counts), 0 in counts

    def _feeding(self, node: int) -> dict[int, int]:
        """The groups feeding `node`, by root, each with the first operand that comes from it."""
        feeding: dict[int, int] = {}
        own = self.groups.root(node)
        for operand in self.graph.counted_operands[node]:
            root = self.groups.root(operand)
            if root != own:
                feeding.setdefault(root, operand)
        return feeding

    def settled(self, node: int) -> int:
        """Arguments of `node` and the groups feeding it; for one that counts none, those of what feeds it, and so on.

        What is reached twice through different nodes counts twice, as in Relay. Iterative; each node is evaluated once.
        """
        counts: dict[int, int] = {}
        pending = [node]
        while pending:
            current = pending[-1]
            feeding = self._feeding(current)
            open_ = [operand for root, operand in feeding.items() if self.groups.arguments[root] == 0]
            missing = [operand for operand in open_ if operand not in counts and operand not in self._without]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            counts[current] = (
                self.groups.arguments[current]
                + sum(self.groups.arguments[root] for root in feeding)
                + sum(counts.get(operand, 0) for operand in open_)
            )
        self._without.update(found for found, count in counts.items() if count == 0)
        return counts[node]

    def note_merge(self, child: int, parent: int) -> None:
        """Called before two groups are merged: where one of them counts none, what was found may be so no more."""
        counts = {self.groups.arguments[self.groups.root(member)] == 0 for member in (child, parent)}
        if len(counts) == 2:
            self._without.clear()
