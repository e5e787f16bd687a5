"""QuantizeLinear and DequantizeLinear: one scale per tensor, per index along an axis, or per block along an axis.

Quotients are rounded (ties to even), the zero point is added, and the result saturates to the type. With f32 scales
that are not in blocks these are `qnn.quantize` and `qnn.dequantize`, bit for bit, which the passes on quantised models
transform. In half precision and in blocks they are composed of elementwise ops.

2- and 4-bit integers are stored in 8-bit integers, within their own limits; 4- and 8-bit floats are stored in f16
(`frontend/onnx/carried.py`).
"""

from __future__ import annotations

import numpy as np
import onnx
from ml_dtypes import iinfo
from onnx import TensorProto
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.frontend.onnx.carried import carrier_of
from xrelay.frontend.onnx.converters.definition import (
    FLOAT32,
    INT32,
    NodeView,
    certainly_differ,
    converted,
    converts,
    cut_open,
    element_type_of,
    in_f32,
    known_axis,
    numpy_dtype,
    scalar_input,
    shape_of,
    shape_text,
)
from xrelay.frontend.onnx.converters.shared.carried_cast import carried_cast, carried_dtype
from xrelay.frontend.onnx.converters.shared.packed_weights import packed_matrix
from xrelay.frontend.onnx.signature import type_name

_NARROW = tuple(map(np.dtype, ("int8", "uint8", "int16", "uint16")))
_LIMITS = "integers of 2 and 4 bits and floats of 4 and 8 bits only if the model dequantises them"


@converts("QuantizeLinear", since=10, until=12, limits=_LIMITS)
@converts(
    "QuantizeLinear",
    since=13,
    attributes=("axis", "saturate", "block_size", "output_dtype", "precision"),
    limits=_LIMITS,
)
def convert_quantize_linear(node: NodeView) -> SSAValue:
    """`qnn.quantize`, or division, rounding and saturation; `saturate` applies to 8-bit floats only."""
    dtype = _quantized_type(node)
    if numpy_dtype(node.element_type(0)) == FLOAT32 and dtype in _NARROW and _has_steps(node, "precision"):
        return _on_steps(node, "qnn.quantize", out_dtype=dtype)
    scale, zero = _factor(node, 1), _factor(node, 2) if node.optional_input(2) is not None else None
    precision = _dtype_attribute(node, "precision") or numpy_dtype(node.element_type(1))
    quotient = node.emit("divide", converted(node, node.input(0), precision), converted(node, scale, precision))
    carrier = carrier_of(dtype)
    if carrier is not None and carrier.kind == "f":
        return _quantized_to_floats(node, quotient, zero, dtype)
    # NaN becomes the zero point, as in `qnn.quantize`.
    known = node.emit("where", node.emit("isnan", quotient), node.scalar(0.0, quotient), quotient)
    return quantized(node, known, zero, dtype)


@converts("DequantizeLinear", since=10, until=12, limits=_LIMITS)
@converts("DequantizeLinear", since=13, attributes=("axis", "block_size", "output_dtype"), limits=_LIMITS)
def convert_dequantize_linear(node: NodeView) -> SSAValue:
    """`qnn.dequantize`, or the distance from the zero point, in 32 bits, times the scale.

    A constant matrix in blocks is `qnn.block_dequantize`, which stays packed in products.
    """
    dtype = numpy_dtype(node.element_type(0))
    if (dtype in _NARROW or dtype == INT32) and _has_steps(node, "output_dtype"):
        return _on_steps(node, "qnn.dequantize")
    if (packed := _packed(node)) is not None:
        return packed
    scale, exact = _factor(node, 1), FLOAT32 if dtype.kind == "f" else INT32
    distance = converted(node, node.input(0), exact)
    if node.optional_input(2) is not None:
        distance = node.emit("subtract", distance, converted(node, _factor(node, 2), exact))
    result = _dtype_attribute(node, "output_dtype") or numpy_dtype(node.element_type(1))
    wide = in_f32(node, scale)
    product = node.emit("multiply", converted(node, distance, numpy_dtype(element_type_of(wide.type))), wide)
    return converted(node, product, result)


def _packed(node: NodeView) -> SSAValue | None:
    """The dequantised input as `qnn.block_dequantize`, or None if it is not a constant matrix in blocks of words."""
    block, data = node.attribute_int("block_size", 0), node.input(0)
    if not block or len(node.shape(0)) != 2 or (_dtype_attribute(node, "output_dtype") or FLOAT32) != FLOAT32:
        return None
    _factor(node, 1)  # checks the shape of the scales
    return packed_matrix(node, _axis(node), block, node.graph.carried.of(data) or numpy_dtype(node.element_type(0)))


def _quantized_to_floats(node: NodeView, quotient: SSAValue, zero: SSAValue | None, dtype: np.dtype) -> SSAValue:
    """The quotients, plus the zero point unless it is known to be 0, as 4- or 8-bit floats."""
    known = node.constant(2)
    if zero is not None and (known is None or known.any()):
        quotient = node.emit("add", quotient, converted(node, zero, numpy_dtype(element_type_of(quotient.type))))
    return carried_cast(node, quotient, dtype, saturate=bool(node.attribute_int("saturate", 1)))


def _quantized_type(node: NodeView) -> np.dtype:
    """The type of the zero point, or that in `output_dtype`."""
    zero = node.optional_input(2)
    if zero is None:
        return _dtype_attribute(node, "output_dtype") or np.dtype(np.uint8)
    return node.graph.carried.of(zero) or numpy_dtype(node.element_type(2))


