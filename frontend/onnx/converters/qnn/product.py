"""MatMulInteger and QLinearMatMul: i32 products of integers minus their zero points."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    FLOAT32,
    INT32,
    NodeView,
    certainly_differ,
    converted,
    converts,
    numpy_dtype,
    shape_of,
    shape_text,
)
from xrelay.frontend.onnx.converters.nn.matmul import convert_matmul
from xrelay.frontend.onnx.converters.qnn.quantize import one_number, quantized


@converts("MatMulInteger", since=10)
def convert_matmul_integer(node: NodeView) -> SSAValue:
    """The product in i32."""
    left, right = distances(node, 0, 2, is_left=True), distances(node, 1, 3, is_left=False)
    return convert_matmul(node.with_inputs([left, right]))


@converts("QLinearMatMul", since=10)
def convert_qlinear_matmul(node: NodeView) -> SSAValue:
    """The i32 product, times the scales of the operands, divided by the scale of the result."""
    left, right = distances(node, 0, 2, is_left=True), distances(node, 3, 5, is_left=False)
    scales = beside_matrix(node, 1, node.input(0), is_left=True), beside_matrix(node, 4, node.input(3), is_left=False)
    return requantized(node, convert_matmul(node.with_inputs([left, right])), scales)


def requantized(node: NodeView, total: SSAValue, scales: tuple[SSAValue, SSAValue]) -> SSAValue:
    """Returns a sum of products, converted to the scale and type of the result, inputs 6 and 7."""
    left, right, own = (converted(node, scale, FLOAT32) for scale in (*scales, required_number(node, 6)))
    factor = node.emit("divide", node.emit("multiply", left, right), own)
    value = node.emit("multiply", converted(node, total, FLOAT32), factor)
    return quantized(node, value, required_number(node, 7), numpy_dtype(node.element_type(7)))


def distances(node: NodeView, index: int, zero: int, *, is_left: bool) -> SSAValue:
    """Input `index` minus its zero point, if any: one per row of the left matrix, or per column of the right one."""
    value = converted(node, node.input(index), INT32)
    if node.optional_input(zero) is None:
        return value
    return node.emit("subtract", value, converted(node, beside_matrix(node, zero, value, is_left=is_left), INT32))


def beside_matrix(node: NodeView, index: int, matrix: SSAValue, *, is_left: bool) -> SSAValue:
    """Input `index` in a shape that broadcasts: one number, one per row or column, or a tensor of the same rank."""
    single = one_number(node, index)
    if single is not None:
        return single
    own, rows = node.shape(index), shape_of(matrix.type)
    if len(own) == 1 and len(rows) >= 2 and not certainly_differ(own[0], rows[-2 if is_left else -1]):
        return node.emit("expand_dims", node.input(index), axis=1) if is_left else node.input(index)
    # A vector on the right is one column.
    extents = (*rows[:-1], 1) if is_left or len(rows) < 2 else (*rows[:-2], 1, rows[-1])
    if len(own) != len(rows) or any(certainly_differ(*pair) for pair in zip(own, extents, strict=True)):
        raise node.error(
            f"input #{index} has the shape {shape_text(own)}, {shape_text(extents)} or one number is expected"
        )
    return node.input(index)


def required_number(node: NodeView, index: int) -> SSAValue:
    """Returns input `index`, which must be one number."""
    single = one_number(node, index)
    if single is None:
        raise node.error(f"input #{index} has the shape {shape_text(node.shape(index))}: one number is expected")
    return single
