"""Builds the forward graph of a function's body.

The body is read as a Relay expression. The graph contains the ops that the results need, in post-DFS order from the
terminator, operands first to last; Relay decides about nodes in this order. The position of an op in the text has no
influence: an op used only in one branch belongs to that branch. Bindings (`relay.let`) come first in their block.
Results of branches and closures are used outside, like those of the function. Unused pure ops and unused calls of pure
functions are left out; an op that computes an extent is needed if a type of a needed op contains the name of the
extent. The body of a loop runs many times and the ops outside of it once, so no op outside fuses with an op in the
body.

The attribute `relay.fuse_with` of an op names the consumer into whose kernel the op should go:

    %l = relay.nn.conv2d(%x, %v)
    %r = relay.nn.conv2d(%x, %w) {relay.fuse_with = "add"}
    %y = relay.add(%l, %r)                                  fused with %r, not with %l

Within each phase of the partition, hinted ops are visited before all others, in post-DFS order. So of several producers
that may fuse into one consumer, the hinted one is chosen instead of the first operand. A hint changes no rule, phase or
limit. It has no effect if the fusion is not legal, or if it names another op than the op's post-dominator, since an op
fuses only into its post-dominator; `explain` reports this. Like every discardable attribute it may be dropped, which
changes kernels but never results. The name is the consumer's operator (`add`, `nn.relu`), the name of its result (`%y`
or `y`), or its source location.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import StringAttr, TensorType, TupleType, f32, f64, i1, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, is_side_effect_free

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.shared.attribute_names import FUSE_WITH
from xrelay.dialects.shared.identity_memo import IdentityMemo
from xrelay.dialects.shared.locations import format_location
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Shape
from xrelay.passes.fusion.forward_graph import ForwardGraph, Use
from xrelay.passes.graph.op_kinds import CALLS, OpKind, is_constant, is_relay_op, kind_of, short_name
from xrelay.passes.graph.scopes import NameUses
from xrelay.passes.infra.verify import walk_ops

_COUNTING = (*CALLS, OpKind.TUPLE)
"""Kinds of op whose operands count among the arguments of a kernel."""

FUSABLE_SCALARS = (f32, i64, i32, f64, i1)
"""Element types of rank-0 constants that are copied into a kernel."""


NodeRef: TypeAlias = Operation | SSAValue
"""A node of the graph: an op, or a parameter of the function or of a closure in it."""


@dataclass(frozen=True)
class FunctionGraph:
    """A forward graph and the ops and values of its nodes."""

    body: Block
    graph: ForwardGraph
    refs: list[NodeRef]
    """Indexed by node."""
    ops: list[Operation | None]
    """Indexed by node; `None` for a value from outside."""
    numbers: dict[NodeRef, int]
    unneeded: list[Operation]
    """Ops that no result needs, in text order."""


def forward_graph(body: Block, pure_calls: Container[str] | None = None) -> FunctionGraph:
    """The forward graph of a function's `body`; iterative, in time linear in ops and operands.

    Calls of the functions `pure_calls` have no side effects; if it is `None`, no call has any.
    """
    builder = _GraphBuilder(pure_calls)
    builder.visit_body(body)
    builder.visit_makers()
    unneeded = [op for block in builder.blocks for op in block.ops if _could_be_left_out(op, builder.numbers)]
    found = FunctionGraph(body, builder.graph, builder.refs, builder.ops, builder.numbers, unneeded)
    _resolve_hints(found)
    return found


def _could_be_left_out(op: Operation, needed: dict[NodeRef, int]) -> bool:
    return op not in needed and not op.has_trait(IsTerminator)


def is_fusable_scalar(op: Operation) -> bool:
    """Whether `op` is a constant that is copied into the kernel that uses it."""
    if not is_constant(op):
        return False
    type = op.result.type
    return not type.get_shape() and type.element_type in FUSABLE_SCALARS


def pattern_of(op: Operation) -> OpPatternKind:
    """The fusion pattern of an op; opaque if the op is not a Relay operator."""
    kind = kind_of(op)
    if kind is OpKind.CONSTANT:
        return OpPatternKind.ELEM_WISE if is_fusable_scalar(op) else OpPatternKind.OPAQUE
    if not is_relay_op(op):
        return OpPatternKind.OPAQUE
    if kind is OpKind.FIELD and not _is_tuple_of_tensors(op.operands[0].type):
        return OpPatternKind.OPAQUE
    if op.shape_depends_on_data and _has_unknown_extents(op.results[0].type):
        return OpPatternKind.OPAQUE
    return op.fusion_pattern


class TypeFacts(NamedTuple):
    """The properties of a value's type that fusion uses."""

    shape: Shape | None
    """`None` if the type is not a tensor."""
    dynamic: int
    """The number of unknown extents."""

    @property
    def arguments(self) -> int:
        """The number of kernel arguments for a parameter: its buffer, and unknown extents with the strides."""
        return 1 + self.dynamic + len(self.shape) if self.dynamic and self.shape is not None else 1


