"""Conversion of nodes one after the other: those of the model's graph, of the bodies of nodes, and of functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

import onnx
from xdsl.ir import SSAValue

from xrelay.errors import ConstraintError, DimensionError, ModelImportError, TypeInferenceError
from xrelay.frontend.onnx.carried import moves, reads
from xrelay.frontend.onnx.folding import fold_ops, known_arrays
from xrelay.frontend.onnx.functions import (
    MAX_CALLS,
    MAX_NODES,
    has_definition,
    instantiated,
    problem_with_arity,
    standard_function,
)
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.node_list import NodeList, Uses
from xrelay.frontend.onnx.problems import (
    BranchRanksError,
    DependentNodeError,
    MalformedGraphError,
    OutputRanksError,
    ReplacedNodeError,
    UnsupportedNodeError,
    UntypedNodeError,
)
from xrelay.frontend.onnx.registry import ConvertFunction, find_converter, known_ranges
from xrelay.frontend.onnx.spliced import spliced_call

_PROPAGATED_ERRORS = (
    UnsupportedNodeError,
    DependentNodeError,
    MalformedGraphError,
    BranchRanksError,
    ReplacedNodeError,
)
"""Errors of nodes whose cause is not the type of an input."""


class ConversionKind(Enum):
    """How a node is converted."""

    CONVERTER = "converter"
    FUNCTION = "function of the model"
    DEFINITION = "definition of the standard"


def try_convert(
    proto: onnx.NodeProto, graph: GraphBuilder, problems: Iterable[ModelImportError]
) -> ModelImportError | None:
    """Converts a node; returns the reason if it cannot be converted.

    If inputs of the node are missing, only problems that do not depend on its inputs are reported. An undefined value,
    unlike an unsupported node, ends the import, since the rest of such a graph is meaningless.
    """
    bare = NodeView(proto, graph)
    try:
        kind, converter = conversion_of(bare)
    except ModelImportError as error:
        return error
    if any(name in graph.missing for name in proto.input):
        return bare.depends_on_missing()
    inputs = [_input(name, bare, graph, problems) for name in proto.input]
    node = NodeView(proto, graph, inputs)
    foreign = _foreign_type(node) if kind is ConversionKind.CONVERTER else None
    if foreign is not None:
        return node.unsupported(foreign)
    try:
        _convert(node, converter, graph)
    except _PROPAGATED_ERRORS as error:
        return error
    except ModelImportError as error:
        return UntypedNodeError(error.message, location=error.location, help=error.help)
    return None


def report(noted: Iterable[ModelImportError], location: str) -> None:
    """Raises the recorded errors: a single error as it is, several in one message."""
    problems = [problem for problem in noted if not isinstance(problem, DependentNodeError)]
    if not problems:
        return
    unsupported = any(isinstance(problem, UnsupportedNodeError) for problem in problems)
    if len(problems) == 1 and not unsupported:
        only = problems[0]
        raise ModelImportError(only.message, location=only.location, help=only.help) from only
    count = "1 node is" if len(problems) == 1 else f"{len(problems)} nodes are"
    raise ModelImportError(
        f"{count} not supported: " + "; ".join(f"{problem.location}: {problem.message}" for problem in problems),
        location=location,
        help="register a converter with xrelay.extend.converters.converts" if unsupported else None,
    )


def convert_nodes(graph: GraphBuilder, body: onnx.GraphProto, node: NodeView, what: str) -> list[SSAValue]:
    """Converts the nodes of `body`, a graph of `node` called `what`, in `graph`, and returns its outputs.

    Raises `ModelImportError` if one of them cannot be converted.
    """
    problems: list[ModelImportError] = []
    protos = list(graph.needed_nodes.values())
    nodes = NodeList(graph, Uses(protos, [output.name for output in body.output]), try_convert)
    try:
        for proto in protos:
            problem = nodes.convert(proto, problems)
            if problem is not None:
                problems.append(problem)
                graph.missing.update(filter(None, proto.output))
        _report_of_body(node, problems)
        nodes.finish()
    except ModelImportError as error:
        nodes.abandon()
        if not isinstance(error, OutputRanksError):
            raise
        raise OutputRanksError(f"{what}: {error.message}", location=node.describe(), help=error.help) from error
    for output in body.output:
        if output.name not in graph.values:
            raise _malformed(node, f"output {output.name!r} of {what} is not defined")
    return [graph.values[output.name] for output in body.output]


def _report_of_body(node: NodeView, problems: Sequence[ModelImportError]) -> None:
    """Raises the problems of the nodes of a body as an error of `node`."""
    own = [problem for problem in problems if not isinstance(problem, DependentNodeError)]
    if not own:
        if problems:
            raise node.depends_on_missing()
        return
    decided = [problem for problem in own if not isinstance(problem, UnsupportedNodeError)]
    if decided:
        raise min(decided, key=lambda problem: isinstance(problem, UntypedNodeError))
    raise node.unsupported("; ".join(f"{problem.location}: {problem.message}" for problem in own))


def conversion_of(node: NodeView) -> tuple[ConversionKind, ConvertFunction]:
    """Returns how a node is converted, and the function that converts it, without converting anything.

    Raises `UnsupportedNodeError` with the reason if the node is unsupported, and `ModelImportError` for a node with
    more inputs or outputs than its op has, or with a duplicate attribute.

    A function of the model takes precedence over xrelay's converters, since it defines the op for this model.
    Definitions of the standard come last.
    """
    wrong = _problem_with_attributes(node.proto)
    if wrong is not None:
        raise node.error(wrong)
    op_type, domain = node.proto.op_type, node.domain
    function = node.graph.functions.get(node.proto)
    converter = find_converter(op_type, domain, node.opset)
    if function is not None and (converter is None or converter.is_ours):
        return ConversionKind.FUNCTION, lambda node: _call(node, function, {})
    if converter is None and has_definition(op_type, domain, node.opset):
        return ConversionKind.DEFINITION, _call_standard
    if converter is None:
        ranges = known_ranges(op_type, domain)
        if ranges and node.opset == 0:
            raise node.unsupported(f"the model has no opset import of the domain {domain or 'ai.onnx'!r}")
        raise node.unsupported(f"supported in opsets {ranges} only" if ranges else "no converter for this op")
    arity = problem_with_arity(node.proto, domain, node.opset) if converter.is_ours else None
    if arity is not None:
        raise node.error(arity)
    unknown = [name for name in node.attribute_names if name not in converter.attributes]
    if unknown:
        raise node.unsupported("attribute " + ", ".join(map(repr, unknown)) + " is not supported by the converter")
    reason = converter.supports(node) if converter.supports is not None else None
    if reason is not None:
        raise node.unsupported(reason)
    return ConversionKind.CONVERTER, converter.convert


def _problem_with_attributes(proto: onnx.NodeProto) -> str | None:
    """Returns the problem with an attribute: a duplicate, or a reference to a function's attribute outside of one."""
    names = Counter(attribute.name for attribute in proto.attribute)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        return f"attribute {twice!r} occurs {names[twice]} times"
    loose = next((each for each in proto.attribute if each.ref_attr_name), None)
    if loose is None:
        return None
    return f"attribute {loose.name!r} refers to {loose.ref_attr_name!r} of a function, but the node is not in one"


