"""From a block of relay ops to the forward graph that fusion looks at.

Every op and every value from outside that the block uses is a node. Nodes are in post-DFS order from the terminator,
operands first to last, which is the order in which Relay asks each node whether it fuses; ops that nothing reaches
follow in text order. Ops nested in regions (the branches of `relay.if`, the body of `relay.fn`) are graphs of their
own: what they use from here is seen outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator

from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.dims import Shape
from xrelay.dialects.relay.function import InvokeOp
from xrelay.dialects.relay.op_base import RelayOp
from xrelay.dialects.relay.op_pattern import OpPatternKind
from xrelay.dialects.relay.scope import LetOp
from xrelay.dialects.relay.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.types import shape_of
from xrelay.passes.analysis.forward_graph import ForwardGraph, Use
from xrelay.passes.analysis.fusion_hints import resolve_hints

NodeRef: TypeAlias = Operation | SSAValue
"""What a node stands for: an op of the block, or a value that comes from outside it."""

FUSABLE_SCALARS = frozenset({"i1", "i32", "i64", "f32", "f64"})
"""Element types of the constants of rank 0 that are written into a kernel."""


@dataclass(frozen=True)
class BlockGraph:
    """A forward graph and what its nodes stand for."""

    graph: ForwardGraph
    refs: list[NodeRef]
    """Indexed by node."""
    numbers: dict[NodeRef, int]

    def op(self, node: int) -> Operation | None:
        """The op that `node` stands for; `None` for a value from outside."""
        ref = self.refs[node]
        return ref if isinstance(ref, Operation) else None


def forward_graph(block: Block) -> BlockGraph:
    """The forward graph of `block`; iterative, in time linear in ops and operands."""
    builder = _GraphBuilder(block)
    for argument in block.args:
        builder.add_outside(argument)
    terminator = block.last_op
    if terminator is not None and terminator.has_trait(IsTerminator):
        builder.visit_all(_needed_by(terminator))
        for value in _needed_by(terminator):
            builder.mark_extern(value)
    for op in block.ops:
        if not op.has_trait(IsTerminator) and not any(result.first_use for result in op.results):
            builder.add_root(op)
    found = BlockGraph(builder.graph, builder.refs, builder.numbers)
    resolve_hints(found)
    return found


def is_fusable_scalar(op: Operation) -> bool:
    """Whether `op` is a constant that belongs inside the kernel that uses it."""
    if not isinstance(op, ConstantOp):
        return False
    type = op.result.type
    return not type.get_shape() and str(type.element_type) in FUSABLE_SCALARS


def pattern_of(op: Operation) -> OpPatternKind:
    """The fusion pattern of an op; everything that is not a Relay operator is opaque."""
    if is_fusable_scalar(op):
        return OpPatternKind.ELEM_WISE
    if isinstance(op, TupleGetItemOp) and not _is_tuple_of_tensors(op.data.type):
        return OpPatternKind.OPAQUE
    return op.fusion_pattern if isinstance(op, RelayOp) else OpPatternKind.OPAQUE


def edge_pattern(op: Operation, operand: SSAValue, pattern: OpPatternKind) -> OpPatternKind | None:
    """How `op`, of `pattern`, treats `operand`; `None` where nothing may fuse through the use."""
    if isinstance(op, TupleOp):
        return OpPatternKind.INJECTIVE if isinstance(operand.type, TensorType) else None
    if isinstance(op, TupleGetItemOp) and pattern is OpPatternKind.OPAQUE:
        return None
    if isinstance(op, LetOp) or (isinstance(op, InvokeOp) and operand is op.callee):
        return None
    if pattern is OpPatternKind.BROADCAST and _same_shape(operand.type, op.results[0].type):
        return OpPatternKind.ELEM_WISE
    return pattern


class _GraphBuilder:
    def __init__(self, block: Block):
        self.block = block
        self.graph = ForwardGraph()
        self.refs: list[NodeRef] = []
        self.numbers: dict[NodeRef, int] = {}

    def mark_extern(self, value: SSAValue) -> None:
        self.graph.mark_extern(self.numbers[self.ref(value)])

    def ref(self, value: SSAValue) -> NodeRef:
        """What the node of `value` stands for."""
        return value.op if isinstance(value, OpResult) and value.op.parent is self.block else value

    def add_root(self, op: Operation) -> None:
        """Add an op that no other uses; only the outside can be interested in it."""
        self.visit_all(_needed_by(op))
        self.add_op(op)
        self.graph.mark_extern(self.numbers[op])

    def visit_all(self, values: Iterator[SSAValue]) -> None:
        """Add the nodes of `values` and of everything they need, post-DFS."""
        stack: list[tuple[Operation | None, Iterator[SSAValue]]] = [(None, values)]
        entered: set[Operation] = set()
        while stack:
            op, pending = stack[-1]
            value = next(pending, None)
            if value is None:
                stack.pop()
                if op is not None:
                    self.add_op(op)
                continue
            ref = self.ref(value)
            if ref in self.numbers or ref in entered:
                continue
            if isinstance(ref, Operation):
                entered.add(ref)
                stack.append((ref, _needed_by(ref)))
            else:
                self.add_outside(ref)

    def add_outside(self, value: SSAValue) -> None:
        name = value.name_hint if value.name_hint is not None else "value"
        node = self.graph.add(
            f"%{name}", OpPatternKind.OPAQUE, is_variable=True, own_arguments=1 + _extra_arguments(value.type)
        )
        self.graph.mark_extern(node)
        self._remember(value)

    def add_op(self, op: Operation) -> None:
        pattern = pattern_of(op)
        uses = [Use(self.numbers[self.ref(operand)], edge_pattern(op, operand, pattern)) for operand in op.operands]
        uses += [Use(self.numbers[self.ref(value)], None) for value in _captured(op)]
        self.graph.add(
            op.relay_name() if isinstance(op, RelayOp) else op.name.removeprefix("relay."),
            pattern,
            uses,
            own_arguments=self._own_arguments(op),
            counts_operands=not isinstance(op, TupleGetItemOp),
            dynamic_extents=_dynamic_extents(op.results[0].type) if op.results else 0,
        )
        self._remember(op)

    def _remember(self, ref: NodeRef) -> None:
        self.numbers[ref] = len(self.refs)
        self.refs.append(ref)

    def _own_arguments(self, op: Operation) -> int:
        """Operands that become kernel arguments whatever is fused: parameters and fields of tuples."""
        if not isinstance(op, RelayOp):
            return 0
        return sum(
            1 + _extra_arguments(operand.type)
            for operand in op.operands
            if not isinstance(ref := self.ref(operand), Operation) or isinstance(ref, TupleGetItemOp)
        )


def _needed_by(op: Operation) -> Iterator[SSAValue]:
    yield from op.operands
    yield from _captured(op)


def _captured(op: Operation) -> Iterator[SSAValue]:
    """What the regions of `op` use from outside it, in order of first use."""
    if not op.regions or op.has_trait(IsolatedFromAbove):
        return
    defined: set[SSAValue] = set()
    seen: dict[SSAValue, None] = {}
    for inner in op.walk():
        defined.update(inner.results)
        for region in inner.regions:
            for block in region.blocks:
                defined.update(block.args)
        if inner is not op:
            seen.update(dict.fromkeys(inner.operands))
    defined.difference_update(op.results)
    yield from (value for value in seen if value not in defined)


def _is_tuple_of_tensors(type: Attribute) -> bool:
    return isinstance(type, TupleType) and all(isinstance(field, TensorType) for field in type.types)


def _shape(type: Attribute) -> Shape | None:
    return shape_of(type) if isinstance(type, TensorType) else None


def _same_shape(lhs: Attribute, rhs: Attribute) -> bool:
    left, right = _shape(lhs), _shape(rhs)
    return left is not None and left == right


def _dynamic_extents(type: Attribute) -> int:
    shape = _shape(type)
    return 0 if shape is None else sum(not isinstance(dim, int) for dim in shape)


def _extra_arguments(type: Attribute) -> int:
    """Arguments that a tensor of unknown extents needs besides itself: each extent, and the strides."""
    dynamic = _dynamic_extents(type)
    return dynamic + len(_shape(type) or ()) if dynamic else 0
