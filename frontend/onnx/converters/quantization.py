"""QuantizeLinear and DequantizeLinear: one scale for a tensor, for each place along an axis, or for each block of one.

Quotients are rounded to the even one of two, the zero point is added, and what the type does not hold is saturated.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import is_half, numpy_dtype
from xrelay.dialects.relay.core.types import element_type_of, shape_of
from xrelay.frontend.onnx.converters.cut import cut
from xrelay.frontend.onnx.converters.extents import known_axis
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.signature import type_name
from xrelay.index_algebra.dims import certainly_differ, shape_text

_LIMITS = "integers of 8 bits or more"


@converts("QuantizeLinear", since=10, until=12, limits=_LIMITS)
@converts(
    "QuantizeLinear",
    since=13,
    attributes=("axis", "saturate", "block_size", "output_dtype", "precision"),
    limits=_LIMITS,
)
def convert_quantize_linear(node: NodeView) -> SSAValue:
    """Quotient, rounding, zero point and saturation; `saturate` concerns 8-bit floats alone."""
    scale, zero = _factor(node, 1), _factor(node, 2) if node.optional_input(2) is not None else None
    precision = _dtype_attribute(node, "precision") or numpy_dtype(node.element_type(1))
    quotient = node.emit("divide", converted(node, node.input(0), precision), converted(node, scale, precision))
    dtype = _dtype_attribute(node, "output_dtype") or np.dtype(np.uint8)
    return quantized(node, quotient, zero, dtype if zero is None else numpy_dtype(node.element_type(2)))


@converts("DequantizeLinear", since=10, until=12, limits=_LIMITS)
@converts("DequantizeLinear", since=13, attributes=("axis", "block_size", "output_dtype"), limits=_LIMITS)
def convert_dequantize_linear(node: NodeView) -> SSAValue:
    """The distance from the zero point, in 32 bits, times the scale."""
    scale, distance = _factor(node, 1), converted(node, node.input(0), np.dtype(np.int32))
    if node.optional_input(2) is not None:
        distance = node.emit("subtract", distance, converted(node, _factor(node, 2), np.dtype(np.int32)))
    result = _dtype_attribute(node, "output_dtype") or numpy_dtype(node.element_type(1))
    wide = _widened(node, scale)
    product = node.emit("multiply", converted(node, distance, numpy_dtype(element_type_of(wide.type))), wide)
    return converted(node, product, result)


def quantized(node: NodeView, value: SSAValue, zero: SSAValue | None, dtype: np.dtype) -> SSAValue:
    """`value` rounded to the even one of two, plus the zero point, as the nearest number of an integer type."""
    if dtype.kind not in "iu":
        raise node.error(f"the quantized type must be an integer, found {dtype}")
    whole = node.emit("round", _widened(node, value))
    if zero is not None:
        whole = node.emit("add", whole, converted(node, zero, numpy_dtype(element_type_of(whole.type))))
    limits = np.iinfo(dtype)
    return node.emit("cast", node.emit("clip", whole, a_min=float(limits.min), a_max=float(limits.max)), dtype=dtype)


def converted(node: NodeView, value: SSAValue, dtype: np.dtype) -> SSAValue:
    """`value` in another element type, where it has not that one."""
    return value if numpy_dtype(element_type_of(value.type)) == dtype else node.emit("cast", value, dtype=dtype)


def one_number(node: NodeView, index: int) -> SSAValue | None:
    """Input `index`, of one element, as a tensor of rank 0; `None` where it has several."""
    shape = node.shape(index)
    if any(extent != 1 for extent in shape):
        return None
    return node.reshape(node.input(index), ()) if shape else node.input(index)


def _widened(node: NodeView, value: SSAValue) -> SSAValue:
    """`value`, of 16-bit floats in f32."""
    return node.emit("cast", value, dtype="float32") if is_half(element_type_of(value.type)) else value


def _factor(node: NodeView, index: int) -> SSAValue:
    """Scale or zero point, input `index`, such that it broadcasts with the data."""
    single = one_number(node, index)
    if single is not None and not node.attribute_int("block_size", 0):
        return single
    if node.opset < 13:
        raise node.error(f"input #{index} of shape {shape_text(node.shape(index))}: one number is expected")
    axis = known_axis(node, node.attribute_int("axis", 1), len(node.shape(0)))
    block = node.attribute_int("block_size", 0, check=lambda value: value >= 0)
    return _of_blocks(node, index, axis, block) if block else _along(node, index, axis)


def _along(node: NodeView, index: int, axis: int) -> SSAValue:
    """One number for each place along the axis."""
    data, own = node.shape(0), node.shape(index)
    if len(own) != 1 or certainly_differ(own[0], data[axis]):
        wanted = f"one number, or {data[axis]} for the places along axis {axis}, are expected"
        raise node.error(f"input #{index} of shape {shape_text(own)}: {wanted}")
    behind = len(data) - axis - 1
    return node.emit("expand_dims", node.input(index), axis=1, num_newaxis=behind) if behind else node.input(index)


def _of_blocks(node: NodeView, index: int, axis: int, block: int) -> SSAValue:
    """One number for each `block` neighbours along the axis, the last of which may be fewer."""
    data, own = node.shape(0), node.shape(index)
    extent = data[axis]
    if not isinstance(extent, int):
        raise node.error(f"blocks of an axis of extent {extent}", help="fix the input shape with shapes={…}")
    wanted = (*data[:axis], -(-extent // block), *data[axis + 1 :])
    if len(own) != len(wanted) or any(certainly_differ(*pair) for pair in zip(own, wanted, strict=True)):
        raise node.error(f"input #{index} has the shape {shape_text(own)}, {shape_text(wanted)} is expected")
    repeated = node.emit("repeat", node.input(index), repeats=block, axis=axis)
    return repeated if shape_of(repeated.type)[axis] == extent else cut(node, repeated, {axis: range(extent)})


def _dtype_attribute(node: NodeView, name: str) -> np.dtype | None:
    """The element type that an attribute names; `None` without one."""
    number = node.attribute_int(name, TensorProto.UNDEFINED)
    if number == TensorProto.UNDEFINED:
        return None
    if number not in _KINDS:
        raise node.error(f"attribute {name!r} asks for {type_name(number)}, which is not supported")
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number))


_KINDS = (
    TensorProto.INT8,
    TensorProto.UINT8,
    TensorProto.INT16,
    TensorProto.UINT16,
    TensorProto.FLOAT,
    TensorProto.FLOAT16,
    TensorProto.BFLOAT16,
    TensorProto.DOUBLE,
)