def _has_steps(node: NodeView, attribute: str) -> bool:
    """Whether a qnn op applies: the scale is f32 and not in blocks, and `attribute` is absent or f32."""
    stated = _dtype_attribute(node, attribute) or FLOAT32
    return stated == FLOAT32 == numpy_dtype(node.element_type(1)) and not node.attribute_int("block_size", 0)


def _on_steps(node: NodeView, op: str, **attributes: AttributeValue) -> SSAValue:
    """The qnn op on the data, its scale, and its zero point in i32."""
    scale, zero = _parameter(node, 1), node.optional_input(2)
    if zero is None:
        zero = node.emit_constant(np.zeros((), np.int32), "zero_point")
    else:
        zero, known = _parameter(node, 2), node.constant(2)
        # An i32 constant without a cast, since passes read its value.
        if known is not None:
            zero = node.emit_constant(
                known.reshape(() if known.size == 1 else known.shape).astype(np.int32), "zero_point"
            )
        zero = converted(node, zero, INT32)
    axis = _axis(node) if shape_of(scale.type) or shape_of(zero.type) else -1
    return node.emit(op, node.input(0), scale, zero, axis=axis, **attributes)


def _parameter(node: NodeView, index: int) -> SSAValue:
    """Scale or zero point: one number, or one per index along the axis."""
    single = one_number(node, index)
    if single is not None:
        return single
    _require_each(node, index)
    return node.input(index)


def quantized(node: NodeView, value: SSAValue, zero: SSAValue | None, dtype: np.dtype) -> SSAValue:
    """Returns `value` rounded (ties to even) plus the zero point, saturated to an integer type."""
    carrier = carrier_of(dtype) or dtype
    if carrier.kind not in "iu":
        raise node.error(f"the quantized type must be an integer, found {dtype}")
    whole = node.emit("round", in_f32(node, value))
    if zero is not None:
        whole = node.emit("add", whole, converted(node, zero, numpy_dtype(element_type_of(whole.type))))
    limits = iinfo(dtype)
    clipped = node.emit("clip", whole, a_min=float(limits.min), a_max=float(limits.max))
    result = node.emit("cast", clipped, dtype=carrier)
    node.graph.carried.note(result, None if carrier == dtype else dtype)
    return result


def one_number(node: NodeView, index: int) -> SSAValue | None:
    """Returns input `index`, of one element, as a tensor of rank 0; `None` if it has several."""
    return None if any(extent != 1 for extent in node.shape(index)) else scalar_input(node, index)


def _factor(node: NodeView, index: int) -> SSAValue:
    """Input `index`, a scale or zero point, in a shape that broadcasts with the data."""
    single = one_number(node, index)
    if single is not None and not node.attribute_int("block_size", 0):
        return single
    block = node.attribute_int("block_size", 0, check=lambda value: value >= 0)
    if block:
        return _of_blocks(node, index, _axis(node), block)
    _require_each(node, index)
    trailing = len(node.shape(0)) - _axis(node) - 1
    return node.emit("expand_dims", node.input(index), axis=1, num_newaxis=trailing) if trailing else node.input(index)


def _axis(node: NodeView) -> int:
    """The axis of the scales."""
    return known_axis(node, node.attribute_int("axis", 1), len(node.shape(0)))


def _require_each(node: NodeView, index: int) -> None:
    """Requires that input `index` has one number per index along the axis; before opset 13, one number in all."""
    if node.opset < 13:
        raise node.error(f"input #{index} of shape {shape_text(node.shape(index))}: one number is expected")
    data, own, axis = node.shape(0), node.shape(index), _axis(node)
    if len(own) != 1 or certainly_differ(own[0], data[axis]):
        wanted = f"one number, or {data[axis]} for the places along axis {axis}, are expected"
        raise node.error(f"input #{index} of shape {shape_text(own)}: {wanted}")


def _of_blocks(node: NodeView, index: int, axis: int, block: int) -> SSAValue:
    """One number for each `block` neighbours along the axis; the last block may be smaller."""
    data, own = node.shape(0), node.shape(index)
    extent = data[axis]
    if not isinstance(extent, int):
        raise node.error(f"blocks of an axis of extent {extent}", help="fix the input shape with shapes={…}")
    wanted = (*data[:axis], -(-extent // block), *data[axis + 1 :])
    if len(own) != len(wanted) or any(certainly_differ(*pair) for pair in zip(own, wanted, strict=True)):
        raise node.error(f"input #{index} has the shape {shape_text(own)}, {shape_text(wanted)} is expected")
    repeated = node.emit("repeat", node.input(index), repeats=block, axis=axis)
    return repeated if shape_of(repeated.type)[axis] == extent else cut_open(node, repeated, {axis: (0, extent, 1)})


def _dtype_attribute(node: NodeView, name: str) -> np.dtype | None:
    """The element type in an attribute; `None` if it is absent."""
    number = node.attribute_int(name, TensorProto.UNDEFINED)
    if number == TensorProto.UNDEFINED:
        return None
    dtype = carried_dtype(number)
    if dtype is None and number not in _KINDS:
        raise node.error(f"attribute {name!r} is {type_name(number)}, which is not supported")
    return dtype or np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number))


_NAMES = ("INT8", "UINT8", "INT16", "UINT16", "FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE")
_KINDS = frozenset(TensorProto.DataType.Value(name) for name in _NAMES)
