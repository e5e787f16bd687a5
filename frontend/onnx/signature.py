"""The model's inputs as typed relay arguments: fixed shapes, named dimensions, and shapes that the caller overrides."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
import onnx
from xdsl.dialects.builtin import TensorType, UnrankedTensorType
from xdsl.ir import Attribute

from xrelay.arguments import Extent
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import OptionalType, SequenceType, shape_of, tensor_type, with_dims
from xrelay.errors import ModelImportError, TypeInferenceError, did_you_mean, printable
from xrelay.frontend.onnx.carried import bits_of, carrier_of
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, is_dim_name, symbol

CAST_INSIDE = "declare FLOAT or INT8 here, and convert with a Cast node in the model"
"""Help for inputs and outputs whose element type relay lacks."""

_LOG = logging.getLogger(__name__)
_OTHER_CHARACTER: Final = re.compile("[^0-9A-Za-z]")


def graph_inputs(graph: onnx.GraphProto, chosen: Collection[str] = ()) -> list[onnx.ValueInfoProto]:
    """Returns the inputs that the caller must pass: those without an initializer, and those in `chosen`."""
    supplied = {tensor.name for tensor in graph.initializer}
    supplied |= {tensor.values.name for tensor in graph.sparse_initializer}
    return [value for value in graph.input if value.name in chosen or value.name not in supplied]


def check_names(what: str, given: Mapping[str, object], inputs: Sequence[onnx.ValueInfoProto]) -> None:
    """Raises an error for a name in the argument called `what` that is not an input of the model."""
    names = [value.name for value in inputs]
    for name in given:
        if name not in names:
            hint = did_you_mean(name, names, "the inputs are " + ", ".join(map(repr, names)))
            raise ModelImportError(f"{what} names {name!r}, which is not an input of the model", help=hint)


def input_type(value: onnx.ValueInfoProto, override: Sequence[Extent] | None, dtype: str | None = None) -> Attribute:
    """Returns the type of a graph input; `override` has its dimensions, `dtype` its element type if it has none.

    A name in `override` makes a dimension dynamic, also if the model has a number.

    Raises `ModelImportError` for a tensor without a shape, for a type that `value_type` refuses, and for an input that
    contradicts `override`.
    """
    location = f"input {value.name!r}"
    if not value.type.HasField("tensor_type"):
        return value_type(value.type, location, override)
    return _tensor(value.type.tensor_type, override, dtype, location)


def value_type(type: onnx.TypeProto, location: str, override: Sequence[Extent] | None = None) -> Attribute:
    """Returns the type of a tensor, a sequence or an optional; extents of tensors in containers have no names.

    `override` has the dimensions of the tensor, or of every tensor in the container. Without a shape in the model,
    tensors in containers have any rank.

    Raises `ModelImportError` about `location` for a type of another kind, and for a tensor without a shape.
    """
    containers: list[Callable[[Attribute], Attribute]] = []
    while type.HasField("sequence_type") or type.HasField("optional_type"):
        is_sequence = type.HasField("sequence_type")
        containers.append(SequenceType if is_sequence else OptionalType)
        type = type.sequence_type.elem_type if is_sequence else type.optional_type.elem_type
    if not type.HasField("tensor_type"):
        raise ModelImportError("only tensors, sequences and optionals of them are supported", location=location)
    if containers and override is None and not type.tensor_type.HasField("shape"):
        result = UnrankedTensorType(_element_type(type.tensor_type.elem_type, None, location))
    else:
        result = _tensor(type.tensor_type, override, None, location)
    if containers:
        result = with_dims(result, lambda _: ANY)
    for container in reversed(containers):
        result = container(result)
    return result


def _tensor(
    tensor: onnx.TypeProto.Tensor, override: Sequence[Extent] | None, dtype: str | None, location: str
) -> Attribute:
    element = _element_type(tensor.elem_type, dtype, location)
    if not tensor.HasField("shape"):
        if override is None:
            raise ModelImportError("the model has no shape for it", location=location, help="pass it in shapes={…}")
        return tensor_type([_chosen(extent, location) for extent in override], element)
    declared = [_dim(dim) for dim in tensor.shape.dim]
    return tensor_type(_overridden(declared, override, location), element)


def _element_type(number: int, dtype: str | None, location: str) -> Attribute:
    if number == onnx.TensorProto.UNDEFINED and dtype is not None:
        return element_type(dtype)
    try:
        return element_type(numpy_type(number))
    except ModelImportError as error:
        raise ModelImportError(error.message, location=location, help=error.help) from error


def numpy_type(number: int) -> np.dtype[Any]:
    """Returns the dtype of ONNX's element type `number`; raises `ModelImportError` if relay lacks it."""
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(number)
    except KeyError as error:
        raise ModelImportError(f"element type {type_name(number)} is not supported") from error
    try:
        element_type(dtype)
    except TypeInferenceError as error:
        help = None if carrier_of(dtype) is None else CAST_INSIDE
        raise ModelImportError(f"element type {type_name(number)} is not supported", help=help) from error
    return dtype


