"""Element types in attributes of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.signature import numpy_type, type_name


def asked_dtype(node: NodeView, name: str, number: int) -> np.dtype[Any]:
    """Returns the dtype of ONNX's element type `number` in attribute `name`; raises an error if it is unsupported."""
    try:
        return numpy_type(number)
    except ModelImportError as error:
        raise node.error(f"attribute {name!r} is {type_name(number)}, which is not supported") from error
