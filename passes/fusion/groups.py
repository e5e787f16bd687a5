"""The groups of a partition, which become kernels, and the numbers of their arguments, counted as in Relay.

A node alone needs an argument for each parameter and each tuple field that it uses. A group needs the sum over its
nodes; values from other groups are not counted. Before a node is fused, the counts of the groups that feed its consumer
are added. If one of these groups has no arguments *yet*, the sum is provisional: Relay decides such a fusion only when
it visits the consumer, and then replaces groups without arguments by the groups that feed them.

Relay recounts each time. Here the sums are kept and updated when groups merge. Only the value of its root leaves a
group, and all consumers of a root are in the group that it merges into. So a merge removes one summand from each of
these consumers, and increases one summand of each consumer of the merged group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.errors import PassError
from xrelay.passes.fusion.forward_graph import ForwardGraph
from xrelay.passes.infra.digraph import DisjointSets


class Groups(DisjointSets[int]):
    """The groups of nodes, initially of one node each; the root of a group is the node that produces its result.

    `pattern`, `num_nodes`, `arguments` and `anchor` are indexed by node. They describe the group whose root the node
    is, or was when it merged into another group: the rules of partitioning use both.
    """

    def __init__(self, graph: ForwardGraph):
        super().__init__()
        self.pattern = list(graph.patterns)
        self.num_nodes = [1] * len(graph)
        self.arguments = list(graph.own_arguments)
        self.anchor: list[int | None] = [
            node if pattern is OpPatternKind.OUT_ELEM_WISE_FUSABLE else None
            for node, pattern in enumerate(graph.patterns)
        ]

    def merge(self, child: int, parent: int) -> None:
        """Merges the group of `child` into that of `parent`, whose root stays; raises `PassError` for two heavy ops."""
        child, parent = self.root(child), self.root(parent)
        if child == parent:
            return
        super().merge(child, parent)
        self.num_nodes[parent] += self.num_nodes[child]
        self.arguments[parent] += self.arguments[child]
        anchor = self.anchor[child]
        if anchor is not None:
            if self.anchor[parent] is not None:
                raise PassError(f"fusion joins two heavy ops, the nodes {anchor} and {self.anchor[parent]}")
            self.anchor[parent] = anchor
            self.pattern[parent] = max(self.pattern[child], self.pattern[parent])


class ArgumentCounter:
    """Counts over the current groups; `commit` must be called after every merge."""

    def __init__(self, graph: ForwardGraph, groups: Groups, maximum: int):
        self.graph, self.groups, self.maximum = graph, groups, maximum
        self._limits: dict[int, int] = {}
        self._consumers: list[list[int]] = [[] for _ in range(len(graph))]
        """The nodes that count the node among their operands, each once."""
        self._feeding = [0] * len(graph)
        """Arguments of the groups feeding each node."""
        self._empty = [0] * len(graph)
        """The number of these groups that count no arguments."""
        self._open: list[list[int]] = [[] for _ in range(len(graph))]
        """The roots of these groups, except those that settle to zero; some may have been merged since."""
        self._final_counts: dict[int, int] = {}
        """The final count of each evaluated node."""
        self._readers: defaultdict[int, list[int]] = defaultdict(list)
        """Maps a node to the nodes whose evaluation read its result."""
        self._left_out: defaultdict[int, list[int]] = defaultdict(list)
        """Maps a node that settles to zero to the nodes that removed it from their `_open` for this reason."""
        for node, operands in enumerate(graph.counted_operands):
            for operand in dict.fromkeys(operands):
                self._consumers[operand].append(node)
                self._feeding[node] += groups.arguments[operand]
                if groups.arguments[operand] == 0:
                    self._empty[node] += 1
                    self._open[node].append(operand)

    def limit(self, node: int) -> int:
        """Returns the largest number of inputs of the kernel of `node`: the limit on arguments minus its outputs.

        Each consumer counts as one output, plus one for each unknown extent. The result is at least 0: a kernel without
        inputs always fits.
        """
        limit = self._limits.get(node)
        if limit is None:
            outputs = sum(1 + self.graph.dynamic_extents[edge.consumer] for edge in self.graph.outputs[node])
            limit = self._limits[node] = max(self.maximum - outputs, 0)
        return limit

    def fused(self, node: int) -> tuple[int, int | None]:
        """The greatest count of the consumers' kernels, and a consumer whose count is provisional, if any."""
        found, waits_for = 0, None
        for edge in self.graph.outputs[node]:
            consumer = edge.consumer
            found = max(found, self.groups.arguments[consumer] + self._feeding[consumer])
            waits_for = consumer if self._empty[consumer] else waits_for
        return found, waits_for

    def final_count(self, node: int) -> int:
        """Arguments of `node` and the groups that feed it, an empty group being replaced by the groups that feed it.

        A group reached through two nodes counts twice, as in Relay. Counting stops once the maximum is exceeded,
        because the number would double with every diamond. Iterative.
        """
        pending = [node]
        while pending:
            missing = self._evaluate(pending[-1])
            if missing is None:
                pending.pop()
            else:
                pending.append(missing)
        return self._final_counts[node]

    def _evaluate(self, node: int) -> int | None:
        """Stores the final count of `node`, or returns the node that must be evaluated first."""
        if node in self._final_counts:
            return None
        count, open_, read = self.groups.arguments[node] + self._feeding[node], self._open[node], list[int]()
        missing: int | None = None
        while open_ and count <= self.maximum:
            root = open_[-1]
            found = self._final_counts.get(root)
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
            self._final_counts[node] = count
        return missing

    def commit(self, before: Mapping[int, int], target: int) -> None:
        """Updates the sums after groups were merged into that of root `target`.

        `before` maps the merged roots and `target` to their arguments before the merge.
        """
        for root, arguments in before.items():
            if root != target:
                self._change(root, -arguments, filled=arguments == 0)
        gained = self.groups.arguments[target] - before[target]
        if gained:
            self._change(target, gained, filled=before[target] == 0)
            self._invalidate(target)

    def _change(self, root: int, difference: int, *, filled: bool) -> None:
        """Adds `difference` to the count of the group of `root` in its consumers; `filled`: it was empty before."""
        for consumer in self._consumers[root]:
            self._feeding[consumer] += difference
            if filled:
                self._empty[consumer] -= 1
            self._invalidate(consumer)

    def _invalidate(self, node: int) -> None:
        """Drops the final count of `node` and all counts derived from it."""
        pending = [node]
        while pending:
            current = pending.pop()
            if self._final_counts.pop(current, None) is None:
                continue
            left_out = self._left_out.pop(current, [])
            if self._is_empty(current):
                for reader in left_out:
                    self._open[reader].append(current)
            pending.extend(left_out)
            pending.extend(self._readers.pop(current, ()))

    def _is_empty(self, node: int) -> bool:
        """Whether `node` is the root of a group that counts no arguments."""
        return self.groups.arguments[node] == 0 and self.groups.root(node) == node
