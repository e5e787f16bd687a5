"""Opens the model of a session: an ONNX model, which is compiled, or a saved model."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple

import onnx
from google.protobuf.message import DecodeError

from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel, load
from xrelay.arguments import Shapes, checked_shapes
from xrelay.errors import XRelayError
from xrelay.onnxruntime.errors import Fail, InvalidGraph, InvalidProtobuf, NoSuchFile, NotSupported, translate
from xrelay.onnxruntime.options import CompileOptions, SessionOptions
from xrelay.onnxruntime.signature import FixedSizes, Signature, compiled_signature, signature_of
from xrelay.onnxruntime.text_labels import number_texts
from xrelay.shortage import reporting_shortage


def opened(
    source: str | PathLike[str] | bytes, options: SessionOptions, given: CompileOptions
) -> tuple[CompiledModel, Signature]:
    """Returns the compiled model and its signature."""
    if isinstance(source, bytes):
        return _compiled(source, _described(source, options), given)
    path = Path(fspath(source))
    if path.suffix == ".xrelay":
        return _loaded(path, given)
    if path.suffix == ".ort":
        raise NotSupported(f"{path} has onnxruntime's own format", help="use the ONNX model that it was made from")
    if path.suffix == ".onnx":
        return _compiled(path, _described(_content(path), options), given)
    content = _content(path)
    return _compiled(content, _described(content, options), given)


def _content(path: Path) -> bytes:
    """Returns the bytes of a file."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NoSuchFile("the file does not exist", location=str(path)) from error
    except OSError as error:
        raise Fail(f"the file cannot be read: {error.strerror}", location=str(path)) from error


def _loaded(path: Path, given: CompileOptions) -> tuple[CompiledModel, Signature]:
    """Reads a saved model."""
    try:
        limit, trust = given.get("memory_limit"), given.get("trust", False)
        model = load(path, num_threads=given.get("threads"), memory_limit=limit, trust=trust)
    except XRelayError as error:
        raise translate(error) from error
    return model, compiled_signature(model.artifact.metadata.name, model.inputs, model.outputs)


class _Description(NamedTuple):
    """The parts of an ONNX model that a session needs; `numbered` is the model with numbers instead of texts."""

    signature: Signature
    shapes: Shapes
    numbered: bytes | None


def _described(content: bytes, options: SessionOptions) -> _Description:
    """Returns the description of the model in `content`, without its weights."""
    sizes = FixedSizes(options.sizes_by_name, options.sizes_by_denotation)
    try:
        model = onnx.ModelProto.FromString(content)
    except DecodeError as error:
        raise InvalidProtobuf("the model is not protobuf, or it is truncated") from error
    signature, shapes = signature_of(model, sizes), sizes.shapes(model.graph)
    texts = number_texts(model)
    return _Description(replace(signature, texts=texts), shapes, model.SerializeToString() if texts else None)


def _compiled(
    source: Path | bytes, description: _Description, given: CompileOptions
) -> tuple[CompiledModel, Signature]:
    """Compiles an ONNX model."""
    source = source if description.numbered is None else description.numbered
    try:
        given["shapes"] = description.shapes | checked_shapes(given.get("shapes"))
        model = compile(source, **given)
    except XRelayError as error:
        with reporting_shortage():
            from xrelay.frontend.onnx.validity import is_valid  # a model from the cache needs no importer

            kind = NotSupported if is_valid(source) else InvalidGraph
        raise translate(error, kind) from error
    return model, description.signature.with_known_outputs(model.outputs)
