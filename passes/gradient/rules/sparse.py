"""Products and sums with sparse matrices: the gradient of a value is that of its position in the matrix."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.axis_products import matrix_of
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.gradients.numbered_elements import collected, numbered
from xrelay.dialects.relay.ops.nn_sparse import SparseAddOp, SparseDenseOp, SparseTransposeOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(SparseDenseOp)
def sparse_dense(op: SparseDenseOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient times the densified sparse matrix, and times the data at the position of each value."""
    depth = emit.shape(op.dense_data)[1]
    if not isinstance(depth, int):
        raise not_differentiable(op, f"the extent {depth} of its data is not known")
    parts = (op.sparse_data, op.sparse_indices, op.sparse_indptr)
    turned = emit.op("transpose", gradient, axes=[1, 0]) if op.sparse_lhs.value.data else gradient
    whole = emit.op("nn.sparse_dense", matrix_of(np.eye(depth), op.dense_data, emit), *parts)
    of_dense = emit.op("nn.matmul", turned, whole, transpose_b=True)
    of_matrix = emit.op("nn.matmul", turned, op.dense_data, transpose_a=True)
    return [of_dense, _at_places(op, of_matrix, emit), None, None]


@differentiates(SparseAddOp)
def sparse_add(op: SparseAddOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient, and its elements at the positions of the values."""
    return [gradient, _at_places(op, gradient, emit), None, None]


@differentiates(SparseTransposeOp)
def sparse_transpose(op: SparseTransposeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradients of the values at their original indices."""
    moved = emit.op("nn.sparse_transpose", numbered(op.sparse_data, emit), op.sparse_indices, op.sparse_indptr)
    return [collected(emit.item(moved, 0), emit.item(gradient, 0), op.sparse_data, emit), None, None]


def _at_places(op: SparseDenseOp | SparseAddOp, matrix: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the elements of a dense matrix at the positions of values, or blocks; 0 for those in no row."""
    if len(emit.shape(op.sparse_data)) == 3:
        _, rows, columns = emit.shape(op.sparse_data)
        if not isinstance(rows, int) or not isinstance(columns, int):
            raise not_differentiable(op, "the extents of its blocks are not known")
        # Splits rows and columns into blocks: -4 splits an extent, -1 is the inferred part.
        blocks = emit.op("reshape", matrix, newshape=(-4, -1, rows, -4, -1, columns))
        matrix = emit.op("transpose", blocks, axes=[0, 2, 1, 3])
    row, is_used = _rows(op, emit)
    column = emit.op("cast", op.sparse_indices, dtype=i64)
    found = emit.op("gather_nd", matrix, emit.op("stack", emit.tuple(row, column), axis=0))
    for _ in emit.shape(found)[1:]:
        is_used = emit.op("expand_dims", is_used, axis=-1)
    return emit.op("where", is_used, found, emit.zeros_like(found))


def _rows(op: SparseDenseOp | SparseAddOp, emit: GradientBuilder) -> tuple[SSAValue, SSAValue]:
    """Returns the row of each value, the last that begins at or before it, and whether there is one."""
    begins = emit.op("cast", op.sparse_indptr, dtype=i64)
    numbers = emit.op("subtract", numbered(op.sparse_indices, emit), 1)
    row = emit.op("subtract", emit.op("searchsorted", begins, numbers, right=True, dtype=i64), 1)
    last = emit.op("subtract", emit.op("sum", emit.ones_like(begins)), 2)
    is_used = emit.op("logical_and", emit.op("greater_equal", row, 0), emit.op("less_equal", row, last))
    return emit.op("maximum", emit.op("minimum", row, last), 0), is_used
