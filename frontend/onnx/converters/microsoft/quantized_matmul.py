"""Products of quantised matrices in the domain com.microsoft: accumulated in i32, then scaled."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    FLOAT32,
    INT32,
    MICROSOFT,
    NodeView,
    converted,
    converts,
    numpy_dtype,
)
from xrelay.frontend.onnx.converters.microsoft.quantization import number
from xrelay.frontend.onnx.converters.nn.matmul import convert_matmul
from xrelay.frontend.onnx.converters.qnn.product import beside_matrix, distances
from xrelay.frontend.onnx.converters.qnn.quantize import quantized


@converts("MatMulIntegerToFloat", domain=MICROSOFT)
def convert_matmul_integer_to_float(node: NodeView) -> SSAValue:
    """The i32 product, times the scales, plus the bias."""
    left, right = distances(node, 0, 4, is_left=True), distances(node, 1, 5, is_left=False)
    total = converted(node, convert_matmul(node.with_inputs([left, right])), FLOAT32)
    scales = number(node, 2), beside_matrix(node, 3, node.input(1), is_left=False)
    scale = node.emit("multiply", *(converted(node, each, FLOAT32) for each in scales))
    result = _plus(node, node.emit("multiply", total, scale), 6)
    return converted(node, result, numpy_dtype(node.element_type(2)))


@converts("DynamicQuantizeMatMul", domain=MICROSOFT)
def convert_dynamic_quantize_matmul(node: NodeView) -> SSAValue:
    """MatMulIntegerToFloat, after quantising operand 0 to u8 by its own range."""
    left, scale = by_range(node, node.input(0))
    total = converted(node, convert_matmul(node.with_inputs([left, distances(node, 1, 3, is_left=False)])), FLOAT32)
    factor = node.emit("multiply", scale, beside_matrix(node, 2, node.input(1), is_left=False))
    return _plus(node, node.emit("multiply", total, factor), 4)


def by_range(node: NodeView, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Returns `x` quantised to u8 by its own range and 0: the distances from the zero point in i32, and the scale."""
    low = node.emit("minimum", node.emit("min", x), node.scalar(0.0, x))
    high = node.emit("maximum", node.emit("max", x), node.scalar(0.0, x))
    span = node.emit("divide", node.emit("subtract", high, low), node.scalar(255.0, x))
    scale = node.emit("where", node.emit("equal", span, node.scalar(0.0, x)), node.scalar(1.0, x), span)
    byte = np.dtype(np.uint8)
    zero = quantized(node, node.emit("divide", node.emit("negative", low), scale), None, byte)
    values = converted(node, quantized(node, node.emit("divide", x, scale), zero, byte), INT32)
    return node.emit("subtract", values, converted(node, zero, INT32)), scale


def _plus(node: NodeView, value: SSAValue, index: int) -> SSAValue:
    """The sum with input `index`, if present."""
    bias = node.optional_input(index)
    return value if bias is None else node.emit("add", value, converted(node, bias, FLOAT32))


@converts("QGemm", domain=MICROSOFT, attributes=("alpha", "transA", "transB"))
def convert_qgemm(node: NodeView) -> SSAValue:
    """The i32 product plus the third matrix, times the scales and `alpha`, in f32 or quantised."""
    left, right = (_oriented(node, index, name) for index, name in ((0, "transA"), (3, "transB")))
    turned = node.with_inputs([left, None, node.optional_input(2), right, node.input(4), node.optional_input(5)])
    factors = distances(turned, 0, 2, is_left=True), distances(turned, 3, 5, is_left=False)
    total = convert_matmul(node.with_inputs(factors))
    if node.optional_input(6) is not None:
        total = node.emit("add", total, node.input(6))
    scale = node.emit("multiply", number(node, 1), beside_matrix(turned, 4, right, is_left=False))
    alpha = node.attribute_float("alpha", 1.0)
    scale = scale if alpha == 1.0 else node.emit("multiply", scale, node.scalar(alpha, scale))
    result = node.emit("multiply", converted(node, total, FLOAT32), scale)
    if node.optional_input(7) is None:
        return result
    zero = None if node.optional_input(8) is None else number(node, 8)
    dtype = numpy_dtype(node.element_type(0 if zero is None else 8))
    return quantized(node, node.emit("divide", result, number(node, 7)), zero, dtype)


def _oriented(node: NodeView, index: int, name: str) -> SSAValue:
    """Matrix `index`, transposed if the attribute `name` is set."""
    if len(node.shape(index)) != 2:
        raise node.error(f"input #{index} is {node.input(index).type}: a matrix is expected")
    turned = node.attribute_flag(name)
    return node.emit("transpose", node.input(index), axes=(1, 0)) if turned else node.input(index)
