"""Explains fusion: lists the kernels of a module, and for each op the reason for its kernel.

`explain_fusion` fuses the given module and returns the decisions of the partition as data, with the names of the
kernels. `change_for` returns the change that would let a node be fused. A change removes one obstacle; there may be
another, with its own change. After all changes the node is fused, unless no change can fuse it: an opaque op, a
reduction, a heavy op whose value is a field of a tuple, or the result of a function. `explain_text.py` writes the data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects.builtin import ArrayAttr, FusedLoc, ModuleOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.structure.composite import CompositeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.locations import format_location
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.fusion.forward_graph import Edge, ForwardGraph
from xrelay.passes.fusion.fuse_ops import FunctionFusion, fuse_module
from xrelay.passes.fusion.op_patterns import hint_of, is_fusable_scalar, names_of
from xrelay.passes.fusion.partition import INTO_TUPLE, PATH_RULES, FusionDecision, FusionOptions, FusionRule, Partition


@dataclass(frozen=True)
class Composite:
    """The definition of a composite op: the ops that it expands to, and at which stage it expands."""

    parts: tuple[str, ...]
    """Relay's names of these ops in order, without constants."""
    expansion: str


@dataclass(frozen=True)
class ExplainedOp:
    """An op of a function: node `node` of its forward graph."""

    node: int
    operator: str
    """Relay's name, e.g. `nn.relu`."""
    value: str | None
    """The name of the result in the IR text."""
    locations: tuple[str, ...]
    """The source locations of the op."""
    hint: str | None
    """The consumer that the attribute `relay.fuse_with` names."""
    names: frozenset[str]
    """All names by which a user can select the op."""
    composite: Composite | None = None
    """The definition of the op, if it is a composite."""

    @property
    def label(self) -> str:
        """`%y nn.relu`, or `#5 nn.relu` if the result has no name."""
        return f"{f'%{self.value}' if self.value is not None else f'#{self.node}'} {self.operator}"


@dataclass(frozen=True)
class ExplainedGroup:
    """A kernel: its name, its ops in post-DFS order, and its source locations."""

    name: str
    anchor: str | None
    pattern: str | None
    nodes: tuple[int, ...]
    locations: tuple[str, ...]


@dataclass(frozen=True)
class ExplainedBlock:
    """The decisions of fusion about a function, including the branches and closures in it."""

    function: str
    partition: Partition
    ops: dict[int, ExplainedOp]
    """The ops by node; parameters and other values from outside are nodes without an op."""
    groups: list[ExplainedGroup]
    group_of: dict[int, ExplainedGroup]
    """The kernel of each node; ops outside of kernels are missing."""
    alone: list[int]
    """Ops that belong to no kernel: tuples, tuple fields, bindings, calls."""

    @property
    def graph(self) -> ForwardGraph:
        """The function's forward graph."""
        return self.partition.graph

    def decision(self, node: int) -> FusionDecision:
        """The decision about `node`."""
        return self.partition.decisions[node]

    def name(self, node: int) -> str:
        """A printable name of the node: its op's label, or the name of the value from outside."""
        op = self.ops.get(node)
        return op.label if op is not None else self.graph.names[node]

    def matching(self, name: str) -> Iterator[ExplainedOp]:
        """The ops that `name` selects."""
        return (op for op in self.ops.values() if name in op.names)


def explain_fusion(module: ModuleOp, options: FusionOptions) -> list[ExplainedBlock]:
    """Fuses `module` in place and explains every function that has ops; existing kernels are skipped."""
    return [block for fusion in fuse_module(module, options) if (block := _explain_block(fusion)).ops]


def _explain_block(fusion: FunctionFusion) -> ExplainedBlock:
    nodes = fusion.nodes
    found = [(node, op) for node, op in enumerate(nodes.ops) if op is not None]
    ops = {node: _explain_op(node, op, nodes.graph.names[node]) for node, op in found if _is_shown(op)}
    members: defaultdict[FusedOp, list[int]] = defaultdict(list)
    alone: list[int] = []
    for node, op in found:
        around = op.parent_op()
        if isinstance(around, FusedOp):
            members[around].append(node)
        elif node in ops and op.parent is not None and not isinstance(op, ConstantOp | FusedOp):
            alone.append(node)
    groups = [_explain_group(group, tuple(inside)) for group, inside in members.items()]
    group_of = {node: group for group in groups for node in group.nodes}
    return ExplainedBlock(fusion.function, fusion.partition, ops, groups, group_of, alone)


def _is_shown(op: Operation) -> bool:
    """Whether explanations list `op`: of the constants, only those that are copied into kernels."""
    return not isinstance(op, ConstantOp) or is_fusable_scalar(op)


