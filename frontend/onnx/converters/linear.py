"""Gemm and MatMul with a two-dimensional right-hand side."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Gemm", since=7, attributes=("alpha", "beta", "transA", "transB"))
def convert_gemm(node: NodeView) -> SSAValue:
    """`alpha * A' B' + beta * C` as `nn.dense`, whose weight is B transposed."""
    data, weight = node.input(0), node.input(1)
    if node.attribute_int("transA", 0, check=lambda value: value in (0, 1)):
        data = node.emit("transpose", data, axes=(1, 0))
    if not node.attribute_int("transB", 0, check=lambda value: value in (0, 1)):
        weight = node.emit("transpose", weight, axes=(1, 0))
    result = node.emit("nn.dense", data, weight)
    alpha, beta = node.attribute_float("alpha", 1.0), node.attribute_float("beta", 1.0)
    if alpha != 1.0:
        result = node.emit("multiply", result, node.scalar_like(alpha, 0))
    addend = node.optional_input(2)
    if addend is None or beta == 0.0:
        return result
    if beta != 1.0:
        addend = node.emit("multiply", addend, node.scalar_like(beta, 2))
    return node.emit("add", result, addend)


@converts("MatMul")
def convert_matmul(node: NodeView) -> SSAValue:
    """`nn.dense` where the right-hand side has two dimensions; leading dimensions of the left are flattened."""
    left, right = node.shape(0), node.shape(1)
    if len(right) != 2 or len(left) < 2:
        raise node.error(
            f"MatMul of ranks {len(left)} and {len(right)} is not supported, only a matrix on the right is"
        )
    weight = node.emit("transpose", node.input(1), axes=(1, 0))
    if len(left) == 2:
        return node.emit("nn.dense", node.input(0), weight)
    leading = tuple(extent for extent in left[:-1] if isinstance(extent, int))
    if len(leading) != len(left) - 1 or not isinstance(left[-1], int) or not isinstance(right[1], int):
        raise node.error(f"MatMul of shapes {left} and {right} needs known extents")
    flat = node.emit("reshape", node.input(0), newshape=(-1, left[-1]))
    return node.emit("reshape", node.emit("nn.dense", flat, weight), newshape=(*leading, right[1]))
