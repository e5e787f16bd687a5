"""onnx's own check of a model, which distinguishes invalid models from models that are not supported."""

from __future__ import annotations

from os import PathLike
from typing import Any, cast

import onnx
from onnx.checker import ValidationError
from onnx.shape_inference import InferenceError


def is_valid(model: onnx.ModelProto | bytes | str | PathLike[str]) -> bool:
    """Whether onnx's own checker accepts a model."""
    try:
        cast(Any, onnx.checker).check_model(model, full_check=True)
    except (ValidationError, InferenceError, ValueError, RuntimeError):
        return False
    return True
