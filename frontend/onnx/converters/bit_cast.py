"""BitCast: the bits of each element as another type."""

from __future__ import annotations

import numpy as np
import onnx
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.frontend.onnx.converters.shared.asked_dtype import asked_dtype
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("BitCast", since=26, attributes=("to",), limits="no strings, no complex numbers, elements of whole bytes")
def convert_bit_cast(node: NodeView) -> SSAValue:
    """`reinterpret`; for booleans a cast, as a boolean is a byte of 0 or 1 and any other byte than 0 is true."""
    number = node.attribute_int("to", 0, check=lambda value: value in onnx.TensorProto.DataType.values())
    dtype = asked_dtype(node, "to", number)
    kinds = {numpy_dtype(node.element_type(0)), dtype}
    if np.dtype(bool) in kinds and all(kind.itemsize == 1 for kind in kinds):
        return node.emit("cast", node.input(0), dtype=dtype)
    return node.emit("reinterpret", node.input(0), dtype=dtype)
