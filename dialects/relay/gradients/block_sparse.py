"""Gradients of the values of block-sparse matrices: those of their positions in the matrix."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.gradients.builder import GradientBuilder, not_differentiable
from xrelay.dialects.relay.gradients.numbered_elements import numbered


def at_values(op: RelayOp, matrix: SSAValue, build: GradientBuilder) -> SSAValue:
    """Returns the elements of a dense matrix at the positions of the values of `op`, or blocks; 0 for those in no row.

    The operands of `op` after the first are the values, column indices and row pointers.
    """
    _, data, indices, indptr = op.operands
    if len(build.shape(data)) == 3:
        _, rows, columns = build.shape(data)
        if not isinstance(rows, int) or not isinstance(columns, int):
            raise not_differentiable(op, "the extents of its blocks are not known")
        # Splits rows and columns into blocks: -4 splits an extent, -1 is the inferred part.
        blocks = build.op("reshape", matrix, newshape=(-4, -1, rows, -4, -1, columns))
        matrix = build.op("transpose", blocks, axes=[0, 2, 1, 3])
    row, is_used = _rows(indices, indptr, build)
    column = build.op("cast", indices, dtype=i64)
    found = build.op("gather_nd", matrix, build.op("stack", build.tuple(row, column), axis=0))
    for _ in build.shape(found)[1:]:
        is_used = build.op("expand_dims", is_used, axis=-1)
    return build.op("where", is_used, found, build.zeros_like(found))


def _rows(indices: SSAValue, indptr: SSAValue, build: GradientBuilder) -> tuple[SSAValue, SSAValue]:
    """Returns the row of each value, the last that begins at or before it, and whether there is one."""
    begins = build.op("cast", indptr, dtype=i64)
    numbers = build.op("subtract", numbered(indices, build), 1)
    row = build.op("subtract", build.op("searchsorted", begins, numbers, right=True, dtype=i64), 1)
    last = build.op("subtract", build.op("sum", build.ones_like(begins)), 2)
    is_used = build.op("logical_and", build.op("greater_equal", row, 0), build.op("less_equal", row, last))
    return build.op("maximum", build.op("minimum", row, last), 0), is_used
