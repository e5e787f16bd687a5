"""Gemm and MatMul."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import shape_of
from xrelay.frontend.onnx.converters.extents import static_shape
from xrelay.frontend.onnx.converters.slice_gather import MAX_PIECES, cut
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
    if numpy_dtype(node.element_type(0)).kind in "iu" and not (alpha.is_integer() and beta.is_integer()):
        raise node.error(f"alpha {alpha} and beta {beta} of a Gemm of integers must be whole")
    if alpha != 1.0:
        result = node.emit("multiply", result, node.scalar_like(alpha, 0))
    addend = node.optional_input(2)
    if addend is None or beta == 0.0:
        return result
    if beta != 1.0:
        addend = node.emit("multiply", addend, node.scalar_like(beta, 2))
    return node.emit("add", result, addend)


@converts("MatMul", limits="stacks of up to 64 pairs of matrices")
def convert_matmul(node: NodeView) -> SSAValue:
    """`nn.dense`: vectors as matrices of one row or column, leading dimensions of the left flattened.

    A product of stacks of matrices is one `nn.dense` for each pair, up to `MAX_PIECES` of them.
    """
    left, right = node.input(0), node.input(1)
    if len(node.shape(0)) == 2 and len(node.shape(1)) == 2:
        return _dense(node, left, right)
    shapes = static_shape(node, left), static_shape(node, right)
    if min(map(len, shapes)) == 0:
        raise node.error(f"MatMul of ranks {len(shapes[0])} and {len(shapes[1])}; neither may be 0")
    row, column = len(shapes[0]) == 1, len(shapes[1]) == 1
    left = node.emit("expand_dims", left, axis=0) if row else left
    right = node.emit("expand_dims", right, axis=1) if column else right
    a, b = (1, *shapes[0]) if row else shapes[0], (*shapes[1], 1) if column else shapes[1]
    if a[-1] != b[-2]:
        raise node.error(f"MatMul of shapes {shapes[0]} and {shapes[1]}: inner extents {a[-1]} and {b[-2]} differ")
    leading = _stack_shape(node, a[:-2], b[:-2])
    if len(b) == 2:
        result = _dense(node, node.reshape(left, (prod(a[:-1]), a[-1])), right)
    else:
        result = _stacked(node, (left, a), (right, b), leading)
    shape = (*leading, *([] if row else [a[-2]]), *([] if column else [b[-1]]))
    return result if shape_of(result.type) == shape else node.reshape(result, shape)


def _dense(node: NodeView, left: SSAValue, right: SSAValue) -> SSAValue:
    return node.emit("nn.dense", left, node.emit("transpose", right, axes=(1, 0)))


def _stack_shape(node: NodeView, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return tuple(int(extent) for extent in np.broadcast_shapes(a, b))
    except ValueError as error:
        raise node.error(f"stacks of matrices of shapes {a} and {b} do not broadcast") from error


def _stacked(
    node: NodeView,
    left: tuple[SSAValue, tuple[int, ...]],
    right: tuple[SSAValue, tuple[int, ...]],
    leading: tuple[int, ...],
) -> SSAValue:
    """The products of the matrices of two stacks, one upon the other."""
    count = prod(leading)
    if not 0 < count <= MAX_PIECES:
        raise node.error(f"MatMul of {count} pairs of matrices is not supported, only up to {MAX_PIECES} are")
    lefts, rights = (_matrices(node, value, shape, leading) for value, shape in (left, right))
    products = [_dense(node, first, second) for first, second in zip(lefts, rights, strict=True)]
    return products[0] if count == 1 else node.emit("concatenate", node.make_tuple(products), axis=0)


def _matrices(node: NodeView, value: SSAValue, shape: tuple[int, ...], leading: tuple[int, ...]) -> list[SSAValue]:
    """The matrix of a stack for each place of the broadcast stacks."""
    rows = shape[-2]
    tall = node.reshape(value, (prod(shape[:-1]), shape[-1]))
    numbers = np.broadcast_to(np.arange(prod(shape[:-2])).reshape(shape[:-2]), leading).reshape(-1)
    return [cut(node, tall, 0, int(number) * rows, (int(number) + 1) * rows) for number in numbers]
