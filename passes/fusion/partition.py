"""Partitions a forward graph into kernels: Relay's algorithm by post-dominators, in three phases.

Nodes are visited in post-DFS order. For each node the algorithm decides whether the node and all nodes on the paths to
its post-dominator may join the post-dominator's group. The pattern of the node's own group selects the rule
(`PATH_RULES`):

- a heavy op (phase 0) joins elementwise and broadcasting ops of its own shape;
- an elementwise or broadcasting op (phases 0 and 1) joins ops up to injective, a reduction, or the group of a heavy op;
- an injective op or a tuple (phase 1, after all heavy ops) joins elementwise, broadcasting and injective ops;
- in phase 2 an injective op joins a tuple that phase 1 fused into its injective consumer.

A group has at most `max_depth` nodes, counted as in Relay (constants count, and so do both sides of a diamond), and at
most `max_function_args` arguments. For a given `max_depth` the cost is linear in the size of the graph: a walk over the
paths from a node stops after `max_depth` nodes, and is omitted if one path alone has more. Groups only grow, so a node
that was refused for depth is not walked from again.

The order of visits decides between several candidates: a sum of two convolutions joins the group of its first operand.
Hints (`ForwardGraph.hints`) change only this order: each phase visits nodes with a hint first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.errors import PassError
from xrelay.passes.fusion.forward_graph import Edge, ForwardGraph, PostDominatorTree, post_dominator_tree
from xrelay.passes.fusion.groups import ArgumentCounter, Groups


class FusionRule(Enum):
    """The rule that decided about a node; the value states the condition of the rule."""

    LEVEL = "optimisation level 0 disables fusion"
    OPAQUE = "an opaque op is never fused"
    POST_DOMINATOR = "a value that is used outside (returned, yielded, let-bound, a condition) is its kernel's result"
    DEPTH = "a group has at most max-depth nodes"
    ARGUMENTS = "a kernel has at most max-function-args arguments"
    ANCHOR = "a heavy op fuses with the elementwise and broadcasting ops of its own shape that follow"
    BROADCAST = "an elementwise or broadcasting op joins ops up to injective, a reduction, or the group of a heavy op"
    INJECTIVE = "an injective op or a tuple joins elementwise, broadcasting and injective ops"
    REDUCTION = "a reduction does not fuse with its consumers"
    TUPLE = "a field joins a tuple that has joined an injective op, unless the field's kernel has a heavy op"


class FusionDecision(NamedTuple):
    """The decision about `node`.

    `blocker` is the node whose group does not fit, or the edge whose pattern does not; `found` and `limit` are the
    numbers that the rules about depth and arguments compare.
    """

    node: int
    post_dominator: int | None
    rule: FusionRule
    fused: bool
    blocker: int | Edge | None = None
    found: int | None = None
    limit: int | None = None

    def explain(self, graph: ForwardGraph) -> str:
        """One line: the node, its post-dominator, the decision, the reason, and the condition that must change."""
        node = graph.describe(self.node)
        if self.post_dominator is None:
            return f"{node}: not fused; {self.rule.value}"
        target = graph.describe(self.post_dominator)
        if self.fused:
            return f"{node}: fused into the group of {target}; {self.rule.value}"
        change = self.describe_change(graph)
        return f"{node}: not fused into {target}; {self.rule.value}" + (f"; {change}" if change else "")

    def describe_change(self, graph: ForwardGraph) -> str | None:
        """The condition that blocks fusion, as text; `None` if no change could help."""
        if self.found is not None and self.limit is not None:
            return f"the count would be {self.found}, the limit is {self.limit}"
        if isinstance(self.blocker, Edge):
            producer, consumer, pattern = self.blocker
            names = f"{graph.describe(producer)} into {graph.describe(consumer)}"
            return f"the pattern of the edge from {names} must be simpler than {pattern.relay_name}"
        if self.blocker is not None and self.rule is not FusionRule.TUPLE:
            pattern = graph.patterns[self.blocker]
            name = f"{graph.describe(self.blocker)} ({pattern.relay_name})"
            if pattern <= OpPatternKind.INJECTIVE:
                return f"{name} must not be in the group of another heavy op or reduction"
            return f"{name} must have a simpler pattern"
        return None


ELEM_WISE, BROADCAST, INJECTIVE, COMM_REDUCE, HEAVY, TUPLE, OPAQUE = OpPatternKind
NUM_PHASES = 3


@dataclass(frozen=True)
class FusionOptions:
    """Limits of a group; `opt_level` 0 disables fusion, `max_function_args` 0 means no limit."""

    opt_level: int = 2
    max_depth: int = 256
    max_function_args: int = 0

    def __post_init__(self) -> None:
        for name, value, least in (
            ("max-depth", self.max_depth, 1),
            ("max-function-args", self.max_function_args, 0),
        ):
            if value < least:
                raise PassError(f"relay-fuse-ops: {name} is {value}, it must be at least {least}")


@dataclass(frozen=True)
class PathRule:
    """The condition under which a node fuses: the patterns allowed between it and its post-dominator."""

    rule: FusionRule
    phases: tuple[int, ...]
    dominator: frozenset[OpPatternKind]
    """Allowed patterns on the edges between the node and its post-dominator."""
    inner: frozenset[OpPatternKind]
    """Allowed patterns of the groups on the paths."""
    sink: frozenset[OpPatternKind]
    """Allowed patterns of the post-dominator's group."""


