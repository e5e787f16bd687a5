"""An ONNX model as a relay module: one `@main` in dataflow form, located at its source nodes.

First every node is looked at and all that cannot be converted are reported together; then the nodes are converted in
the order the file gives, which ONNX requires to be topological. A node whose inputs are all small constants (shape
arithmetic) is evaluated on the spot by onnx's reference implementation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xrelay.dialects.relay.weights import Array
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import converters
from xrelay.frontend.onnx.folding import fold_node
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.load import ModelSource, load_model
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import find_converter, known_ranges
from xrelay.frontend.onnx.signature import check_shapes, graph_inputs, input_type


def import_onnx(source: ModelSource, *, shapes: Mapping[str, Sequence[int]] | None = None) -> ModuleOp:
    """The relay module of an ONNX model.

    `shapes` fixes the shapes of inputs by name. The function is `@main`; its arguments and results carry the model's
    names in `relay.name`. Raises `ModelImportError`: unreadable or truncated file, unsupported nodes (all of them in
    one message), ill-formed graph (cycle, undefined value), illegal attribute, shape mismatch.
    """
    converters.load()
    model, place = load_model(source)
    opsets = {entry.domain: int(entry.version) for entry in model.opset_import}
    inputs = graph_inputs(model.graph)
    check_shapes(shapes or {}, inputs)
    types = [input_type(value, (shapes or {}).get(value.name)) for value in inputs]
    block = Block(arg_types=types)
    graph = GraphBuilder(block)
    _refuse_unsupported(model.graph, opsets, graph, place)
    for value, argument in zip(inputs, block.args, strict=True):
        graph.define(value.name, argument)
    for tensor in model.graph.initializer:
        graph.define_constant(tensor.name, _array(tensor))
    for node in model.graph.node:
        _convert(node, opsets, graph, model.graph)
    return _module(model.graph, inputs, graph)


def _opset_of(node: onnx.NodeProto, opsets: Mapping[str, int]) -> int:
    domain = _domain(node)
    return opsets.get(domain, opsets.get("ai.onnx", 0) if domain == "" else 0)


def _domain(node: onnx.NodeProto) -> str:
    # "ai.onnx" is the written-out name of the default domain.
    return "" if node.domain == "ai.onnx" else node.domain


def _refuse_unsupported(graph: onnx.GraphProto, opsets: Mapping[str, int], builder: GraphBuilder, place: str) -> None:
    problems: list[str] = []
    for proto in graph.node:
        node = NodeView(proto, _opset_of(proto, opsets), builder)
        problem = _problem(node)
        if problem is not None:
            problems.append(f"{node.describe()}: {problem}")
    if problems:
        count = "1 node is" if len(problems) == 1 else f"{len(problems)} nodes are"
        raise ModelImportError(
            f"{count} not supported: " + "; ".join(problems),
            location=place,
            help="register a converter with xrelay.frontend.onnx.converts",
        )


def _problem(node: NodeView) -> str | None:
    """Why a node cannot be converted, found without converting anything."""
    converter = find_converter(node.proto.op_type, _domain(node.proto), node.opset)
    if converter is None:
        ranges = known_ranges(node.proto.op_type, _domain(node.proto))
        return f"known in opsets {ranges} only" if ranges else "no converter for this op"
    unknown = [name for name in node.attribute_names if name not in converter.attributes]
    if unknown:
        return "attribute " + ", ".join(map(repr, unknown)) + " is not known to the converter"
    return converter.supports(node) if converter.supports is not None else None


def _convert(proto: onnx.NodeProto, opsets: Mapping[str, int], graph: GraphBuilder, whole: onnx.GraphProto) -> None:
    opset = _opset_of(proto, opsets)
    inputs = [_input(name, NodeView(proto, opset, graph), graph, whole) for name in proto.input]
    node = NodeView(proto, opset, graph, inputs)
    folded = fold_node(node)
    if folded is not None:
        for name, array in folded.items():
            graph.define_constant(name, array)
        return
    converter = find_converter(proto.op_type, _domain(proto), opset)
    if converter is None:
        raise node.error("no converter for this op")
    results = converter.convert(node)
    values = [results] if isinstance(results, SSAValue) else list(results)
    wanted = list(proto.output)
    for name in wanted[len(values) :]:
        if name:
            raise node.error(f"output {name!r} is asked for, and the converter gives {len(values)} outputs only")
    for name, value in zip(wanted, values, strict=False):
        if name:
            graph.define(name, value)


def _input(name: str, node: NodeView, graph: GraphBuilder, whole: onnx.GraphProto) -> SSAValue | None:
    if not name:
        return None
    value = graph.values.get(name)
    if value is not None:
        return value
    producer = next((other for other in whole.node if name in other.output), None)
    if producer is None:
        raise node.error(f"input {name!r} is defined nowhere in the model")
    raise node.error(
        f"input {name!r} is used before node {producer.name or producer.op_type!r} computes it",
        help="the graph is cyclic, or its nodes are not in topological order",
    )


def _array(tensor: onnx.TensorProto) -> Array:
    try:
        return onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError) as error:
        raise ModelImportError(
            f"the bytes do not fit its shape and type: {error}", location=f"tensor {tensor.name!r}"
        ) from error


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
    function.attributes["relay.form"] = StringAttr("dataflow")
    return ModuleOp([function])


def _names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    entries: list[dict[str, Attribute]] = [{"relay.name": StringAttr(name)} for name in names]
    return ArrayAttr([DictionaryAttr(entry) for entry in entries])
