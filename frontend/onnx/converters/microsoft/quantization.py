"""Elementwise ops, pools and concatenation of quantised values in the domain com.microsoft.

Each op dequantises its operands, computes in f32, and quantises the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    INT32,
    MICROSOFT,
    NodeView,
    axis_attribute,
    channels_first,
    channels_last,
    converted,
    converts,
    known_axes,
    numpy_dtype,
)
from xrelay.frontend.onnx.converters.nn.pool import convert_average_pool
from xrelay.frontend.onnx.converters.nn.softmax import flattened_softmax
from xrelay.frontend.onnx.converters.nn.windows import WINDOW_ATTRIBUTES
from xrelay.frontend.onnx.converters.qnn.quantize import (
    convert_dequantize_linear,
    convert_quantize_linear,
    one_number,
)


def number(node: NodeView, index: int) -> SSAValue:
    """Returns input `index`, which must be one number."""
    single = one_number(node, index)
    if single is None:
        raise node.error(f"input #{index} is {node.input(index).type}: one number is expected")
    return single


def real(node: NodeView, index: int) -> SSAValue:
    """Returns the dequantised input `index`; the next two inputs are its scale and zero point."""
    return dequantised_by(node, node.input(index), index + 1, index + 2)


def dequantised_by(node: NodeView, value: SSAValue, scale: int, zero: int) -> SSAValue:
    """Returns `value` dequantised to f32, with the inputs `scale` and `zero`."""
    return node.emit("qnn.dequantize", value, number(node, scale), _zero_point(node, zero))


def requantized(node: NodeView, value: SSAValue, scale: int) -> SSAValue:
    """Returns `value` quantised with input `scale` and the zero point after it, in the type of the first operand."""
    like = 2 if node.proto.op_type == "QLinearConcat" else 1 if node.proto.op_type == "QLinearWhere" else 0
    dtype, zero = numpy_dtype(node.element_type(like)), _zero_point(node, scale + 1)
    return node.emit("qnn.quantize", value, number(node, scale), zero, out_dtype=dtype)


def _zero_point(node: NodeView, index: int) -> SSAValue:
    """Returns the zero point in input `index`, by default 0, in i32; a constant without a cast, for passes."""
    if node.optional_input(index) is None:
        return node.emit_constant(np.zeros((), np.int32), "zero_point")
    point, known = number(node, index), node.constant(index)
    if known is None:
        return converted(node, point, INT32)
    return node.emit_constant(known.reshape(()).astype(np.int32), "zero_point")


def _binary(op: str) -> Callable[[NodeView], SSAValue]:
    def convert(node: NodeView) -> SSAValue:
        return requantized(node, node.emit(op, real(node, 0), real(node, 3)), 6)

    return convert


for _op_type, _op in (("QLinearAdd", "add"), ("QLinearMul", "multiply")):
    converts(_op_type, domain=MICROSOFT)(_binary(_op))


@converts("QLinearSigmoid", domain=MICROSOFT)
def convert_qlinear_sigmoid(node: NodeView) -> SSAValue:
    """`sigmoid`."""
    return requantized(node, node.emit("sigmoid", real(node, 0)), 3)


@converts("QLinearLeakyRelu", domain=MICROSOFT, attributes=("alpha",))
def convert_qlinear_leaky_relu(node: NodeView) -> SSAValue:
    """`nn.leaky_relu`."""
    alpha = node.attribute_float("alpha", 0.01)
    return requantized(node, node.emit("nn.leaky_relu", real(node, 0), alpha=alpha), 3)


@converts("QLinearSoftmax", domain=MICROSOFT, attributes=("axis", "opset"))
def convert_qlinear_softmax(node: NodeView) -> SSAValue:
    """`nn.softmax` along the axis; if `opset` is before 13, over the axes from it on, merged into one."""
    inner = node.with_inputs([real(node, 0)])
    inner.opset = node.attribute_int("opset", 13, check=lambda value: value >= 1)
    if inner.opset < 13:
        return requantized(node, flattened_softmax(inner, "nn.softmax"), 3)
    return requantized(node, node.emit("nn.softmax", inner.input(0), axis=axis_attribute(inner, -1)), 3)


@converts("QLinearReduceMean", domain=MICROSOFT, attributes=("axes", "keepdims"))
def convert_qlinear_reduce_mean(node: NodeView) -> SSAValue:
    """`mean` over the axes, or over all."""
    rank = len(node.shape(0))
    axes = known_axes(node, node.attribute_ints("axes", tuple(range(rank))) or (), rank)
    keepdims = node.attribute_flag("keepdims", True)
    return requantized(node, node.emit("mean", real(node, 0), axis=axes, keepdims=keepdims), 3)


@converts("QLinearGlobalAveragePool", domain=MICROSOFT, attributes=("channels_last",))
def convert_qlinear_global_average_pool(node: NodeView) -> SSAValue:
    """`mean` over the spatial axes."""
    rank, last = len(node.shape(0)), node.attribute_flag("channels_last")
    if rank < 3:
        raise node.error(f"an image or a volume is expected, found {node.input(0).type}")
    axes = tuple(range(1, rank - 1) if last else range(2, rank))
    return requantized(node, node.emit("mean", real(node, 0), axis=axes, keepdims=True), 3)


@converts(
    "QLinearAveragePool",
    domain=MICROSOFT,
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "count_include_pad", "channels_last"),
    limits="1 to 3 spatial axes",
)
def convert_qlinear_average_pool(node: NodeView) -> SSAValue:
    """An AveragePool."""
    x = real(node, 0)
    if not node.attribute_flag("channels_last"):
        return requantized(node, convert_average_pool(node.with_inputs([x])), 3)
    pooled = convert_average_pool(node.with_inputs([channels_first(node, x)]))
    return requantized(node, channels_last(node, pooled), 3)


@converts("QLinearConcat", domain=MICROSOFT, attributes=("axis",))
def convert_qlinear_concat(node: NodeView) -> SSAValue:
    """The concatenation of the dequantised inputs; each is a tensor, a scale and a zero point."""
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise node.error(f"{len(node.inputs)} inputs: scale and zero point, then three for each part, are expected")
    parts = [real(node, index) for index in range(2, len(node.inputs), 3)]
    axis = axis_attribute(node.with_inputs(parts), 0)
    return requantized(node, node.emit("concatenate", node.make_tuple(parts), axis=axis), 0)


@converts("QLinearWhere", domain=MICROSOFT)
def convert_qlinear_where(node: NodeView) -> SSAValue:
    """`where`."""
    return requantized(node, node.emit("where", node.input(0), real(node, 1), real(node, 4)), 7)


@converts("QuantizeLinear", domain=MICROSOFT, attributes=("axis",))
@converts("DequantizeLinear", domain=MICROSOFT, attributes=("axis",))
def convert_linear(node: NodeView) -> SSAValue | Sequence[SSAValue | None]:
    """ONNX's own ops of opset 13."""
    standard = node.with_inputs(node.inputs)
    standard.opset = 13
    is_quantizing = node.proto.op_type == "QuantizeLinear"
    return convert_quantize_linear(standard) if is_quantizing else convert_dequantize_linear(standard)
