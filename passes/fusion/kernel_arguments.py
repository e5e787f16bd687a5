"""Counts the arguments that a kernel would have, as Relay counts them.

A node alone needs an argument for each parameter and each field of a tuple that it takes. A group needs what its nodes
need, and values that come from other groups are not counted. Before a node is fused, its consumer counts what the
groups feeding it need; a group that counts none *yet* makes that number provisional, and Relay decides such a fusion
only when it comes to the consumer, then looking through groups without arguments to what feeds those.

Relay counts anew each time. Here the sums are kept and brought up to date when groups are merged. That is simple since
only the value of its root leaves a group, and since all consumers of a root are in the group it is merged into: such a
merge takes one summand from each of these consumers, and the group that grew is worth more to its own consumers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xrelay.passes.fusion.forward_graph import ForwardGraph
from xrelay.passes.fusion.union_find import Groups


class Count(NamedTuple):
    """Arguments of the would-be kernel, and the last consumer whose count is provisional, if any is."""

    arguments: int
    waits_for: int | None


class ArgumentCounter:
    """Counts over the groups as they are now; `commit` has to be told of every merge."""

    def __init__(self, graph: ForwardGraph, groups: Groups, maximum: int):
        self.graph, self.groups, self.maximum = graph, groups, maximum
        self._limits: dict[int, int] = {}
        self._consumers: list[list[int]] = [[] for _ in range(len(graph))]
        """The nodes that count the node among their operands, each once."""
        self._feeding = [0] * len(graph)
        """Arguments of the groups feeding each node."""
        self._empty = [0] * len(graph)
        """How many of these groups count none."""
        self._open: list[list[int]] = [[] for _ in range(len(graph))]
        """The roots of these, without those that settle to none; some may have been merged since."""
        self._settled: dict[int, int] = {}
        """Results of `_evaluate`."""
        self._readers: defaultdict[int, list[int]] = defaultdict(list)
        """Result → the nodes whose evaluation read it."""
        self._left_out: defaultdict[int, list[int]] = defaultdict(list)
        """Node that settles to none → the nodes that left it out of their `_open` for that."""
        for node, operands in enumerate(graph.counted_operands):
            for operand in dict.fromkeys(operands):
                self._consumers[operand].append(node)
                self._feeding[node] += groups.arguments[operand]
                if groups.arguments[operand] == 0:
                    self._empty[node] += 1
                    self._open[node].append(operand)

    def limit(self, node: int) -> int:
        """How many inputs the kernel of `node` may have: each consumer takes one output, unknown extents one more.

        Never less than 0, where a kernel without inputs still fits.
        """
        limit = self._limits.get(node)
        if limit is None:
            outputs = sum(1 + self.graph.dynamic_extents[edge.consumer] for edge in self.graph.outputs[node])
            limit = self._limits[node] = max(self.maximum - outputs, 0)
        return limit

    def fused(self, node: int) -> Count:
        """What the kernel would need if `node` were fused into its consumers: the greatest count among them."""
        found, waits_for = 0, None
        for edge in self.graph.outputs[node]:
            consumer = edge.consumer
            found = max(found, self.groups.arguments[consumer] + self._feeding[consumer])
            waits_for = consumer if self._empty[consumer] else waits_for
        return Count(found, waits_for)

    def settled(self, node: int) -> int:
        """Arguments of `node` and the groups feeding it; for one that counts none, those of what feeds it, and so on.

        What is reached twice through different nodes counts twice, as in Relay. Counting stops where the maximum is
        exceeded, as the number would double with every diamond. Iterative.
        """
        pending = [node]
        while pending:
            missing = self._evaluate(pending[-1])
            if missing is None:
                pending.pop()
            else:
                pending.append(missing)
        return self._settled[node]

    def _evaluate(self, node: int) -> int | None:
        """Enter what `node` settles to; or the node that has to be evaluated before."""
        if node in self._settled:
            return None
        count, open_, read = self.groups.arguments[node] + self._feeding[node], self._open[node], list[int]()
        missing: int | None = None
        while open_ and count <= self.maximum:
            root = open_[-1]
            found = self._settled.get(root)
            if found is None and self._is_empty(root):
                missing = root
                break
            open_.pop()
            if found is None or not self._is_empty(root):
                continue
            if found > 0:
                count += found
                read.append(root)
                self._readers[root].append(node)
            else:
                self._left_out[root].append(node)
        open_.extend(read)
        if missing is None:
            self._settled[node] = count
        return missing

    def commit(self, before: Mapping[int, int], target: int) -> None:
        """Bring the sums up to date after groups were merged into that of root `target`.

        `before` tells the arguments that each of the roots, and `target`, had before.
        """
        for root, arguments in before.items():
            if root != target:
                self._change(root, self._consumers[root], -arguments, filled=arguments == 0)
        gained = self.groups.arguments[target] - before[target]
        if gained:
            self._change(target, self._consumers[target], gained, filled=before[target] == 0)
            self._forget(target)

    def _change(self, root: int, consumers: Iterable[int], difference: int, *, filled: bool) -> None:
        """Let the group of `root` be worth so much more to `consumers`; with `filled` it was empty and is no more."""
        for consumer in consumers:
            self._feeding[consumer] += difference
            if filled:
                self._empty[consumer] -= 1
            self._forget(consumer)

    def _forget(self, node: int) -> None:
        """Drop what `node` settled to, and all that was made from it."""
        pending = [node]
        while pending:
            current = pending.pop()
            if self._settled.pop(current, None) is None:
                continue
            left_out = self._left_out.pop(current, [])
            if self._is_empty(current):
                for reader in left_out:
                    self._open[reader].append(current)
            pending.extend(left_out)
            pending.extend(self._readers.pop(current, ()))

    def _is_empty(self, node: int) -> bool:
        """Whether `node` is the root of a group that counts no argument."""
        return self.groups.arguments[node] == 0 and self.groups.root(node) == node