def stored_bytes(tensor: onnx.TensorProto) -> int:
    """Returns the size in bytes of a tensor in a file; raises `ModelImportError` for an unknown element type."""
    count = prod(tensor.dims)
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    except KeyError as error:
        raise ModelImportError(f"element type {type_name(tensor.data_type)} is not supported") from error
    if carrier_of(dtype) is None:
        return count * numpy_type(tensor.data_type).itemsize
    return -(-count * bits_of(dtype) // 8)


def check_declared(output: onnx.ValueInfoProto, found: Attribute) -> None:
    """Checks the declared type of an output against the type of its value.

    Another element type is a `ModelImportError`; other extents only log a warning, since exporters are careless there.
    """
    declared = output.type.tensor_type
    if not isinstance(found, TensorType) or declared.elem_type == onnx.TensorProto.UNDEFINED:
        return
    location = f"output {output.name!r}"
    element = _element_type(declared.elem_type, None, location)
    if element != found.element_type:
        raise ModelImportError(
            f"the model declares {type_name(declared.elem_type)}, its graph has {found.element_type}", location=location
        )
    given = shape_of(found)
    sizes = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in declared.shape.dim]
    declared_shape = [size if size >= 0 else None for size in sizes]
    fits = len(declared_shape) == len(given) and all(
        one is None or not isinstance(other, int) or one == other
        for one, other in zip(declared_shape, given, strict=True)
    )
    if declared.HasField("shape") and not fits:
        shapes = (
            ", ".join("?" if extent is None else str(extent) for extent in shape) for shape in (declared_shape, given)
        )
        _LOG.warning("%s: the model declares the shape [%s], its graph has [%s]", *map(printable, (location, *shapes)))


def declared_types(model: onnx.ModelProto) -> dict[str, Attribute]:
    """Returns the types of values by name: those that the model declares, and those that onnx infers from them."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model)
    except (onnx.shape_inference.InferenceError, ValueError, RuntimeError):
        inferred = model
    types: dict[str, Attribute] = {}
    for value in (*inferred.graph.value_info, *inferred.graph.output):
        try:
            types[value.name] = input_type(value, None)
        except ModelImportError:
            continue
    return types


def names_by_position(value: onnx.ValueInfoProto) -> list[str]:
    """Returns the names of the extents of an input after input and axis, as `x_0`; none if no name can be made."""
    stem, rank = identifier(value.name), len(value.type.tensor_type.shape.dim)
    return [] if stem is None else [f"{stem}_{axis}" for axis in range(rank)]


def name_by_position(type: Attribute, name: str, wanted: set[str]) -> Attribute:
    """Returns the type of input `name`, with unnamed extents named after input and axis: `x_0`.

    Only names in `wanted` are used, and are removed from it, so that no other input gets them.
    """
    stem = identifier(name)
    if stem is None or not isinstance(type, TensorType):
        return type
    dims: list[Dim] = []
    for axis, dim in enumerate(shape_of(type)):
        indexed = f"{stem}_{axis}"
        is_wanted = isinstance(dim, AnyDim) and indexed in wanted
        dims.append(symbol(indexed) if is_wanted else dim)
        if is_wanted:
            wanted.remove(indexed)
    return tensor_type(dims, type.element_type)


def type_name(elem_type: int) -> str:
    """Returns ONNX's name of an element type, or its number if it has none."""
    names = {number: name for name, number in onnx.TensorProto.DataType.items()}
    return names.get(elem_type, str(elem_type))


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    name = identifier(dim.dim_param) if dim.dim_param else None
    if name is None:
        return ANY
    return symbol(name if is_dim_name(name) else f"{name}_")


def _overridden(declared: Sequence[Dim], override: Sequence[Extent] | None, location: str) -> Sequence[Dim]:
    if override is None:
        return declared
    if len(override) != len(declared):
        raise ModelImportError(
            f"shapes has {len(override)} dimensions, the model has {len(declared)}", location=location
        )
    for axis, (known, given) in enumerate(zip(declared, override, strict=True)):
        if isinstance(known, int) and isinstance(given, int) and known != given:
            raise ModelImportError(f"shapes has {given} for dimension {axis}, the model has {known}", location=location)
    return [_chosen(extent, location) for extent in override]


def _chosen(extent: Extent, location: str) -> Dim:
    """Returns an extent in `shapes` as a dimension."""
    if isinstance(extent, str):
        if not is_dim_name(extent):
            raise ModelImportError(f"shapes has {extent!r}, which is not a name of a dimension", location=location)
        return symbol(extent)
    if extent < 0:
        raise ModelImportError(f"shapes has the negative dimension {extent}", location=location)
    return extent


def identifier(name: str) -> str | None:
    """Returns `name` with characters that SSA names cannot contain replaced by `_`; `None` if no character is left."""
    text = _OTHER_CHARACTER.sub("_", name).strip("_")
    return f"v{text}" if text[:1].isdigit() else text or None