def _call_standard(node: NodeView) -> list[SSAValue | None]:
    """Converts `node` by the standard's definition of its op."""
    function = standard_function(node.proto, node.opset, node.inputs)
    return _call(node, function, {"": node.graph.opset("")})


def call_definition(node: NodeView, opset: int) -> list[SSAValue | None]:
    """Converts a node of another domain by the standard's definition, in `opset`, of the op with the same name."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.domain = ""
    function = standard_function(proto, opset, node.inputs)
    return _call(NodeView(proto, node.graph, node.inputs), function, {"": opset})


def _call(node: NodeView, function: onnx.FunctionProto, opsets: Mapping[str, int]) -> list[SSAValue | None]:
    """Inlines `function` at `node`; `opsets` are the opsets of domains that it does not import."""
    graph, name = node.graph, f"{function.domain}::{function.name}:{function.overload}"
    if name in graph.calls:
        raise node.error(f"the function {function.name!r} calls itself", help="ONNX has no recursive functions")
    if len(graph.calls) >= MAX_CALLS:
        raise node.error(f"functions call each other more than {MAX_CALLS} deep")
    if not graph.functions.count(function):
        raise node.error(f"the expanded functions of the model have more than {MAX_NODES:,} nodes")
    body = instantiated(function, node.proto, node.name, node.outputs)
    imported = {entry.domain: int(entry.version) for entry in function.opset_import}
    inner = graph.called(body, name, {**opsets, **imported})
    given = [value for value in node.inputs if value is not None]
    for formal, value in zip(body.input, given, strict=True):
        inner.values[formal.name] = value
    wanted = node.outputs[: len(function.output)]
    try:
        results = iter(convert_nodes(inner, body, node, f"the function {function.name!r}"))
    except OutputRanksError as error:
        if any(graph.opset(domain) != version for domain, version in imported.items()):
            raise
        nodes = spliced_call(node.proto, body, list(filter(None, wanted)))
        raise ReplacedNodeError(nodes, node.describe()) from error
    return [next(results) if name else None for name in wanted]


def _foreign_type(node: NodeView) -> str | None:
    """Returns the reason if an input has an element type that relay lacks and the converter cannot process."""
    carried, op_type = node.graph.carried, node.proto.op_type
    for index, value in enumerate(node.inputs):
        dtype = carried.of(value)
        if dtype is not None and not reads(op_type, index):
            return f"input #{index} is of {dtype}, which is supported only in moves, conversions and dequantisation"
    return None


def _convert(node: NodeView, convert: ConvertFunction, graph: GraphBuilder) -> None:
    last, begun = graph.block.last_op, len(graph.blocks)
    try:
        named = _results(node, convert)
    except ModelImportError as error:
        condition = error.condition.owner if isinstance(error, BranchRanksError) else None
        kept = next((op for op in graph.ops_after(last) if op is condition), last)
        graph.undo(kept, begun)
        raise
    del graph.blocks[begun:]
    if node.inputs and moves(node.proto.op_type):
        for value in named.values():
            graph.carried.note(value, graph.carried.of(node.inputs[0]))
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
    for (name, value), array in zip(named.items(), folded, strict=True):
        graph.define_constant(name, array)
        graph.carried.note(graph.values[name], graph.carried.of(value))


def _results(node: NodeView, convert: ConvertFunction) -> dict[str, SSAValue]:
    """Returns the outputs of a node by name, without those that no node reads."""
    try:
        results = convert(node)
    except (ConstraintError, DimensionError, TypeInferenceError) as error:
        raise node.error(error.message, help=error.help) from error
    except ModelImportError as error:
        raise error if error.location is not None else node.error(error.message, help=error.help) from error
    values = [results] if isinstance(results, SSAValue) else list(results)
    wanted = node.outputs
    for name in wanted[len(values) :]:
        if name:
            raise node.error(f"output {name!r} is used, but the converter returns only {len(values)} outputs")
    return {name: value for name, value in zip(wanted, values, strict=False) if name and value is not None}


def _input(name: str, node: NodeView, graph: GraphBuilder, problems: Iterable[ModelImportError]) -> SSAValue | None:
    if not name:
        return None
    value = graph.values.get(name)
    if value is not None:
        return value
    report(problems, graph.location)
    raise _malformed(node, f"input {name!r} is not defined in the model")


def _malformed(node: NodeView, message: str) -> MalformedGraphError:
    return MalformedGraphError(message, location=node.describe())
