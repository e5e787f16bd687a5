"""Conversion of the graphs in node attributes (branches and loop bodies), and construction of `relay.loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Block, Region, SSAValue, TypeAttribute
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.structure.containers import OptionalConstructOp, SequenceEmptyOp
from xrelay.dialects.relay.structure.loop import COUNT, LoopOp, most_iterations
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import (
    IncompleteType,
    OptionalType,
    SequenceType,
    common_type,
    element_type_of,
    is_static,
    joined_types,
    shape_of,
    tensor_type,
)
from xrelay.frontend.onnx.conversion import convert_nodes
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.tensors import weight_name
from xrelay.index_algebra.dims import ANY, AnyDim, Dim


def convert_body(node: NodeView, name: str, inputs: Sequence[SSAValue]) -> list[SSAValue]:
    """Emits the ops of the graph attribute `name`, with the values `inputs` as its inputs; returns its outputs.

    The body may read values of the enclosing graphs by name. Raises `ModelImportError` if a node of it cannot be
    converted.
    """
    body = node.attribute_graph(name)
    graph = node.graph.inner(node.graph.block, body)
    if len(body.input) != len(inputs):
        raise node.error(f"attribute {name!r} has {len(body.input)} inputs, must have {len(inputs)}")
    for value, given in zip(body.input, inputs, strict=True):
        graph.values[value.name] = given
    for weight in (*body.initializer, *body.sparse_initializer):
        if weight_name(weight) in graph.read_names:
            graph.define_weight(weight)
    results = convert_nodes(graph, body, node, f"attribute {name!r}")
    for output, value in zip(body.output, results, strict=True):
        dtype = graph.carried.of(value)
        if dtype is not None:
            raise node.error(f"output {output.name!r} of attribute {name!r} is {dtype}, which a body cannot return")
    return results


@dataclass(frozen=True)
class Iteration:
    """The results of a loop body: whether to continue (`None` if only the trip count ends the loop), and values."""

    continues: SSAValue | None
    carried: Sequence[SSAValue]
    stacked: Sequence[SSAValue]


MakeBody = Callable[[NodeView, SSAValue, Sequence[SSAValue]], Iteration]
"""Emits the body of a loop, given its node, the iteration number and the carried values."""


def emit_loop(
    node: NodeView,
    trip_count: SSAValue | None,
    condition: SSAValue | None,
    initial: Sequence[SSAValue],
    make_body: MakeBody,
    *,
    keeps_extents: bool = False,
) -> list[SSAValue]:
    """Returns the final carried values, then the stacked results, of a `relay.loop` at `node`.

    If an iteration changes an extent of a carried value, the body's argument has `?` there. The body is rebuilt until
    its results have the types of its arguments; each round makes one more extent `?`, so this terminates.

    With `keeps_extents`, no iteration changes an extent, even if the types at import have `?`: type inference gives the
    arguments the types of the initial values.
    """
    initial = _with_ranks(node, initial, make_body)
    types = [value.type for value in initial]
    while True:
        block = Block(arg_types=[COUNT, *types])
        inner = _iteration(node, block)
        made = make_body(inner, block.args[0], block.args[1:])
        made = replace(made, carried=[_as_optional(inner, *pair) for pair in zip(made.carried, types, strict=False)])
        wider = [_wider(node, index, *pair) for index, pair in enumerate(_pairs(node, types, made.carried))]
        if wider == types:
            break
        inner.graph.erase(list(block.ops))
        types = wider
    continues = made.continues
    if trip_count is None and continues is None:
        raise node.error("the condition is always true and there is no trip count: the loop is infinite")
    fields = [*([] if continues is None else [continues]), *made.carried, *made.stacked]
    inner.graph.insert(YieldOp(inner.make_tuple(fields)), node.name)
    if keeps_extents:
        _leave_types_to_inference(block.args[1:])
    leading = _leading(node, trip_count, continues)
    stacks = [_stack(node, value, leading) for value in made.stacked]
    result = TupleType(tuple(cast(TypeAttribute, type) for type in (*types, *stacks)))
    loop = LoopOp(trip_count, None if continues is None else condition, initial, result, Region(block))
    node.graph.insert(loop, node.name)
    return [node.tuple_field(loop.result, index) for index in range(len(types) + len(stacks))]


def _leave_types_to_inference(arguments: Sequence[SSAValue]) -> None:
    for argument in arguments:
        if not is_static(argument.type):
            Rewriter.replace_value_with_new_type(argument, IncompleteType())


def _iteration(node: NodeView, block: Block) -> NodeView:
    """A view of the node that emits into `block`, whose first argument is the iteration number."""
    inner = node.inside(block)
    inner.graph.iterations = (*node.graph.iterations, block.args[0])
    return inner


def _with_ranks(node: NodeView, initial: Sequence[SSAValue], make_body: MakeBody) -> list[SSAValue]:
    """`initial`, with the element types of empty sequences taken from the values that the first iteration inserts.

    ONNX declares no rank for the values of a sequence, so the type of an empty sequence has none.
    """
    empty = [index for index, value in enumerate(initial) if isinstance(value.owner, SequenceEmptyOp)]
    if not empty:
        return list(initial)
    block = Block(arg_types=[COUNT, *(value.type for value in initial)])
    inner = _iteration(node, block)
    first = [initial[index] if index in empty else argument for index, argument in enumerate(block.args[1:])]
    made = make_body(inner, block.args[0], first)
    types = [value.type for _, value in zip(initial, made.carried, strict=False)]
    inner.graph.erase(list(block.ops))
    found = list(initial)
    for index in empty:
        type = types[index] if index < len(types) else None
        if isinstance(type, SequenceType):
            found[index] = node.emit(SequenceEmptyOp, of=common_type([type.element]))
    return found


def _as_optional(node: NodeView, value: SSAValue, type: Attribute) -> SSAValue:
    """`value`, wrapped in an optional if `type` is an optional: ONNX allows a plain value for an optional."""
    wrap = isinstance(type, OptionalType) and not isinstance(value.type, OptionalType)
    return node.emit(OptionalConstructOp, value) if wrap else value


def _pairs(
    node: NodeView, types: Sequence[Attribute], carried: Sequence[SSAValue]
) -> list[tuple[Attribute, Attribute]]:
    if len(types) != len(carried):
        raise node.error(f"the body yields {len(carried)} carried values, it receives {len(types)}")
    return list(zip(types, (value.type for value in carried), strict=True))


def _wider(node: NodeView, index: int, known: Attribute, found: Attribute) -> Attribute:
    """The type of carried value `index`, which is `known` at first and `found` after an iteration."""
    joined = joined_types([known, found], lambda dims: dims[0] if len(set(dims)) == 1 else ANY)
    if joined is None:
        raise node.error(f"carried value #{index} is {known}, and {found} after an iteration: only extents may change")
    return joined


def _leading(node: NodeView, trip_count: SSAValue | None, continues: SSAValue | None) -> Dim:
    """The number of iterations, or `?` if it is not known at import."""
    elements = None if trip_count is None or continues is not None else node.graph.elements.of(trip_count)
    return ANY if elements is None or isinstance(elements[0], AnyDim) else most_iterations(elements[0])


def _stack(node: NodeView, value: SSAValue, leading: Dim) -> Attribute:
    if not isinstance(value.type, TensorType):
        raise node.error(f"only tensors can be stacked, found {value.type}")
    return tensor_type([leading, *shape_of(value.type)], element_type_of(value.type))
