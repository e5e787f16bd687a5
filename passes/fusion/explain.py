"""Explains fusion: lists the kernels of a module, and for each op the reason for its kernel.

`explain_fusion` fuses the given module and returns the decisions of the partition as data, with the names of the
kernels. `explain_story.py` writes this data as text, `explain_formats.py` writes it as JSON and as a graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, FusedLoc, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.composite import CompositeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.locations import format_location
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.fusion.forward_graph import ForwardGraph
from xrelay.passes.fusion.fuse_ops import FunctionFusion, fuse_module
from xrelay.passes.fusion.fusion_reason import FusionDecision
from xrelay.passes.fusion.hints import hint_of, names_of
from xrelay.passes.fusion.op_patterns import is_fusable_scalar
from xrelay.passes.fusion.partition import FusionOptions, Partition


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
    found = [(node, op) for node in range(len(nodes.refs)) if (op := nodes.op(node)) is not None]
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
    hint = hint_of(op)
    wanted = None if hint is None else hint.data
    names = frozenset({*names_of(op), *(locations := _locations(op.location)), f"#{node}", str(node)})
    return ExplainedOp(node, operator, value, locations, wanted, names, _composite(op))


def _composite(op: Operation) -> Composite | None:
    """The definition of `op` if it is a composite whose operand types are complete."""
    if not isinstance(op, CompositeOp) or not all(map(is_complete, op.operand_types)):
        return None
    parts, _ = op.parts_on(op.operands)
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


def is_answer(ref: Operation | SSAValue, name: str) -> bool:
    """Whether `name` is the operator, the result or a source location of an op or value."""
    return name in names_of(ref) or (isinstance(ref, Operation) and name in _locations(ref.location))


def _locations(location: Attribute) -> tuple[str, ...]:
    """The locations in `location`, which may be a fused one, as text."""
    parts: tuple[Attribute, ...] = (location,)
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        parts = location.locations.data
    return tuple(dict.fromkeys(place for part in parts if (place := format_location(part)) is not None))
