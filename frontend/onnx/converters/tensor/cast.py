"""Cast, CastLike and BitCast."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.carried import carrier_of
from xrelay.frontend.onnx.converters.definition import NodeView, converts, dtype_of_attribute, numpy_dtype
from xrelay.frontend.onnx.converters.shared.carried_cast import carried_cast, carried_dtype


@converts(
    "Cast",
    since=6,
    attributes=("to", "saturate", "round_mode"),
    limits="no strings; to numbers of 2 and 4 bits and floats of 8 bits only if the model converts them back",
)
def convert_cast(node: NodeView) -> SSAValue:
    """`cast`, or `carried_cast` to a type that relay lacks; `saturate` applies to 8-bit floats only."""
    target = node.attribute_int("to", 0, check=lambda value: value in onnx.TensorProto.DataType.values())
    return _cast(node, carried_dtype(target) or dtype_of_attribute(node, "to", target))


@converts("CastLike", since=15, attributes=("saturate", "round_mode"))
def convert_cast_like(node: NodeView) -> SSAValue:
    """`convert_cast` to the element type of input 1."""
    return _cast(node, node.graph.carried.of(node.input(1)) or numpy_dtype(node.element_type(1)))


def _cast(node: NodeView, dtype: np.dtype[Any]) -> SSAValue:
    if carrier_of(dtype) is None:
        return node.emit("cast", node.input(0), dtype=dtype)
    return carried_cast(node, node.input(0), dtype, saturate=bool(node.attribute_int("saturate", 1)))


@converts("BitCast", since=26, attributes=("to",), limits="no strings, no complex numbers, elements of whole bytes")
def convert_bit_cast(node: NodeView) -> SSAValue:
    """`reinterpret`; for booleans a cast, as a boolean is a byte of 0 or 1 and any other byte than 0 is true."""
    number = node.attribute_int("to", 0, check=lambda value: value in onnx.TensorProto.DataType.values())
    dtype = dtype_of_attribute(node, "to", number)
    kinds = {numpy_dtype(node.element_type(0)), dtype}
    if np.dtype(bool) in kinds and all(kind.itemsize == 1 for kind in kinds):
        return node.emit("cast", node.input(0), dtype=dtype)
    return node.emit("reinterpret", node.input(0), dtype=dtype)
