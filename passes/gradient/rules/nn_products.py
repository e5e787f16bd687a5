"""Matrix products and bias.

The gradient of a factor is a product of the other factor and the gradient. If the operands have a narrower element type
than the result, the gradient is converted to it.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.nn_dense_pack import ContribDensePackOp
from xrelay.dialects.relay.ops.nn_matmul import BatchMatmulOp, MatmulOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(DenseOp)
def dense(op: DenseOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient times the weight, and its transpose times the data, with outer axes merged to rows."""
    rows, data = _matrix(emit.cast_like(gradient, op.data), emit), _matrix(op.data, emit)
    of_data = emit.op("nn.matmul", rows, op.weight)
    return [emit.reshape_like(of_data, op.data), emit.op("nn.matmul", rows, data, transpose_a=True)]


@differentiates(ContribDensePackOp)
def contrib_dense_pack(op: ContribDensePackOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradients of `nn.dense`, with conversions of the packed weight."""
    packed: dict[str, AttributeValue] = {"src_layout": "NC", "dst_layout": str(op.layout)}
    turned: dict[str, AttributeValue] = {"src_layout": str(op.layout), "dst_layout": "NC"}
    rows, data = _matrix(emit.cast_like(gradient, op.data), emit), _matrix(op.data, emit)
    of_data = emit.op("nn.matmul", rows, emit.op("layout_transform", op.weight, **turned))
    of_weight = emit.op("nn.matmul", rows, data, transpose_a=True)
    return [emit.reshape_like(of_data, op.data), emit.op("layout_transform", of_weight, **packed)]


@differentiates(MatmulOp)
def matmul(op: MatmulOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradients of a stack of products; that of the single matrix is the sum over the stack."""
    flip_a, flip_b = op.transposed
    gradient = emit.cast_like(gradient, op.tensor_a)
    of_a = emit.op("nn.matmul", gradient, op.tensor_b, transpose_b=not flip_b)
    rows, data = _matrix(gradient, emit), _matrix(_flipped(op.tensor_a, emit) if flip_a else op.tensor_a, emit)
    factors = (rows, data) if flip_b else (data, rows)
    return [_flipped(of_a, emit) if flip_a else of_a, emit.op("nn.matmul", *factors, transpose_a=True)]


@differentiates(BatchMatmulOp)
def batch_matmul(op: BatchMatmulOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns G Bᵀ and Aᵀ G for Y = A B, or their transposes, summed over broadcast axes of a stack."""
    (a, b), (flip_a, flip_b) = op.operands, op.transposed
    gradient = emit.cast_like(gradient, a)

    def product(left: SSAValue, right: SSAValue, *, flip_left: bool, flip_right: bool) -> SSAValue:
        return emit.op("nn.batch_matmul", left, right, transpose_a=flip_left, transpose_b=flip_right)

    if flip_a:
        of_a = product(b, gradient, flip_left=flip_b, flip_right=True)
    else:
        of_a = product(gradient, b, flip_left=False, flip_right=not flip_b)
    if flip_b:
        of_b = product(gradient, a, flip_left=True, flip_right=flip_a)
    else:
        of_b = product(a, gradient, flip_left=not flip_a, flip_right=False)
    return [emit.sum_like(of_a, a), emit.sum_like(of_b, b)]


@differentiates(BiasAddOp)
def bias_add(op: BiasAddOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient, and its sum over all axes except that of the bias."""
    return [gradient, emit.op("sum", gradient, axis=(op.axis.value.data,), exclude=True)]


def _matrix(value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Merges all axes except the last."""
    rank = len(emit.shape(value))
    if rank == 1:
        return emit.op("expand_dims", value, axis=0)
    for behind in range(rank - 2, 0, -1):
        # -3 merges two axes and 0 keeps an axis, so no extent has to be known.
        value = emit.op("reshape", value, newshape=(-3, *[0] * behind))
    return value


def _flipped(value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Transposes the matrices of a stack."""
    rank = len(emit.shape(value))
    return emit.op("transpose", value, axes=(*range(rank - 2), rank - 1, rank - 2))
