"""Ops that are defined by other ops: functions in a model, and definitions of ops in the ONNX standard.

`instantiated` returns the graph of a call. A function cannot read values of the calling graph: it has its own names and
its own opsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol, cast

import onnx
from onnx import AttributeProto
from onnx.defs import OpSchema
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import ModelImportError, TypeInferenceError
from xrelay.frontend.onnx.needed import bodies_of

MAX_CALLS = 64
"""The maximum depth of calls of functions."""

MAX_NODES = 1_000_000
"""The maximum number of nodes after inlining: thirty functions that each call the next one twice have a billion."""


_LAST_OPSET = 2**31 - 1
"""The largest opset that onnx's interface accepts."""


class _Definitions(Protocol):
    """Methods of `OpSchema` that onnx's type stubs lack."""

    function_opset_versions: list[int]
    context_dependent_function_opset_versions: list[int]

    def get_function_with_opset_version(self, version: int) -> bytes: ...

    def get_context_dependent_function_with_opset_version(
        self, version: int, node: bytes, types: Sequence[bytes]
    ) -> bytes: ...


class ModelFunctions:
    """The functions of a model by domain, name and overload, and the number of nodes inlined so far."""

    def __init__(self, model: onnx.ModelProto | None = None):
        listed = () if model is None else model.functions
        self._functions = {_key(function): function for function in listed}
        self._nodes = 0
        self._totals: dict[tuple[str, str, str], int] = {}

    def get(self, node: onnx.NodeProto) -> onnx.FunctionProto | None:
        """Returns the function that `node` calls, or `None`."""
        return self._functions.get((node.domain, node.op_type, node.overload))

    def count(self, function: onnx.FunctionProto) -> bool:
        """Counts the nodes of a call; returns whether the total so far, and that of this call, is within the limit."""
        self._nodes += len(function.node)
        return self._nodes <= MAX_NODES and self._total(function) <= MAX_NODES

    def _total(self, function: onnx.FunctionProto) -> int:
        """The number of nodes that a call expands to, computed without inlining; a recursive call counts once more."""
        pending, totals = [function], self._totals
        while pending:
            current = pending[-1]
            nodes = list(_all_nodes(current))
            called = [callee for node in nodes if (callee := self.get(node)) is not None]
            missing = {_key(each): each for each in called if _key(each) not in totals}
            if _key(current) not in totals and missing:
                totals[_key(current)] = 0
                pending += missing.values()
                continue
            totals[_key(current)] = len(nodes) + sum(totals[_key(each)] for each in called)
            pending.pop()
        return totals[_key(function)]


def _key(function: onnx.FunctionProto) -> tuple[str, str, str]:
    return function.domain, function.name, function.overload