UP_TO_BROADCAST = frozenset({ELEM_WISE, BROADCAST})
UP_TO_INJECTIVE = frozenset({ELEM_WISE, BROADCAST, INJECTIVE})
ANY_PATTERN = frozenset(OpPatternKind)

_BROADCAST_RULE = PathRule(
    FusionRule.BROADCAST,
    (0, 1),
    UP_TO_INJECTIVE | {COMM_REDUCE},
    UP_TO_INJECTIVE,
    UP_TO_INJECTIVE | {COMM_REDUCE, HEAVY},
)
_INJECTIVE_RULE = PathRule(FusionRule.INJECTIVE, (1,), ANY_PATTERN, UP_TO_INJECTIVE, UP_TO_INJECTIVE)
PATH_RULES: dict[OpPatternKind, PathRule] = {
    ELEM_WISE: _BROADCAST_RULE,
    BROADCAST: _BROADCAST_RULE,
    INJECTIVE: _INJECTIVE_RULE,
    TUPLE: _INJECTIVE_RULE,
    HEAVY: PathRule(FusionRule.ANCHOR, (0,), frozenset({ELEM_WISE}), UP_TO_BROADCAST, UP_TO_BROADCAST),
}
"""Maps the pattern of a node's group to its fusion rule in phases 0 and 1."""

INTO_TUPLE = PathRule(FusionRule.TUPLE, (2,), ANY_PATTERN, UP_TO_INJECTIVE, UP_TO_INJECTIVE)
"""The rule of phase 2."""


@dataclass(frozen=True)
class Partition:
    """The groups of a graph, with the reason for each decision; lists are indexed by node."""

    graph: ForwardGraph
    tree: PostDominatorTree
    roots: list[int]
    """The root of each node's group, which produces the group's result."""
    anchors: list[int | None]
    """For a root, the heavy op in its group."""
    patterns: list[OpPatternKind]
    """For a root, the pattern of its group."""
    decisions: list[FusionDecision]

    def members(self) -> dict[int, list[int]]:
        """Returns the nodes of each group by root, in post-DFS order; groups are in the order of their first nodes."""
        members: defaultdict[int, list[int]] = defaultdict(list)
        for node, root in enumerate(self.roots):
            members[root].append(node)
        return dict(members)

    def group_numbers(self) -> list[int]:
        """Returns the number of each node's group; groups are numbered from 0 in the order of their first nodes."""
        numbers: dict[int, int] = {}
        return [numbers.setdefault(root, len(numbers)) for root in self.roots]


def partition(graph: ForwardGraph, options: FusionOptions | None = None) -> Partition:
    """Partitions `graph` into groups, one for each kernel."""
    return _Partitioner(graph, options if options is not None else FusionOptions()).run()


