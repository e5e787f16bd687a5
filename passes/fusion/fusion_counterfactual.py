"""Changes that would let a node be fused, as data: `explain` writes them as text, tests apply and measure them.

A change removes one obstacle and does not promise fusion: the next obstacle has a change of its own. Applying one
change after the other ends with the node fused, or with a node that no change can fuse: an opaque op, a reduction, a
heavy op whose value goes into a tuple, or the result of a function.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.passes.fusion.forward_graph import Edge, ForwardGraph
from xrelay.passes.fusion.fusion_reason import FusionDecision, FusionRule
from xrelay.passes.fusion.partition import INTO_TUPLE, PATH_RULES, Partition

_RULES = {rule.rule: rule for rule in (*PATH_RULES.values(), INTO_TUPLE)}
STOP_FUSION = "annotation.stop_fusion"
"""The operator with which users separate kernels."""


class ChangeKind(Enum):
    """A kind of change; `node`, `other` and `amount` are the fields of `FusionChange`."""

    RAISE_LEVEL = "the optimisation level is 1 or more"
    RAISE_DEPTH = "max-depth is `amount` or more"
    RAISE_ARGUMENTS = "max-function-args is larger by `amount` or more"
    KEEP_INSIDE = "nothing outside sees the value of `node`"
    ONE_USER = "one of the users of `node` is the only one"
    REMOVE = "the `relay.annotation.stop_fusion` that `node` is does not stand there"
    SAME_SHAPE = "`node` has the shape of its operand `other`"
    SIMPLER = "`node` is an elementwise op"
    CHOOSE_FIRST = "`node` is asked before `other`, to whose kernel its post-dominator goes: `relay.fuse_with` on it"
    FREE = "`node` is not in the kernel of `other`: a `relay.annotation.stop_fusion` between them"
    FUSE_FIRST = "the tuple `node` is fused into an injective op, for which it has a change of its own"


@dataclass(frozen=True)
class FusionChange:
    """One change; its kind defines the meaning of the other fields."""

    kind: ChangeKind
    node: int
    other: int | None = None
    amount: int | None = None


def change_for(partition: Partition, decision: FusionDecision) -> FusionChange | None:
    """The change for the node of `decision`; `None` if it is fused already or no change exists."""
    node, graph = decision.node, partition.graph
    if decision.fused:
        return None
    if graph.names[node] == STOP_FUSION:
        return FusionChange(ChangeKind.REMOVE, node)
    match decision.rule:
        case FusionRule.OPAQUE | FusionRule.REDUCTION:
            return None
        case FusionRule.POST_DOMINATOR:
            return _meeting(graph, node)
        case FusionRule.LEVEL:
            return FusionChange(ChangeKind.RAISE_LEVEL, node)
        case FusionRule.DEPTH:
            return FusionChange(ChangeKind.RAISE_DEPTH, node, amount=decision.found)
        case FusionRule.ARGUMENTS:
            found, limit = decision.found, decision.limit
            return FusionChange(ChangeKind.RAISE_ARGUMENTS, node, amount=(found or 0) - (limit or 0))
        case _:
            return _unblocking(partition, decision)


def heavy_in_own_kernel(partition: Partition, decision: FusionDecision) -> int | None:
    """The heavy op of the node's kernel that keeps the node out of a tuple fused into an injective op, or `None`."""
    sink = decision.post_dominator
    if decision.rule is not FusionRule.TUPLE or decision.blocker != sink or sink is None:
        return None
    return partition.anchors[partition.roots[decision.node]]


def _meeting(graph: ForwardGraph, node: int) -> FusionChange | None:
    """The change by which `node` gets a post-dominator."""
    if not graph.outputs[node]:
        return None
    return FusionChange(ChangeKind.KEEP_INSIDE if graph.extern[node] else ChangeKind.ONE_USER, node)


def _unblocking(partition: Partition, decision: FusionDecision) -> FusionChange | None:
    """The change to the edge or node that blocks fusion."""
    graph, blocker = partition.graph, decision.blocker
    if blocker is None:
        return None
    if isinstance(blocker, Edge):
        return _simpler_edge(graph, blocker, decision.rule)
    if graph.names[blocker] == STOP_FUSION:
        return FusionChange(ChangeKind.REMOVE, blocker)
    anchor = heavy_in_own_kernel(partition, decision)
    if anchor is not None:
        return None if anchor == decision.node else FusionChange(ChangeKind.FREE, decision.node, anchor)
    if decision.rule is FusionRule.TUPLE and blocker == decision.post_dominator:
        return FusionChange(ChangeKind.FUSE_FIRST, blocker)
    return _free_node(partition, decision, blocker)


def _simpler_edge(graph: ForwardGraph, edge: Edge, rule: FusionRule) -> FusionChange:
    producer, consumer, pattern = edge
    if graph.names[consumer] == STOP_FUSION:
        return FusionChange(ChangeKind.REMOVE, consumer)
    if rule is FusionRule.ANCHOR and pattern is OpPatternKind.BROADCAST:
        return FusionChange(ChangeKind.SAME_SHAPE, consumer, producer)
    return FusionChange(ChangeKind.SIMPLER, consumer)


def _free_node(partition: Partition, decision: FusionDecision, blocker: int) -> FusionChange:
    """The change to a node whose own pattern, or whose kernel's pattern, does not fit."""
    rule = _RULES[decision.rule]
    fitting = rule.sink if blocker == decision.post_dominator else rule.inner
    root = partition.roots[blocker]
    anchor = partition.anchors[root]
    holder = root if anchor is None else anchor
    if holder == blocker or partition.graph.patterns[blocker] not in fitting:
        return FusionChange(ChangeKind.SIMPLER, blocker)
    if decision.rule is FusionRule.ANCHOR and blocker == decision.post_dominator:
        return FusionChange(ChangeKind.CHOOSE_FIRST, decision.node, holder)
    return FusionChange(ChangeKind.FREE, blocker, holder)
