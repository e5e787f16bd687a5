"""Converting the nodes of a graph one after the other: the model's own, and those in bodies of nodes."""

from __future__ import annotations

from collections.abc import Iterable

import onnx
from xdsl.ir import SSAValue

from xrelay.errors import ConstraintError, DimensionError, ModelImportError, TypeInferenceError, XRelayError
from xrelay.frontend.onnx.folding import fold_ops, known_arrays
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.node import DependentNodeError, NodeView, UnsupportedNodeError
from xrelay.frontend.onnx.registry import Converter, find_converter, known_ranges
from xrelay.frontend.onnx.tensors import tensor_array


def define_initializer(tensor: onnx.TensorProto, graph: GraphBuilder) -> None:
    """Bind the name of a tensor that a graph comes with."""
    try:
        graph.define_constant(tensor.name, tensor_array(tensor))
    except XRelayError as error:
        raise ModelImportError(error.message, location=f"tensor {tensor.name!r}", help=error.help) from error


def try_convert(
    proto: onnx.NodeProto, graph: GraphBuilder, problems: Iterable[ModelImportError]
) -> ModelImportError | None:
    """Convert a node; returns why it cannot be converted.

    Of a node whose inputs are missing already only that is said which shows without them. Unlike a node that is not
    supported, a value that nothing defines ends the import: the rest of such a graph says nothing.
    """
    bare = NodeView(proto, graph)
    try:
        converter = _converter(bare)
    except ModelImportError as error:
        return error
    if any(name in graph.missing for name in proto.input):
        return bare.depends_on_missing()
    inputs = [_input(name, bare, graph, problems) for name in proto.input]
    try:
        _convert(NodeView(proto, graph, inputs), converter, graph)
    except ModelImportError as error:
        return error
    return None


def report(noted: Iterable[ModelImportError], place: str) -> None:
    """Raise what was noted: an error of a single node as it is, several in one message."""
    problems = [problem for problem in noted if not isinstance(problem, DependentNodeError)]
    if not problems:
        return
    unsupported = any(isinstance(problem, UnsupportedNodeError) for problem in problems)
    if len(problems) == 1 and not unsupported:
        raise problems[0]
    count = "1 node is" if len(problems) == 1 else f"{len(problems)} nodes are"
    raise ModelImportError(
        f"{count} not supported: " + "; ".join(f"{problem.location}: {problem.message}" for problem in problems),
        location=place,
        help="register a converter with xrelay.extend.converters.converts" if unsupported else None,
    )


def _converter(node: NodeView) -> Converter:
    """The converter of a node; `UnsupportedNodeError` says why there is none, without converting anything."""
    op_type, domain = node.proto.op_type, node.domain
    converter = find_converter(op_type, domain, node.opset)
    if converter is None:
        ranges = known_ranges(op_type, domain)
        if ranges and node.opset == 0:
            raise node.unsupported(f"the model imports no opset of the domain {domain or 'ai.onnx'!r}")
        raise node.unsupported(f"known in opsets {ranges} only" if ranges else "no converter for this op")
    unknown = [name for name in node.attribute_names if name not in converter.attributes]
    if unknown:
        raise node.unsupported("attribute " + ", ".join(map(repr, unknown)) + " is not known to the converter")
    reason = converter.supports(node) if converter.supports is not None else None
    if reason is not None:
        raise node.unsupported(reason)
    return converter


def _convert(node: NodeView, converter: Converter, graph: GraphBuilder) -> None:
    last = graph.block.last_op
    try:
        results = converter.convert(node)
    except (ConstraintError, DimensionError, TypeInferenceError) as error:
        raise node.error(error.message, help=error.help) from error
    values = [results] if isinstance(results, SSAValue) else list(results)
    wanted = node.outputs
    for name in wanted[len(values) :]:
        if name:
            raise node.error(f"output {name!r} is asked for, and the converter gives {len(values)} outputs only")
    named = {name: value for name, value in zip(wanted, values, strict=False) if name}
    added = graph.ops_after(last)
    folded = None
    if node.inputs and added:
        outputs = list(named.values())
        known = known_arrays(graph.elements, outputs)
        folded = known if known is not None else fold_ops(added, outputs)
    if folded is None:
        for name, value in named.items():
            graph.define(name, value)
        return
    graph.erase(added)
    for name, array in zip(named, folded, strict=True):
        graph.define_constant(name, array)


def _input(name: str, node: NodeView, graph: GraphBuilder, problems: Iterable[ModelImportError]) -> SSAValue | None:
    if not name:
        return None
    value = graph.values.get(name)
    if value is not None:
        return value
    report(problems, graph.place)
    producer = next((other for other in graph.nodes if name in other.output), None)
    if producer is None:
        raise node.error(f"input {name!r} is defined nowhere in the model")
    raise node.error(
        f"input {name!r} is used before node {producer.name or producer.op_type!r} computes it",
        help="the graph is cyclic, or its nodes are not in topological order",
    )
