"""The inputs, outputs and metadata that a model declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import onnx

from xrelay.arguments import Shapes
from xrelay.runtime.metadata import OPEN, SEQUENCE, TensorSpec

NO_VERSION: Final = (1 << 63) - 1
"""The version of a model that declares none."""
_ELEMENT_TYPES: Final = {number: name.lower() for name, number in onnx.TensorProto.DataType.items()}


@dataclass(frozen=True, slots=True)
class NodeArg:
    """An input or output: its name, its type such as `tensor(float)`, and its shape.

    A dynamic extent is its name, or `None` if it has none. The shape of a list is empty.
    """

    name: str
    type: str
    shape: list[int | str | None]


@dataclass(frozen=True, slots=True)
class ModelMetadata:
    """The description of a model by its producer."""

    producer_name: str = ""
    graph_name: str = ""
    domain: str = ""
    description: str = ""
    graph_description: str = ""
    version: int = NO_VERSION
    custom_metadata_map: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Signature:
    """The declarations of a model. An overridable initializer is a weight that is also listed as an input."""

    inputs: list[NodeArg]
    outputs: list[NodeArg]
    overridable_initializers: list[NodeArg]
    metadata: ModelMetadata
    zip_keys: dict[str, list[int | str]] = field(default_factory=dict[str, list[int | str]])
    """For each output that is a list of dictionaries, their keys."""
    texts: list[str] = field(default_factory=list[str])
    """The texts whose indices are the elements of outputs of texts."""
    unshaped: frozenset[str] = frozenset()
    """The outputs without a declared shape."""

    def with_known_outputs(self, specs: Sequence[TensorSpec]) -> Signature:
        """Returns the signature with the static extents of `specs` for dynamic extents of outputs.

        Outputs that do not declare a shape or a type have those of `specs`.
        """
        known = {spec.name: node_arg_of(spec) for spec in specs}
        return replace(self, outputs=[self._known_output(each, known.get(each.name, each)) for each in self.outputs])

    def _known_output(self, declared: NodeArg, known: NodeArg) -> NodeArg:
        if declared.name in self.unshaped:
            return replace(known, type=declared.type if declared.type else known.type)
        if len(declared.shape) != len(known.shape):
            return declared
        pairs = zip(declared.shape, known.shape, strict=True)
        shape = [found if isinstance(found, int) else extent for extent, found in pairs]
        return replace(declared, shape=shape)


@dataclass(frozen=True, slots=True)
class FixedSizes:
    """Sizes of dynamic dimensions by name and by denotation."""

    by_name: Mapping[str, int]
    by_denotation: Mapping[str, int]

    def extent(self, dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
        """Returns the extent of a declared dimension."""
        if dim.HasField("dim_value"):
            return int(dim.dim_value) if dim.dim_value >= 0 else None
        size = self.by_name.get(dim.dim_param, self.by_denotation.get(dim.denotation))
        return size if size is not None else dim.dim_param if dim.dim_param else None

    def shapes(self, graph: onnx.GraphProto) -> Shapes:
        """Returns these sizes as `shapes=` of `xrelay.compile`.

        An input without further dynamic extents has its shape, and other dimensions have their size.
        """
        found: Shapes = {}
        for value in graph.input:
            dims = value.type.tensor_type.shape.dim
            extents = [self.extent(dim) for dim in dims]
            fixed = [(dim, size) for dim, size in zip(dims, extents, strict=True) if not dim.HasField("dim_value")]
            if all(isinstance(size, int) for _, size in fixed):
                found |= {value.name: tuple(size for size in extents if isinstance(size, int))} if fixed else {}
            else:
                found |= {dim.dim_param: (size,) for dim, size in fixed if isinstance(size, int)}
        return found


def signature_of(model: onnx.ModelProto, sizes: FixedSizes) -> Signature:
    """Returns the signature of an ONNX model, whose extents are replaced by `sizes`."""
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    weights |= {tensor.values.name for tensor in graph.sparse_initializer}
    inputs = [_node_arg(value, sizes) for value in graph.input]
    return Signature(
        [each for each in inputs if each.name not in weights],
        [_node_arg(value, sizes) for value in graph.output],
        [each for each in inputs if each.name in weights],
        ModelMetadata(
            model.producer_name,
            graph.name,
            model.domain,
            model.doc_string,
            graph.doc_string,
            model.model_version if model.HasField("model_version") else NO_VERSION,
            {entry.key: entry.value for entry in model.metadata_props},
        ),
        _zip_keys(graph),
        unshaped=frozenset(value.name for value in graph.output if not _has_shape(value)),
    )


def compiled_signature(name: str, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> Signature:
    """Returns the signature of a compiled model."""
    return Signature(
        [node_arg_of(spec) for spec in inputs],
        [node_arg_of(spec) for spec in outputs],
        [],
        ModelMetadata(graph_name=name),
    )


def node_arg_of(spec: TensorSpec) -> NodeArg:
    """Returns the declaration of an input or output of a compiled model."""
    opened = ["seq(" if container == SEQUENCE else "optional(" for container in spec.containers]
    shape = [] if "seq(" in opened else [None if extent == OPEN else extent for extent in spec.shape]
    return NodeArg(spec.name, _nested(opened, tensor_type(spec.numpy_dtype)), shape)


def tensor_type(dtype: np.dtype[Any]) -> str:
    """Returns the type of tensors of a dtype, such as `tensor(float)` of `float32`."""
    return f"tensor({_element(onnx.helper.np_dtype_to_tensor_dtype(dtype))})"


def _node_arg(value: onnx.ValueInfoProto, sizes: FixedSizes) -> NodeArg:
    type, opened = value.type, list[str]()
    while (kind := type.WhichOneof("value")) in ("sequence_type", "optional_type", "map_type"):
        if kind == "map_type":
            opened.append(f"map({_element(type.map_type.key_type)},")
            type = type.map_type.value_type
        else:
            opened.append("seq(" if kind == "sequence_type" else "optional(")
            type = type.sequence_type.elem_type if kind == "sequence_type" else type.optional_type.elem_type
    if kind != "tensor_type":
        return NodeArg(value.name, _nested(opened, kind if kind is not None else ""), [])
    dims = type.tensor_type.shape.dim if set(opened) <= {"optional("} else ()
    inner = f"tensor({_element(type.tensor_type.elem_type)})"
    return NodeArg(value.name, _nested(opened, inner), [sizes.extent(dim) for dim in dims])


def _zip_keys(graph: onnx.GraphProto) -> dict[str, list[int | str]]:
    """Returns the keys of the dictionaries in each output of a ZipMap."""
    found: dict[str, list[int | str]] = {}
    for node in graph.node:
        if node.op_type == "ZipMap" and node.domain == "ai.onnx.ml":
            keys = [[*attribute.ints, *(each.decode() for each in attribute.strings)] for attribute in node.attribute]
            found[node.output[0]] = [key for each in keys for key in each]
    return found


def _has_shape(value: onnx.ValueInfoProto) -> bool:
    """Whether a value has a declared type, and if it is a tensor, a declared shape."""
    kind = value.type.WhichOneof("value")
    return kind is not None and (kind != "tensor_type" or value.type.tensor_type.HasField("shape"))


def _nested(opened: Sequence[str], inner: str) -> str:
    return "".join(opened) + inner + ")" * len(opened)


def _element(type: int) -> str:
    return _ELEMENT_TYPES.get(type, str(type))
