"""An ONNX model as a relay module: one `@main` in dataflow form, located at its source nodes.

The nodes are converted in the order the file gives, which ONNX requires to be topological. One that cannot be
converted does not end the import: what depends on it is left out, the rest is still looked at, and in the end all such
nodes are reported together. A node whose inputs are all small constants (shape arithmetic) is converted like any other,
and the relay interpreter evaluates what it became on the spot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xrelay.arguments import checked_shapes
from xrelay.dialects.attribute_names import FORM, VALUE_NAME
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.errors import ConstraintError, ModelImportError, TypeInferenceError, XRelayError
from xrelay.frontend.onnx import converters
from xrelay.frontend.onnx.folding import fold_ops, known_arrays
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.known_containers import without_containers
from xrelay.frontend.onnx.load import ModelSource, load_model
from xrelay.frontend.onnx.node import DependentNodeError, NodeView, UnsupportedNodeError
from xrelay.frontend.onnx.registry import Converter, find_converter, known_ranges
from xrelay.frontend.onnx.signature import check_names, declared_types, graph_inputs, input_type
from xrelay.frontend.onnx.tensors import tensor_array


def import_onnx(source: ModelSource, *, shapes: Mapping[str, Sequence[int]] | None = None) -> ModuleOp:
    """Returns the relay module of an ONNX model.

    `shapes` fixes the shapes of inputs by name. The function is `@main`; its arguments and results carry the model's
    names in `relay.name`. Raises `ModelImportError`: unreadable or truncated file, unsupported nodes (all of them in
    one message), ill-formed graph (cycle, undefined value), illegal attribute, shape mismatch.
    """
    return ModelImport(source, shapes=shapes).module()


class ModelImport:
    """A model whose nodes have been converted, as far as they could be.

    `problems` holds the errors of nodes by their number in the graph. `assume_types` goes on after a node that is not
    converted: its outputs become values of the types that the model declares or that follow from them.
    """

    def __init__(
        self,
        source: ModelSource,
        *,
        shapes: Mapping[str, Sequence[int]] | None = None,
        dtypes: Mapping[str, str] | str | None = None,
        opset: int | None = None,
        assume_types: bool = False,
    ):
        converters.load()
        self.model, self.place = load_model(source)
        self.inputs = graph_inputs(self.model.graph)
        given = checked_shapes(shapes)
        check_names("shapes", given, self.inputs)
        if isinstance(dtypes, Mapping):
            check_names("dtype", dtypes, self.inputs)
        types = [input_type(value, given.get(value.name), _dtype_of(value, dtypes)) for value in self.inputs]
        self.graph = GraphBuilder(Block(arg_types=types), self.model, self.place, opset)
        self.problems: dict[int, ModelImportError] = {}
        self._assumed = declared_types(self.model) if assume_types else {}
        self._convert_nodes()

    def _convert_nodes(self) -> None:
        for value, argument in zip(self.inputs, self.graph.block.args, strict=True):
            self.graph.define(value.name, argument)
        for tensor in self.model.graph.initializer:
            _define_initializer(tensor, self.graph)
        for number, proto in enumerate(self.model.graph.node):
            error = _try_convert(proto, self.graph, self.problems.values())
            if error is not None:
                self.problems[number] = error
                self._leave_out(proto)

    def _leave_out(self, proto: onnx.NodeProto) -> None:
        """Mark the outputs of a node as missing, or assume values of their types."""
        for name in filter(None, proto.output):
            assumed = self._assumed.get(name)
            if assumed is None or name in self.graph.values:
                self.graph.missing.add(name)
            else:
                self.graph.define(name, self.graph.block.insert_arg(assumed, len(self.graph.block.args)))

    def module(self) -> ModuleOp:
        """Returns the module; raises what was wrong with the nodes."""
        _report(self.problems.values(), self.place)
        return _module(self.model.graph, self.inputs, self.graph)

    def weights(self) -> dict[str, SSAValue]:
        """Returns the initializers that the converted graph reads, by name."""
        values = {tensor.name: self.graph.values[tensor.name] for tensor in self.model.graph.initializer}
        return {name: value for name, value in values.items() if value.uses}


def _dtype_of(value: onnx.ValueInfoProto, dtypes: Mapping[str, str] | str | None) -> str | None:
    return dtypes if isinstance(dtypes, str) or dtypes is None else dtypes.get(value.name)


def _define_initializer(tensor: onnx.TensorProto, graph: GraphBuilder) -> None:
    try:
        graph.define_constant(tensor.name, tensor_array(tensor))
    except XRelayError as error:
        raise ModelImportError(error.message, location=f"tensor {tensor.name!r}", help=error.help) from error


def _try_convert(
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


def _report(noted: Iterable[ModelImportError], place: str) -> None:
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
    except (ConstraintError, TypeInferenceError) as error:
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
        held = without_containers(value)
        results.append(held[0] if len(held) == 1 else builder.insert(TupleOp.call(*held), output.name).results[0])
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
