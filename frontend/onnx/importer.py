"""An ONNX model as a relay module: one `@main` in dataflow form, located at its source nodes.

The nodes are converted in the order the file gives, which ONNX requires to be topological. One that cannot be
converted does not end the import: what depends on it is left out, the rest is still looked at, and in the end all such
nodes are reported together. A node whose inputs are all small constants (shape arithmetic) is converted like any other,
and the relay interpreter evaluates what it became on the spot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xrelay.dialects.attribute_names import FORM, VALUE_NAME
from xrelay.errors import ConstraintError, ModelImportError, TypeInferenceError, XRelayError
from xrelay.frontend.onnx import converters
from xrelay.frontend.onnx.folding import fold_ops
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.load import ModelSource, load_model
from xrelay.frontend.onnx.node import NodeView, UnsupportedNodeError
from xrelay.frontend.onnx.registry import Converter, find_converter, known_ranges
from xrelay.frontend.onnx.signature import check_shapes, graph_inputs, input_type
from xrelay.frontend.onnx.tensors import tensor_array


def import_onnx(source: ModelSource, *, shapes: Mapping[str, Sequence[int]] | None = None) -> ModuleOp:
    """The relay module of an ONNX model.

    `shapes` fixes the shapes of inputs by name. The function is `@main`; its arguments and results carry the model's
    names in `relay.name`. Raises `ModelImportError`: unreadable or truncated file, unsupported nodes (all of them in
    one message), ill-formed graph (cycle, undefined value), illegal attribute, shape mismatch.
    """
    converters.load()
    model, place = load_model(source)
    inputs = graph_inputs(model.graph)
    check_shapes(shapes or {}, inputs)
    types = [input_type(value, (shapes or {}).get(value.name)) for value in inputs]
    block = Block(arg_types=types)
    graph = GraphBuilder(block, model, place)
    for value, argument in zip(inputs, block.args, strict=True):
        graph.define(value.name, argument)
    for tensor in model.graph.initializer:
        _define_initializer(tensor, graph)
    problems: list[ModelImportError] = []
    for proto in model.graph.node:
        _try_convert(proto, graph, problems)
    _report(problems, place)
    return _module(model.graph, inputs, graph)


def _define_initializer(tensor: onnx.TensorProto, graph: GraphBuilder) -> None:
    try:
        graph.define_constant(tensor.name, tensor_array(tensor))
    except XRelayError as error:
        raise ModelImportError(error.message, location=f"tensor {tensor.name!r}", help=error.help) from error


def _try_convert(proto: onnx.NodeProto, graph: GraphBuilder, problems: list[ModelImportError]) -> None:
    """Convert a node; one that cannot be is noted, and its outputs are marked as missing.

    Unlike a node that is not supported, a value that nothing defines ends the import: the rest of such a graph says
    nothing.
    """
    bare = NodeView(proto, graph)
    try:
        converter = _converter(bare)
    except ModelImportError as error:
        _note(error, proto, graph, problems)
        return
    if any(name in graph.missing for name in proto.input):
        graph.missing.update(filter(None, proto.output))
        return
    inputs = [_input(name, bare, graph, problems) for name in proto.input]
    try:
        _convert(NodeView(proto, graph, inputs), converter, graph)
    except ModelImportError as error:
        _note(error, proto, graph, problems)


def _note(
    error: ModelImportError, proto: onnx.NodeProto, graph: GraphBuilder, problems: list[ModelImportError]
) -> None:
    problems.append(error)
    graph.missing.update(filter(None, proto.output))


def _report(problems: list[ModelImportError], place: str) -> None:
    """Raise what was noted: an error of a single node as it is, several in one message."""
    if not problems:
        return
    unsupported = any(isinstance(problem, UnsupportedNodeError) for problem in problems)
    if len(problems) == 1 and not unsupported:
        raise problems[0]
    count = "1 node is" if len(problems) == 1 else f"{len(problems)} nodes are"
    raise ModelImportError(
        f"{count} not supported: " + "; ".join(f"{problem.location}: {problem.message}" for problem in problems),
        location=place,
        help="register a converter with xrelay.frontend.onnx.converts" if unsupported else None,
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
    except (ConstraintError, TypeInferenceError) as error:
        raise node.error(error.message, help=error.help) from error
    values = [results] if isinstance(results, SSAValue) else list(results)
    wanted = node.outputs
    for name in wanted[len(values) :]:
        if name:
            raise node.error(f"output {name!r} is asked for, and the converter gives {len(values)} outputs only")
    named = {name: value for name, value in zip(wanted, values, strict=False) if name}
    added = graph.ops_after(last)
    folded = fold_ops(added, list(named.values())) if node.inputs and added else None
    if folded is None:
        for name, value in named.items():
            graph.define(name, value)
        return
    graph.erase(added)
    for name, array in zip(named, folded, strict=True):
        graph.define_constant(name, array)


def _input(name: str, node: NodeView, graph: GraphBuilder, problems: list[ModelImportError]) -> SSAValue | None:
    if not name:
        return None
    value = graph.values.get(name)
    if value is not None:
        return value
    _report(problems, graph.place)
    producer = next((other for other in graph.nodes if name in other.output), None)
    if producer is None:
        raise node.error(f"input {name!r} is defined nowhere in the model")
    raise node.error(
        f"input {name!r} is used before node {producer.name or producer.op_type!r} computes it",
        help="the graph is cyclic, or its nodes are not in topological order",
    )


def _module(graph: onnx.GraphProto, inputs: Sequence[onnx.ValueInfoProto], builder: GraphBuilder) -> ModuleOp:
    results: list[SSAValue] = []
    for output in graph.output:
        value = builder.values.get(output.name)
        if value is None:
            raise ModelImportError(f"graph output {output.name!r} is defined nowhere in the model")
        results.append(value)
    builder.block.add_op(ReturnOp(*results))
    function = FuncOp(
        "main",
        ([argument.type for argument in builder.block.args], [value.type for value in results]),
        Region(builder.block),
        arg_attrs=_names([value.name for value in inputs]),
    )
    function.res_attrs = _names([output.name for output in graph.output])
    function.attributes[FORM] = StringAttr("dataflow")
    return ModuleOp([function])


def _names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    entries: list[dict[str, Attribute]] = [{VALUE_NAME: StringAttr(name)} for name in names]
    return ArrayAttr([DictionaryAttr(entry) for entry in entries])