class _Partitioner:
    def __init__(self, graph: ForwardGraph, options: FusionOptions):
        self.graph, self.options = graph, options
        self.tree = post_dominator_tree(graph)
        self.groups = Groups(graph)
        self.outputs = [_consumers(edges) for edges in graph.outputs]
        """The consumers of each node, without duplicates."""
        self.distances = self._distances()
        """The number of edges on the longest path from each node to a node without consumers."""
        self.decisions = [self._first_decision(node) for node in range(len(graph))]
        self.too_deep: set[int] = set()
        maximum = options.max_function_args
        self.arguments = ArgumentCounter(graph, self.groups, maximum) if maximum > 0 else None
        self.postponed: defaultdict[int, list[tuple[int, PathRule]]] = defaultdict(list)
        """Maps a consumer to the nodes that may fuse by the rule if the arguments fit when the consumer is visited."""

    def run(self) -> Partition:
        if self.options.opt_level > 0:
            for phase in range(NUM_PHASES):
                for node in self._hinted():
                    self._visit(node, phase)
                for node in range(len(self.graph)):
                    self._decide_postponed(node)
                    self._visit(node, phase)
        groups = self.groups
        roots = [groups.root(node) for node in range(len(self.graph))]
        return Partition(self.graph, self.tree, roots, groups.anchor, groups.pattern, self.decisions)

    def _hinted(self) -> list[int]:
        """Returns the nodes whose hint names their post-dominator, which each phase visits first."""
        return sorted(node for node, wanted in self.graph.hints.items() if self.tree.parents[node] in wanted)

    def _distances(self) -> list[int]:
        distances = [0] * len(self.outputs)
        for node in reversed(range(len(distances))):
            consumers = self.outputs[node]
            if consumers:
                distances[node] = 1 + max([distances[consumer] for consumer in consumers])
        return distances

    def _first_decision(self, node: int) -> FusionDecision:
        parent = self.tree.parents[node]
        pattern = self.graph.patterns[node]
        if parent is None:
            rule = FusionRule.OPAQUE if pattern is OPAQUE else FusionRule.POST_DOMINATOR
        elif self.options.opt_level <= 0:
            rule = FusionRule.LEVEL
        else:
            rule = {OPAQUE: FusionRule.OPAQUE, COMM_REDUCE: FusionRule.REDUCTION}.get(pattern, FusionRule.INJECTIVE)
        return FusionDecision(node, parent, rule, fused=False)

    # --- one node ---------------------------------------------------------------------------------------------------

    def _visit(self, node: int, phase: int) -> None:
        """Fuses `node` into its post-dominator's group if a rule of `phase` allows it; otherwise records the reason."""
        sink = self.tree.parents[node]
        if sink is None or self.groups.root(node) == self.groups.root(sink):
            return
        rule = self._rule(node, sink, phase)
        if rule is None:
            return
        refusal, waits_for = self._refuse_pattern(node, sink, rule), None
        if refusal is None:
            refusal, waits_for = self._refuse_arguments(node, sink)
        path: Sequence[int] = ()
        if refusal is None:
            path, refusal = self._walk(node, sink, rule)
        if refusal is not None:
            self.decisions[node] = refusal
        elif waits_for is not None:
            self.postponed[waits_for].append((node, rule))
        else:
            self._commit(path, sink, rule)

    def _commit(self, path: Sequence[int], sink: int, rule: PathRule) -> None:
        """Merges the groups of `path` into that of `sink`."""
        groups, target = self.groups, self.groups.root(sink)
        counted = self.arguments
        before = {} if counted is None else {root: groups.arguments[root] for root in map(groups.root, (sink, *path))}
        for member in path:
            groups.merge(member, target)
            if not self.decisions[member].fused:
                self.decisions[member] = FusionDecision(member, self.tree.parents[member], rule.rule, fused=True)
        if counted is not None:
            counted.commit(before, target)

    def _rule(self, node: int, sink: int, phase: int) -> PathRule | None:
        """Returns the rule for `node` in `phase`, or `None`."""
        pattern = self.groups.pattern[node]
        into_tuple = self.groups.pattern[sink] is TUPLE
        if phase == 2:
            return INTO_TUPLE if into_tuple and pattern in UP_TO_INJECTIVE else None
        rule = PATH_RULES.get(pattern)
        if rule is None or phase not in rule.phases:
            return None
        if into_tuple:
            self.decisions[node] = self._refusal(node, FusionRule.TUPLE, blocker=sink)
            return None
        return rule

    def _refusal(
        self,
        node: int,
        rule: FusionRule,
        *,
        blocker: int | Edge | None = None,
        found: int | None = None,
        limit: int | None = None,
    ) -> FusionDecision:
        return FusionDecision(node, self.tree.parents[node], rule, False, blocker, found, limit)

    def _refuse_pattern(self, node: int, sink: int, rule: PathRule) -> FusionDecision | None:
        """Returns a refusal by the patterns of the edges or of the sink's group, which needs no walk over paths."""
        if self.tree.patterns[node] not in rule.dominator:
            return self._refusal(node, rule.rule, blocker=self.tree.worst_edges[node])
        if self.groups.pattern[self.groups.root(sink)] not in rule.sink:
            return self._refusal(node, rule.rule, blocker=sink)
        return None

    # --- paths ------------------------------------------------------------------------------------------------------

    def _walk(self, node: int, sink: int, rule: PathRule) -> tuple[Sequence[int], FusionDecision | None]:
        """Returns `node` and the nodes between it and `sink`, or a refusal by their number or their patterns."""
        limit, num_nodes = self.options.max_depth, self.groups.num_nodes
        count = num_nodes[self.groups.root(sink)] + num_nodes[node]
        longest = count + self.distances[node] - self.distances[sink] - 1
        if node in self.too_deep or longest > limit:
            count = limit + 1
        path, visited, blocker = [node], {node, sink}, None
        pending = [iter(self.outputs[node])]
        while pending and count <= limit:
            current = next(pending[-1], None)
            if current is None:
                pending.pop()
            elif current not in visited:
                visited.add(current)
                path.append(current)
                count += num_nodes[current]
                if blocker is None and self.groups.pattern[self.groups.root(current)] not in rule.inner:
                    blocker = current
                pending.append(iter(self.outputs[current]))
        if count > limit:
            self.too_deep.add(node)
            return (), self._refusal(node, FusionRule.DEPTH, found=count, limit=limit)
        if blocker is not None:
            return (), self._refusal(node, rule.rule, blocker=blocker)
        return path, None

    # --- arguments --------------------------------------------------------------------------------------------------

    def _refuse_arguments(self, node: int, sink: int) -> tuple[FusionDecision | None, int | None]:
        """Returns a refusal for too many arguments, and the consumer that must be visited before a final count."""
        limit = 0 if self.arguments is None else self.arguments.limit(node)
        if self.arguments is None or limit == 0:
            return None, None
        found, waits_for = self.arguments.fused(node)
        if found > limit:
            return self._refusal(node, FusionRule.ARGUMENTS, found=found, limit=limit), None
        return None, waits_for

    def _decide_postponed(self, consumer: int) -> None:
        """Decides about the nodes that waited for `consumer`: each joins if its arguments do not exceed the limit.

        Their paths were accepted when they were postponed. Since then the sink's group or a path may have gained a
        heavy op; in that case the node does not join.
        """
        for node, rule in self.postponed.pop(consumer, ()):
            sink = self.tree.parents[node]
            if sink is None or self.arguments is None or self.groups.root(node) == self.groups.root(sink):
                continue  # Another node's path has fused it since, or a hint caused a second visit.
            found, limit = self.arguments.final_count(consumer), self.arguments.limit(consumer)
            if found > limit:
                self.decisions[node] = self._refusal(node, FusionRule.ARGUMENTS, found=found, limit=limit)
                continue
            path = [node, *self._between(node, sink)]
            blocker = self._second_anchor(path, sink)
            if blocker is None:
                self._commit(path, sink, rule)
            else:
                self.decisions[node] = self._refusal(node, rule.rule, blocker=blocker)

    def _second_anchor(self, path: Sequence[int], sink: int) -> int | None:
        """Returns a node that prevents the merge: a sink with a heavy op, or a node that adds a second heavy op."""
        if self.groups.anchor[sink] is not None:
            return sink
        target = self.groups.root(sink)
        full = self.groups.anchor[target] is not None or self.groups.pattern[target] not in UP_TO_BROADCAST
        bringing: set[int] = set()
        for member in path:
            root = self.groups.root(member)
            if root != target and self.groups.anchor[root] is not None:
                bringing.add(root)
                if full or len(bringing) > 1:
                    return member
        return None

    def _between(self, node: int, sink: int) -> list[int]:
        """Returns the nodes on all paths from `node` to `sink`, without these two."""
        visited, found, pending = {node, sink}, list[int](), [node]
        while pending:
            for consumer in self.outputs[pending.pop()]:
                if consumer not in visited:
                    visited.add(consumer)
                    found.append(consumer)
                    pending.append(consumer)
        return found


def _consumers(edges: Sequence[Edge]) -> list[int]:
    """Returns the consumers of `edges`, without duplicates."""
    if len(edges) < 2:
        return [edge.consumer for edge in edges]
    return list(dict.fromkeys([edge.consumer for edge in edges]))
