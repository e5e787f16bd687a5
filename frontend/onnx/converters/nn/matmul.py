"""Gemm and MatMul."""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.transform import TransposeOp
from xrelay.frontend.onnx.converters.definition import NodeView, converts, numpy_dtype
from xrelay.frontend.onnx.node import constant_value


@converts("Gemm", until=6, attributes=("alpha", "beta", "transA", "transB", "broadcast"))
@converts("Gemm", since=7, attributes=("alpha", "beta", "transA", "transB"))
def convert_gemm(node: NodeView) -> SSAValue:
    """`alpha * A' B' + beta * C`; `broadcast` of old opsets is redundant, since C always broadcasts."""
    node.attribute_flag("broadcast")
    data, weight = node.input(0), node.input(1)
    ranks = len(node.shape(0)), len(node.shape(1))
    if ranks != (2, 2):
        raise node.error(f"Gemm of ranks {ranks[0]} and {ranks[1]}; both must be 2")
    transpose_a, transpose_b = (node.attribute_flag(name) for name in ("transA", "transB"))
    result = _product(node, data, weight, transpose_a=transpose_a, transpose_b=transpose_b)
    alpha, beta = node.attribute_float("alpha", 1.0), node.attribute_float("beta", 1.0)
    if numpy_dtype(node.element_type(0)).kind in "iu" and not (alpha.is_integer() and beta.is_integer()):
        raise node.error(f"alpha {alpha} and beta {beta} of an integer Gemm must be integers")
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
    """`nn.dense` or `nn.matmul` for one right matrix, `nn.batch_matmul` for a stack; a vector is one row or column."""
    left, right = node.input(0), node.input(1)
    ranks = len(node.shape(0)), len(node.shape(1))
    if min(ranks) == 0:
        raise node.error(f"MatMul of ranks {ranks[0]} and {ranks[1]}; neither may be 0")
    row, column = ranks[0] == 1, ranks[1] == 1
    left = node.emit("expand_dims", left, axis=0) if row else left
    right = node.emit("expand_dims", right, axis=1) if column else right
    if ranks[1] <= 2:
        result = _product(node, left, right)
    else:
        result = node.emit("nn.batch_matmul", left, right, transpose_b=False)
    single = [axis for axis, is_vector in ((-2, row), (-1, column)) if is_vector]
    return node.emit("squeeze", result, axis=single) if single else result


def _product(
    node: NodeView, left: SSAValue, right: SSAValue, *, transpose_a: bool = False, transpose_b: bool = False
) -> SSAValue:
    """The product with one right matrix: `nn.dense` if it is a constant weight, else `nn.matmul`."""
    if transpose_a or not _is_weight(right):
        return node.emit("nn.matmul", left, right, transpose_a=transpose_a, transpose_b=transpose_b)
    return node.emit("nn.dense", left, right if transpose_b else node.emit("transpose", right, axes=(1, 0)))


def _is_weight(value: SSAValue) -> bool:
    """Whether a value is a constant, possibly reshaped or cast by ops that constant folding evaluates later."""
    while isinstance(value, OpResult) and isinstance(op := value.op, RelayOp) and len(op.operands) == 1:
        if not (op.RESHAPE_ONLY or isinstance(op, TransposeOp | CastOp)):
            break
        value = op.operands[0]
    return constant_value(value) is not None
