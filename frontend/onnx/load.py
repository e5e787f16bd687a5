"""Reading an ONNX model from wherever it comes, and refusing what is not one."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TypeAlias

import onnx
from google.protobuf.message import DecodeError
from onnx import external_data_helper

from xrelay.errors import ModelImportError

ModelSource: TypeAlias = "str | PathLike[str] | bytes | onnx.ModelProto"
"""A path, serialised bytes, or a model in memory."""


def load_model(source: ModelSource) -> tuple[onnx.ModelProto, str]:
    """The model and a name to call it by in messages.

    Raises `ModelImportError` where the file is absent, truncated, or not an ONNX model.
    """
    if isinstance(source, onnx.ModelProto):
        return _checked(source, source.graph.name or "model"), source.graph.name or "model"
    if isinstance(source, bytes):
        return _checked(_decode(source, "the given bytes"), "model"), "model"
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelImportError(f"cannot read the model: {error.strerror}", location=str(path)) from error
    model = _checked(_decode(data, str(path)), str(path))
    _bring_external_data(model, path)
    return model, str(path)


def _decode(data: bytes, place: str) -> onnx.ModelProto:
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise ModelImportError(
            "the file is not an ONNX model, or it is truncated",
            location=place,
            help="download or export it again; onnx.checker.check_model says more",
        ) from error
    return model


def _checked(model: onnx.ModelProto, place: str) -> onnx.ModelProto:
    if not model.HasField("graph") or not model.graph.output:
        raise ModelImportError(
            "the model holds no graph with outputs",
            location=place,
            help="the file may be empty, truncated, or of another format",
        )
    if not model.opset_import:
        raise ModelImportError("the model does not say its opset (opset_import is empty)", location=place)
    return model


def _bring_external_data(model: onnx.ModelProto, path: Path) -> None:
    """Load weights that stand in files beside the model; a missing or short one is an error naming it."""
    external = [tensor for tensor in model.graph.initializer if external_data_helper.uses_external_data(tensor)]
    if not external:
        return
    try:
        external_data_helper.load_external_data_for_model(model, str(path.parent))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise ModelImportError(
            f"cannot read the external data of {len(external)} tensors, {external[0].name!r} among them: {error}",
            location=str(path),
        ) from error