def _all_nodes(function: onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """The nodes of a function, including those in bodies of nodes."""
    pending = list(function.node)
    while pending:
        node = pending.pop()
        yield node
        for body in bodies_of(node):
            pending += body.node


def has_definition(op_type: str, domain: str, opset: int) -> bool:
    """Returns whether the standard defines an op by others in this opset."""
    schema = _schema(op_type, domain, opset)
    return schema is not None and bool(_versions(schema, opset))


def standard_function(node: onnx.NodeProto, opset: int, inputs: Sequence[SSAValue | None]) -> onnx.FunctionProto:
    """Returns the standard's definition of the op of `node` for inputs of these types.

    Raises `ModelImportError` if the node does not conform to the op, or the standard has no definition for its inputs
    and attributes.
    """
    domain = "" if node.domain == "ai.onnx" else node.domain
    schema = _schema(node.op_type, domain, opset)
    if schema is None:
        raise ModelImportError(f"the standard has no {node.op_type} in opset {opset}")
    _check_against(schema, node)
    version, definitions = max(_versions(schema, opset)), cast(_Definitions, schema)
    try:
        if version in definitions.context_dependent_function_opset_versions:
            types = [_type(value).SerializeToString() for value in inputs]
            data = definitions.get_context_dependent_function_with_opset_version(
                version, node.SerializeToString(), types
            )
        else:
            data = definitions.get_function_with_opset_version(version)
    except (RuntimeError, ValueError) as error:
        raise ModelImportError(
            f"the definition in the standard does not apply: {' '.join(str(error).split())}"
        ) from error
    if not data:
        raise ModelImportError("the standard expands the op only for other inputs and attributes")
    function = onnx.FunctionProto()
    function.ParseFromString(data)
    defaults = (formal.default_value for formal in schema.attributes.values())
    function.attribute_proto.extend(default for default in defaults if default.name)
    return function


def problem_with_arity(node: onnx.NodeProto, domain: str, opset: int) -> str | None:
    """Returns the error if a node has more inputs or outputs than its op; `None` if the standard lacks the op."""
    schema = _schema(node.op_type, domain, opset)
    if schema is None:
        return None
    inputs, outputs = (
        max((i for i, name in enumerate(names, 1) if name), default=0) for names in (node.input, node.output)
    )
    if inputs > schema.max_input:
        return f"got {inputs} inputs, {node.op_type} has at most {schema.max_input}"
    if outputs > schema.max_output:
        return f"got {outputs} outputs, {node.op_type} has at most {schema.max_output}"
    return None


@lru_cache(maxsize=1024)
def _schema(op_type: str, domain: str, opset: int) -> OpSchema | None:
    try:
        return onnx.defs.get_schema(op_type, min(max(opset, 0), _LAST_OPSET), domain)
    except onnx.defs.SchemaError:
        return None


def _versions(schema: OpSchema, opset: int) -> list[int]:
    """The opsets, up to `opset`, in which the op has a definition."""
    definitions = cast(_Definitions, schema)
    written = [*definitions.function_opset_versions, *definitions.context_dependent_function_opset_versions]
    return [version for version in written if version <= opset]


def _check_against(schema: OpSchema, node: onnx.NodeProto) -> None:
    """Checks the number of inputs and the attributes of a node, which onnx's definitions do not check."""
    given, least, most = len(node.input), schema.min_input, schema.max_input
    required = OpSchema.FormalParameterOption.Single
    options = [formal.option for formal in schema.inputs]
    missing = [formal for formal, name in zip(options, node.input, strict=False) if formal == required and not name]
    if missing or not least <= given <= most:
        raise ModelImportError(f"got {given} inputs, {node.op_type} has {least} to {most}")
    attributes = {attribute.name: attribute for attribute in node.attribute}
    for name, attribute in attributes.items():
        formal = schema.attributes.get(name)
        if formal is None:
            raise ModelImportError(f"{node.op_type} has no attribute {name!r}")
        found, expected = AttributeProto.AttributeType.Name(attribute.type), str(formal.type).rpartition(".")[2]
        if found != expected:
            raise ModelImportError(f"attribute {name!r} must be of type {expected}, found {found}")
    for name, formal in schema.attributes.items():
        if formal.required and name not in attributes:
            raise ModelImportError(f"attribute {name!r} is missing")


def _type(value: SSAValue | None) -> onnx.TypeProto:
    """The type of a value as an ONNX type; an empty type for an absent input."""
    if value is None:
        return onnx.TypeProto()
    if not isinstance(value.type, TensorType):
        raise ModelImportError(f"the inputs must be tensors, found {value.type}")
    try:
        number = onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(element_type_of(value.type)))
    except (KeyError, ValueError, TypeInferenceError) as error:
        raise ModelImportError(f"ONNX has no element type for {value.type}") from error
    shape = [extent if isinstance(extent, int) else None for extent in shape_of(value.type)]
    return onnx.helper.make_tensor_type_proto(number, shape)


def instantiated(
    function: onnx.FunctionProto, call: onnx.NodeProto, name: str, wanted: Sequence[str]
) -> onnx.GraphProto:
    """Returns the graph of `call`, with its attributes substituted and absent inputs removed.

    The graph has the present inputs, and the outputs whose name in `wanted` is not empty. The names of its nodes begin
    with `name`, that of the call. Raises `ModelImportError` for inputs and attributes that the function does not have.
    """
    if len(call.input) > len(function.input):
        raise ModelImportError(f"got {len(call.input)} inputs, the function has {len(function.input)}")
    defaults = {attribute.name: attribute for attribute in function.attribute_proto}
    given = {attribute.name: attribute for attribute in call.attribute}
    unknown = [attribute for attribute in given if attribute not in {*function.attribute, *defaults}]
    if unknown:
        raise ModelImportError("the function has no attribute " + ", ".join(map(repr, unknown)))
    present = [formal for formal, actual in zip(function.input, call.input, strict=False) if actual]
    graph = onnx.GraphProto(name=function.name)
    graph.input.extend(onnx.ValueInfoProto(name=formal) for formal in present)
    outputs = zip(function.output, wanted, strict=False)
    graph.output.extend(onnx.ValueInfoProto(name=formal) for formal, actual in outputs if actual)
    graph.node.extend(function.node)
    _fill_in(graph, defaults | given, set(function.input) - set(present))
    for node in graph.node:
        inner = node.name or next((output for output in node.output if output), node.op_type)
        node.name = f"{name}/{inner}"
    return graph


def _fill_in(graph: onnx.GraphProto, attributes: dict[str, AttributeProto], absent: set[str]) -> None:
    """Replaces references to attributes of the call, and clears the inputs in `absent`, also in nested graphs."""
    pending = [graph]
    while pending:
        for node in pending.pop().node:
            for index, name in enumerate(node.input):
                if name in absent:
                    node.input[index] = ""
            if any(attribute.ref_attr_name for attribute in node.attribute):
                _resolve(node, attributes)
            pending += [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def _resolve(node: onnx.NodeProto, attributes: dict[str, AttributeProto]) -> None:
    """Replaces references by the attributes of the call; an attribute that the call lacks is removed."""
    resolved: list[AttributeProto] = []
    for attribute in node.attribute:
        value = attributes.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if value is None:
            continue
        copy = AttributeProto()
        copy.CopyFrom(value)
        copy.name = attribute.name
        resolved.append(copy)
    del node.attribute[:]
    node.attribute.extend(resolved)
