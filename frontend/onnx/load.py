"""Reads ONNX models from paths, bytes and memory, and refuses anything else."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import onnx
from google.protobuf.message import DecodeError

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.external_data import load_external_data
from xrelay.frontend.onnx.model_bytes import MemoryBytes, opened
from xrelay.frontend.onnx.needed import bodies_of
from xrelay.frontend.onnx.slim_model import Content, slim_model
from xrelay.frontend.onnx.tensors import TensorBytes

ModelSource: TypeAlias = "str | PathLike[str] | bytes | onnx.ModelProto"
"""A path, serialised bytes, or a model in memory."""


LARGE_TENSOR_BYTES: Final = 1 << 20
"""The size in bytes from which on large tensors are read separately instead of parsing the whole model."""

MAX_BYTES: Final = (1 << 31) - 1
"""The maximum size in bytes of a protobuf message."""


class LoadedModel(NamedTuple):
    """A model, its name in messages, and the bytes of tensors that it refers to."""

    proto: onnx.ModelProto
    location: str
    tensors: TensorBytes


def load_model(source: ModelSource) -> LoadedModel:
    """Returns the model in `source`.

    Raises `ModelImportError` if `source` has another type, or if the file is absent, truncated, changed meanwhile, or
    not an ONNX model.
    """
    tensors = TensorBytes()
    if isinstance(source, onnx.ModelProto):
        location = source.graph.name or "model"
        return LoadedModel(_checked(source, location), location, tensors)
    if isinstance(source, bytes):
        model = _parsed(MemoryBytes(source), tensors, "the given bytes")
        return LoadedModel(_checked(model, "model"), "model", tensors)
    path = _path(source)
    loaded = open_model(path)
    load_external_data(loaded.proto, path, loaded.tensors)
    return loaded


def _path(source: str | PathLike[str]) -> Path:
    """Returns `source` as a path; raises `ModelImportError` if it is not one."""
    try:
        path = Path(source)
    except TypeError as error:
        found = type(source).__name__
        raise ModelImportError(f"a path, bytes or an onnx.ModelProto is expected, got {found}") from error
    if "\0" in str(path):
        raise ModelImportError(f"{str(path)!r} is not a path: it contains a null character")
    return path


def open_model(path: Path) -> LoadedModel:
    """Returns the model in a file, without the weights in other files; raises as `load_model` does."""
    tensors = TensorBytes()
    return LoadedModel(_checked(_read(path, tensors), str(path)), str(path), tensors)


def _read(path: Path, tensors: TensorBytes) -> onnx.ModelProto:
    """Reads the model in a file. A pipe is read to its end; a device, which may have no end, is refused."""
    try:
        if not path.is_file():
            return _decode(_piped(path), str(path))
        with opened(path) as content:
            return _parsed(content, tensors, str(path))
    except (OSError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelImportError(f"cannot read the model: {reason}", location=str(path)) from error


def _piped(path: Path) -> bytes:
    """Returns the bytes of a pipe; raises `ModelImportError` for a device, and for more bytes than a model can have."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        help = "pass a file or a pipe"
        raise ModelImportError("cannot read the model: it is a device, not a file", location=str(path), help=help)
    with path.open("rb") as pipe:
        data = pipe.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ModelImportError(
            f"cannot read the model: the pipe has more than {MAX_BYTES} bytes, the limit of a model",
            location=str(path),
            help="store the weights of a larger model as external data",
        )
    return data


def _parsed(content: Content, tensors: TensorBytes, location: str) -> onnx.ModelProto:
    slim = slim_model(content, tensors, location) if content.size >= LARGE_TENSOR_BYTES else None
    return _decode(bytes(content.read(0, content.size)) if slim is None else slim, location)


def _decode(data: bytes, location: str) -> onnx.ModelProto:
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise ModelImportError(
            "the file is not an ONNX model, or it is truncated",
            location=location,
            help="download or export it again; onnx.checker.check_model has details",
        ) from error
    return model


def _checked(model: onnx.ModelProto, location: str) -> onnx.ModelProto:
    if not model.HasField("graph") or not model.graph.output:
        raise ModelImportError(
            "the model has no graph with outputs",
            location=location,
            help="the file may be empty, truncated, or of another format",
        )
    if not model.opset_import:
        raise ModelImportError("the model has no opset (opset_import is empty)", location=location)
    opsets: dict[str, int] = {}
    for entry in model.opset_import:
        domain = entry.domain or "ai.onnx"
        if opsets.setdefault(domain, entry.version) != entry.version:
            text = f"opset_import names two opsets of the domain '{domain}', {opsets[domain]} and {entry.version}"
            raise ModelImportError(text, location=location, help="export the model again")
        if entry.version < 1:
            raise ModelImportError(
                f"opset {entry.version} of the domain {entry.domain or 'ai.onnx'!r} is not valid; opsets start at 1",
                location=location,
            )
    _check_names(model, location)
    return model


def _check_names(model: onnx.ModelProto, location: str) -> None:
    """Refuses names that are not UTF-8: protobuf returns them as bytes, which no message could show."""
    functions = model.functions
    values: list[object] = [entry.domain for entry in model.opset_import]
    values += [text for function in functions for text in (function.domain, function.name, function.overload)]
    values += [text for function in functions for text in (*function.input, *function.output, *function.attribute)]
    nodes = [node for function in functions for node in function.node]
    pending = [model.graph, *(body for node in nodes for body in bodies_of(node))]
    while pending:
        graph = pending.pop()
        values += _names_in(graph)
        nodes += graph.node
        pending += [body for node in graph.node for body in bodies_of(node)]
    for node in nodes:
        values += [node.name, node.op_type, node.domain, node.overload, *node.input, *node.output]
        values += [name for attribute in node.attribute for name in (attribute.name, attribute.ref_attr_name)]
    wrong = next((value for value in values if not isinstance(value, str)), None)
    if wrong is not None:
        raise ModelImportError(f"the name {wrong!r} is not UTF-8", location=location, help="the file may be damaged")


def _names_in(graph: onnx.GraphProto) -> Iterator[str]:
    """The names in a graph, except those in its nodes."""
    yield graph.name
    yield from (tensor.values.name for tensor in graph.sparse_initializer)
    yield from (item.name for items in (graph.initializer, graph.input, graph.output) for item in items)
    for value in (*graph.input, *graph.output, *graph.value_info):
        type = value.type
        while type.HasField("sequence_type") or type.HasField("optional_type"):
            type = type.sequence_type.elem_type if type.HasField("sequence_type") else type.optional_type.elem_type
        yield from (dim.dim_param for dim in type.tensor_type.shape.dim)