def _type_facts(type: Attribute) -> TypeFacts:
    shape = shape_of(type) if isinstance(type, TensorType) else None
    return TypeFacts(shape, 0 if shape is None else sum(not isinstance(dim, int) for dim in shape))


def _has_unknown_extents(type: Attribute) -> bool:
    parts = type.types if isinstance(type, TupleType) else (type,)
    return any(_type_facts(part).dynamic > 0 for part in parts)


def _is_tuple_of_tensors(type: Attribute) -> bool:
    known = _TUPLES_OF_TENSORS.get(id(type))
    if known is None:
        found = isinstance(type, TupleType) and all(isinstance(field, TensorType) for field in type.types)
        known = _TUPLES_OF_TENSORS.add(id(type), found, type)
    return known


_TUPLES_OF_TENSORS = IdentityMemo[bool]()


class _GraphBuilder:
    def __init__(self, pure_calls: Container[str] | None) -> None:
        self._pure_calls = pure_calls
        self.graph = ForwardGraph()
        self.refs: list[NodeRef] = []
        self.ops: list[Operation | None] = []
        self.numbers: dict[NodeRef, int] = {}
        self.blocks: list[Block] = []
        """The visited blocks: the body, and those of the branches and closures that are needed."""
        self._loops: dict[Block, Block] = {}
        """Maps each block in a loop to the body of the innermost loop."""
        self._entered: dict[NodeRef, int] = {}
        """The order in which ops and parameters were entered; consumers come before their operands."""
        self._variable_arguments: list[int] = []
        """For each variable or tuple field, the number of arguments of a kernel that uses it; 0 for other nodes."""
        self._facts: dict[int, tuple[Attribute, TypeFacts]] = {}
        """Keyed by the identity of a type, which is cheaper than its hash.

        The reference to the type keeps the identity unique.
        """

    def visit_body(self, body: Block) -> None:
        self._visit(self._expression(body))
        for value in _results_of(body):
            self.graph.extern[self._number(value)] = True
        self._order_consumers()

    def visit_makers(self) -> None:
        """Adds the unused ops that define extents in the types of nodes."""
        left = [op for block in self.blocks for op in block.ops if op not in self.numbers and new_extents(op)]
        function = _function_around(left[0]) if left else None
        if function is None:
            return
        names, positions = NameUses(function), {op: position for position, op in enumerate(walk_ops(function))}
        # An op whose type contains an extent follows the op that computes the extent, and may itself be needed only for
        # an extent.
        for op in sorted(left, key=lambda op: -positions[op]):
            if any(user in self.numbers for user in names.of(op)):
                self._visit(iter([op]))
                self.graph.extern[self.numbers[op]] = True
        self._order_consumers()

    def _order_consumers(self) -> None:
        order = [self._entered[ref] for ref in self.refs]
        for edges in self.graph.outputs:
            if len(edges) > 1:
                # Relay lists the consumers of a node in the order in which it enters them.
                edges.sort(key=lambda edge: order[edge.consumer])

    # --- the order ---------------------------------------------------------------------------------------------------

    def _visit(self, wanted: Iterator[NodeRef]) -> None:
        """Adds the nodes of `wanted` and of all that they depend on, in post-DFS order."""
        stack: list[tuple[Operation | None, Iterator[NodeRef]]] = [(None, wanted)]
        entered = self._entered
        while stack:
            op, pending = stack[-1]
            for value in pending:
                ref = value.op if isinstance(value, OpResult) else value
                if ref in entered:
                    continue
                entered[ref] = len(entered)
                if isinstance(ref, BlockArgument):
                    self._add_parameter(ref)
                elif not isinstance(ref, SSAValue):
                    stack.append((ref, self._needed_by(ref)))
                    break
            else:
                stack.pop()
                if op is not None:
                    self._add_op(op)

    def _needed_by(self, op: Operation) -> Iterator[NodeRef]:
        return self._needed_by_regions(op) if op.regions else iter(op.operands)

    def _needed_by_regions(self, op: Operation) -> Iterator[NodeRef]:
        yield from op.operands
        if kind_of(op) is OpKind.REGIONS:
            for region in op.regions:
                yield from self._expression(region.block)
        else:
            yield from _captured(op)

    def _expression(self, block: Block) -> Iterator[NodeRef]:
        """Yields the parts of the expression in `block`: parameters, bindings, results, and ops with effects."""
        self.blocks.append(block)
        self._note_loop(block)
        yield from block.args
        yield from (op for op in block.ops if kind_of(op) is OpKind.BINDING)
        yield from _results_of(block)
        yield from (op for op in block.ops if op not in self._entered and self._has_effect(op))

    def _has_effect(self, op: Operation) -> bool:
        """Whether `op` may have side effects, so that it is kept although its results are unused."""
        if kind_of(op) is not OpKind.OTHER or op.has_trait(IsTerminator):
            return False
        if is_call(op):
            return self._pure_calls is not None and callee_name(op) not in self._pure_calls
        return not is_side_effect_free(op)

    def _note_loop(self, block: Block) -> None:
        around = block.parent_op()
        if isinstance(around, LoopOp):
            self._loops[block] = block
        elif around is not None and around.parent is not None and around.parent in self._loops:
            self._loops[block] = self._loops[around.parent]

    # --- the nodes ---------------------------------------------------------------------------------------------------

    def _add_parameter(self, value: BlockArgument) -> None:
        name = value.name_hint if value.name_hint is not None else "value"
        arguments = self._type(value).arguments
        node = self.graph.add(f"%{name}", OpPatternKind.OPAQUE, is_variable=True, own_arguments=arguments)
        self.graph.extern[node] = True
        self._remember(value, None, arguments)

    def _add_op(self, op: Operation) -> None:
        kind, pattern, operands = kind_of(op), pattern_of(op), tuple(op.operands)
        used = [self._number(value) for value in operands]
        is_binding = kind is OpKind.BINDING
        arguments = self._type(op.results[0]).arguments if is_binding or kind is OpKind.FIELD else 0
        counted = self._counted(kind, used)
        node = self.graph.add(
            short_name(op),
            pattern,
            self._within_loops(op, operands, self._uses(op, operands, used, pattern)),
            is_variable=is_binding,
            own_arguments=arguments if is_binding else sum([self._variable_arguments[node] for node in counted]),
            counted=counted,
            dynamic_extents=self._type(op.results[0]).dynamic if op.results and kind in CALLS else 0,
        )
        if is_binding or not op.results:
            self.graph.extern[node] = True
        self._remember(op, op, arguments)

    def _counted(self, kind: OpKind, used: list[int]) -> list[int]:
        """The nodes used by an op of `kind` that count among the arguments of its kernel."""
        if kind is OpKind.INVOCATION:
            return used[1:]
        return used if kind in _COUNTING else []

    def _uses(
        self, op: Operation, operands: Sequence[SSAValue], used: Sequence[int], pattern: OpPatternKind
    ) -> list[Use]:
        """The uses by `op` of its operands, the nodes `used`; the pattern `None` forbids fusion through the use."""
        kind = kind_of(op)
        if kind is OpKind.OPERATOR and pattern is not OpPatternKind.BROADCAST:
            return [Use(node, pattern) for node in used]
        if kind is OpKind.OPERATOR:
            shape = self._type(op.results[0]).shape
            return [Use(node, self._broadcast(value, shape)) for node, value in zip(used, operands, strict=True)]
        if kind is OpKind.TUPLE:
            patterns = [OpPatternKind.INJECTIVE if self._type(value).shape is not None else None for value in operands]
            return [Use(node, edge) for node, edge in zip(used, patterns, strict=True)]
        if op.regions and kind is not OpKind.GROUP:
            inner = _yielded(op) if kind is OpKind.REGIONS else _captured(op)
            return [Use(node, None) for node in (*used, *map(self._number, inner))]
        if kind is OpKind.BINDING or (kind is OpKind.FIELD and pattern is OpPatternKind.OPAQUE):
            return [Use(node, None) for node in used]
        extern = 1 if kind is OpKind.INVOCATION else 0
        return [Use(node, pattern if i >= extern else None) for i, node in enumerate(used)]

    def _within_loops(self, op: Operation, operands: Sequence[SSAValue], uses: list[Use]) -> list[Use]:
        """Returns `uses`, those of operands first; uses in a loop's body of values from outside become extern."""
        block = self._loops.get(op.parent) if op.parent is not None else None
        if block is None:
            return uses
        outside = [isinstance(value, OpResult) and self._is_outside(value.op, block) for value in operands]
        walls = [Use(use.producer, None) if out else use for use, out in zip(uses, outside, strict=False)]
        return walls + uses[len(walls) :]

    def _is_outside(self, op: Operation, block: Block) -> bool:
        """Whether `op` is outside the loop with body `block`; constants count as inside, wherever they are used."""
        return not is_constant(op) and (op.parent is None or self._loops.get(op.parent) is not block)

    def _broadcast(self, value: SSAValue, shape: Shape | None) -> OpPatternKind:
        """The pattern with which a broadcasting op whose result has `shape` accesses an operand.

        It is elementwise if both shapes are equal for all sizes. Operands of extents `n` and `m` have a result of
        extent `broadcast(n, m)`, which equals neither. Two extents Any are equal, as in Relay.
        """
        same = shape is not None and self._type(value).shape == shape
        return OpPatternKind.ELEM_WISE if same else OpPatternKind.BROADCAST

    def _number(self, value: SSAValue) -> int:
        return self.numbers[value.op if isinstance(value, OpResult) else value]

    def _remember(self, ref: NodeRef, op: Operation | None, variable_arguments: int) -> None:
        self.numbers[ref] = len(self.refs)
        self.refs.append(ref)
        self.ops.append(op)
        self._variable_arguments.append(variable_arguments)

    def _type(self, value: SSAValue) -> TypeFacts:
        type = value.type
        found = self._facts.get(id(type))
        if found is None:
            found = self._facts[id(type)] = (type, _type_facts(type))
        return found[1]


