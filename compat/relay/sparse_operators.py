"""Operators on sparse tensors with the signatures of Relay's Python.

A sparse matrix is a sequence of its three arrays, or an object with the attributes `data`, `indices` and `indptr`, such
as a scipy matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.sparse import SparseAddOp, SparseDenseOp, SparseTransposeOp
from xrelay.dialects.relay.ops.sparse import SparseToDenseOp
from xrelay.relay.dynamic_arguments import apply_operator
from xrelay.relay.expr import Expr, ExprLike, as_value, call


@runtime_checkable
class SparseArrays(Protocol):
    """A sparse matrix in CSR or BSR format."""

    @property
    def data(self) -> ExprLike:
        """The values, or the blocks of values."""
        ...

    @property
    def indices(self) -> ExprLike:
        """The column of each value or block."""
        ...

    @property
    def indptr(self) -> ExprLike:
        """The offset of each row, and the end of the last one."""
        ...


def sparse_to_dense(
    sparse_indices: ExprLike,
    output_shape: Sequence[int] | Expr,
    sparse_values: ExprLike,
    default_value: ExprLike = 0,
) -> Expr:
    """`sparse_to_dense` with Relay's order of arguments: the shape comes second."""
    operands = (sparse_indices, sparse_values, _like_values(default_value, sparse_values))
    return apply_operator(SparseToDenseOp, operands, {"output_shape": output_shape})


def _like_values(number: ExprLike, values: ExprLike) -> ExprLike:
    """Returns a number as a constant of the element type of `values` if known; other values unchanged."""
    type = as_value(values).type if isinstance(values, Expr | SSAValue | Operation) else None
    return as_value(number, type) if isinstance(number, int | float) else number


def sparse_dense(dense_mat: ExprLike, sparse_mat: SparseArrays | Sequence[ExprLike], sparse_lhs: bool = False) -> Expr:
    """`nn.sparse_dense` of a matrix and a sparse matrix passed as one argument."""
    return call(SparseDenseOp, dense_mat, *_arrays(sparse_mat), sparse_lhs=sparse_lhs)


def sparse_transpose(x: SparseArrays | Sequence[ExprLike]) -> Expr:
    """`nn.sparse_transpose` of a sparse matrix passed as one argument."""
    return call(SparseTransposeOp, *_arrays(x))


def sparse_add(dense_mat: ExprLike, sparse_mat: SparseArrays | Sequence[ExprLike]) -> Expr:
    """`nn.sparse_add` of a matrix and a sparse matrix passed as one argument."""
    return call(SparseAddOp, dense_mat, *_arrays(sparse_mat))


def _arrays(matrix: SparseArrays | Sequence[ExprLike]) -> tuple[ExprLike, ExprLike, ExprLike]:
    """Returns the values, columns and row offsets of a sparse matrix."""
    if isinstance(matrix, SparseArrays):
        return matrix.data, matrix.indices, matrix.indptr
    return matrix[0], matrix[1], matrix[2]


SPARSE: Mapping[type[RelayOp], Callable[..., Expr]] = {
    SparseToDenseOp: sparse_to_dense,
    SparseDenseOp: sparse_dense,
    SparseTransposeOp: sparse_transpose,
    SparseAddOp: sparse_add,
}
"""Op → its function."""
