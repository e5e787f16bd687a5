"""The sizes of block-sparse matrices, given by values, column indices and row pointers."""

from __future__ import annotations

from dataclasses import dataclass

from xrelay.dialects.relay.core.facts import Facts
from xrelay.index_algebra.dims import Dim, Shape, remainder


@dataclass(frozen=True)
class BlockSizes:
    """The sizes of a block-sparse matrix: `count` blocks of `rows` by `columns` elements in `pointers - 1` block rows.

    A vector of elements (CSR) has 1 by 1 blocks; a matrix has blocks with one column.
    """

    count: Dim
    rows: Dim
    columns: Dim
    pointers: Dim

    @staticmethod
    def of(data: Shape, indptr: Shape) -> BlockSizes:
        """Returns the sizes for the shapes of `data` and `indptr`."""
        count, rows, columns = (*data, *(1,) * (3 - len(data)))
        return BlockSizes(count, rows, columns, indptr[0])

    @property
    def height(self) -> Dim:
        """The number of rows of the matrix."""
        return (self.pointers - 1) * self.rows


def require_sparse(facts: Facts, depth: Dim, constraints: tuple[str, str]) -> BlockSizes:
    """Returns the sizes of a sparse matrix with `depth` columns, given by the operands after the first.

    Requires, with the ids `constraints`, that the operands match and that the columns consist of whole blocks.
    """
    data, (indices,), (pointers,) = facts.shape(1), facts.shape(2), facts.shape(3)
    parts, whole = constraints
    facts.require_equal(data[0], indices, parts, "blocks, and their columns:")
    facts.require_at_least(pointers, 1, parts, "elements of indptr")
    sizes = BlockSizes.of(data, (pointers,))
    for extent, name in ((sizes.rows, "rows"), (sizes.columns, "columns")):
        facts.require_at_least(extent, 1, whole, f"{name} of a block")
    facts.require_equal(remainder(depth, sizes.columns), 0, whole, f"{depth} columns modulo {sizes.columns}:")
    return sizes