def _function_around(op: Operation) -> FuncOp | None:
    around: Operation | None = op
    while around is not None and not isinstance(around, FuncOp):
        around = around.parent_op()
    return around


def _results_of(block: Block) -> tuple[SSAValue, ...]:
    last = block.last_op
    return tuple(last.operands) if last is not None and last.has_trait(IsTerminator) else ()


def _yielded(op: Operation) -> Iterator[SSAValue]:
    for region in op.regions:
        yield from _results_of(region.block)


def _captured(op: Operation) -> Iterator[SSAValue]:
    """Yields the outside values that the regions of another dialect's op use; such uses are never fused."""
    if op.has_trait(IsolatedFromAbove):
        return
    inside = [inner for inner in op.walk() if inner is not op]
    defined: set[SSAValue] = {value for inner in inside for value in inner.results}
    defined.update(value for inner in op.walk() for region in inner.regions for b in region.blocks for value in b.args)
    yield from dict.fromkeys(value for inner in inside for value in inner.operands if value not in defined)


def _resolve_hints(nodes: FunctionGraph) -> None:
    """Adds the hints of the function's ops to its graph, each as the set of the nodes that it names, in linear time."""
    hints = {node: hint for node, op in enumerate(nodes.ops) if op is not None and (hint := hint_of(op)) is not None}
    if not hints:
        return
    called: dict[str, set[int]] = {name: set() for name in hints.values()}
    for node, ref in enumerate(nodes.refs):
        for name in names_of(ref):
            if name in called:
                called[name].add(node)
    nodes.graph.hints.update((node, called[name]) for node, name in hints.items())


def hint_of(op: Operation) -> str | None:
    """The hint on an op; `None` if it has none or the attribute is not a string."""
    hint = op.attributes.get(FUSE_WITH)
    return hint.data if isinstance(hint, StringAttr) else None


def names_of(ref: NodeRef) -> set[str]:
    """Returns the names by which users can refer to an op or a value: operator, source locations, SSA names."""
    names = set[str]()
    if isinstance(ref, Operation):
        names |= {ref.name, ref.name.removeprefix("relay.")}
        location = format_location(ref.location)
        names |= set() if location is None else {location}
    for value in ref.results if isinstance(ref, Operation) else (ref,):
        if value.name_hint is not None:
            names |= {value.name_hint, f"%{value.name_hint}"}
    return names
