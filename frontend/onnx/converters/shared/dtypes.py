"""Element types in attributes of nodes, and conversions between element types."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.signature import numpy_type, type_name

INT32, FLOAT32 = np.dtype(np.int32), np.dtype(np.float32)


def dtype_of_attribute(node: NodeView, name: str, number: int) -> np.dtype[Any]:
    """Returns the dtype of ONNX's element type `number` in attribute `name`; raises an error if it is unsupported."""
    try:
        return numpy_type(number)
    except ModelImportError as error:
        raise node.error(f"attribute {name!r} is {type_name(number)}, which is not supported") from error


def converted(node: NodeView, value: SSAValue, dtype: np.dtype) -> SSAValue:
    """Returns `value` in element type `dtype`."""
    return value if numpy_dtype(element_type_of(value.type)) == dtype else node.emit("cast", value, dtype=dtype)


def as_input(node: NodeView, value: SSAValue, index: int = 0) -> SSAValue:
    """Returns `value` in the element type of input `index`."""
    return converted(node, value, numpy_dtype(node.element_type(index)))