def _explain_op(node: int, op: Operation, operator: str) -> ExplainedOp:
    value = op.results[0].name_hint if op.results else None
    names = frozenset({*names_of(op), *(locations := _locations(op.location)), f"#{node}", str(node)})
    return ExplainedOp(node, operator, value, locations, hint_of(op), names, _composite(op))


def _composite(op: Operation) -> Composite | None:
    """The definition of `op` if it is a composite whose operand types are complete."""
    if not isinstance(op, CompositeOp) or not all(map(is_complete, op.operand_types)):
        return None
    parts, _ = op.decompose_on(op.operands)
    names = tuple(part.relay_name() for part in parts if isinstance(part, RelayOp))
    for part in reversed(parts):
        part.erase()
    return Composite(names, op.expansion.value)


def _explain_group(group: FusedOp, nodes: tuple[int, ...]) -> ExplainedGroup:
    pattern = group.fusion_pattern
    return ExplainedGroup(
        group.group_name.data,
        None if group.anchor is None else group.anchor.data,
        None if pattern is None else pattern.relay_name,
        nodes,
        _locations(group.location),
    )


def _locations(location: Attribute) -> tuple[str, ...]:
    """The locations in `location`, which may be a fused one, as text."""
    parts: tuple[Attribute, ...] = (location,)
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        parts = location.locations.data
    return tuple(dict.fromkeys(place for part in parts if (place := format_location(part)) is not None))


_RULES = {rule.rule: rule for rule in (*PATH_RULES.values(), INTO_TUPLE)}
STOP_FUSION = "annotation.stop_fusion"
"""The operator with which users separate kernels."""


class ChangeKind(Enum):
    """A kind of change; the value is the advice. `node`, `other` and `amount` are the fields of `FusionChange`.

    `users` are the consumers of `node`, `sink` is the post-dominator, and `operator` that of `sink`.
    """

    RAISE_LEVEL = "raise the optimisation level to 1 or more"
    RAISE_DEPTH = "raise max-depth to {amount} or more (counting stops above the limit)"
    RAISE_ARGUMENTS = "raise max-function-args by {amount} or more"
    KEEP_INSIDE = "its value must be used by ops only, not returned, yielded, let-bound or a condition"
    ONE_USER = "its users ({users}) must have a common post-dominator, or only one may remain"
    REMOVE = "remove {node}"
    SAME_SHAPE = "{node} must keep the shape of {other}"
    SIMPLER = "{node} must have a simpler pattern, best elementwise"
    CHOOSE_FIRST = (
        '{sink} must not be in the group of {other}: relay.fuse_with = "{operator}" on this op lets it fuse first'
    )
    FREE = "{node} must not be in the group of {other}: insert relay.annotation.stop_fusion between them"
    FUSE_FIRST = "{node} must first be fused into an injective op"


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
            return _change_for_post_dominator(graph, node)
        case FusionRule.LEVEL:
            return FusionChange(ChangeKind.RAISE_LEVEL, node)
        case FusionRule.DEPTH:
            return FusionChange(ChangeKind.RAISE_DEPTH, node, amount=decision.found)
        case FusionRule.ARGUMENTS:
            found, limit = decision.found, decision.limit
            return FusionChange(ChangeKind.RAISE_ARGUMENTS, node, amount=(found or 0) - (limit or 0))
        case _:
            return _change_for_blocker(partition, decision)


def blocking_anchor(partition: Partition, decision: FusionDecision) -> int | None:
    """The heavy op of the node's kernel that keeps the node out of a tuple fused into an injective op, or `None`."""
    sink = decision.post_dominator
    if decision.rule is not FusionRule.TUPLE or decision.blocker != sink or sink is None:
        return None
    return partition.anchors[partition.roots[decision.node]]


def _change_for_post_dominator(graph: ForwardGraph, node: int) -> FusionChange | None:
    """The change by which `node` gets a post-dominator."""
    if not graph.outputs[node]:
        return None
    return FusionChange(ChangeKind.KEEP_INSIDE if graph.extern[node] else ChangeKind.ONE_USER, node)


def _change_for_blocker(partition: Partition, decision: FusionDecision) -> FusionChange | None:
    """The change to the edge or node that blocks fusion."""
    graph, blocker = partition.graph, decision.blocker
    if blocker is None:
        return None
    if isinstance(blocker, Edge):
        return _simpler_edge(graph, blocker, decision.rule)
    if graph.names[blocker] == STOP_FUSION:
        return FusionChange(ChangeKind.REMOVE, blocker)
    anchor = blocking_anchor(partition, decision)
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
