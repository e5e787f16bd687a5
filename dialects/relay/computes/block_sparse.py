"""Block-sparse matrices, given by values, column indices and row pointers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.checked_indices import INDEX, checked_indices
from xrelay.dialects.relay.core.block_sparse import BlockSizes
from xrelay.dialects.topi.build import Body, IndexLike, scan, variables
from xrelay.dialects.topi.build_scatter import scatter
from xrelay.dialects.topi.scatter import Combine
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.dims import Dim, quotient


class SparseBlocks:
    """The blocks of a sparse matrix of `depth` columns, with their block rows and block columns.

    Products multiply each block by the matching columns of a dense matrix and add them to the sums of its block row.
    Contiguous sums are vectorised: along the rows of the dense matrix if it has enough, else along the rows of a block.
    """

    def __init__(self, build: TopiBuilder, data: SSAValue, indices: SSAValue, indptr: SSAValue, depth: Dim):
        self._build, self._data, self._element = build, data, build.element(data)
        self.sizes = BlockSizes.of(build.shape(data), build.shape(indptr))
        self._rows = rows_of_values(build, indptr, self.sizes.count)
        self._columns = checked_indices(build, indices, quotient(depth, self.sizes.columns), from_end=False)

    def sums_of_few(self, dense: SSAValue) -> SSAValue:
        """Returns the sums (dense rows, block rows, rows of a block); the columns of a block are summed first."""
        build, sizes, few = self._build, self.sizes, self._build.shape(dense)[0]
        space = {"m": few, "k": sizes.count, "r": sizes.rows}

        def product(b: Body, c: IndexLike) -> tuple[SSAValue, SSAValue]:
            m, k, r = b.spatial
            return self._value(b, k, r, c), b.read(dense, m, self._column(b, k, c))

        if sizes.columns == 1:
            parts = build.compute("products", space, self._element, lambda b: b.times(*product(b, 0)))
        else:
            parts = build.compute(
                "products",
                space,
                self._element,
                lambda b: b.accumulate_product(b.accumulators[0], *product(b, b.reduction[0])),
                reduce={"c": sizes.columns},
                init=[0],
            )

        def add(b: Body) -> tuple[list[SSAValue], SSAValue]:
            m, _, r = b.variables
            return [m, b.read(self._rows, b.spatial[1]), r], b.read(parts, *b.spatial)

        return self._added([few, sizes.pointers, sizes.rows], space, add)

    def sums_of_many(self, turned: SSAValue) -> SSAValue:
        """Returns the sums (block rows, rows of a block, columns of `turned`, the transposed dense matrix)."""
        sizes, many = self.sizes, self._build.shape(turned)[1]

        def add(b: Body) -> tuple[list[SSAValue], SSAValue]:
            k, c, r, m = b.spatial
            value = b.times(self._value(b, k, r, c), b.read(turned, self._column(b, k, c), m))
            return [b.read(self._rows, k), *b.variables[2:]], value

        space = {"k": sizes.count, "c": sizes.columns, "r": sizes.rows, "m": many}
        return self._added([sizes.pointers, sizes.rows, many], space, add)

    def _added(
        self, shape: Sequence[Dim], space: Mapping[str, Dim], add: Callable[[Body], tuple[list[SSAValue], SSAValue]]
    ) -> SSAValue:
        """Returns sums of `shape`, to which `add` adds in the order of the points of `space`."""
        element = self._element
        zero = self._build.compute("zeros", variables("i", shape), element, lambda b: b.constant(0, element))
        return self._build.insert(scatter("sums", space, Combine.ADD, zero, add)).result

    def _value(self, b: Body, k: IndexLike, r: IndexLike, c: IndexLike) -> SSAValue:
        """Returns an element of a block."""
        return b.read(self._data, *(k, r, c)[: len(self._build.shape(self._data))])

    def _column(self, b: Body, k: IndexLike, c: IndexLike) -> IndexLike:
        """Returns the column of the matrix for a column of a block."""
        start = b.scaled(b.read_index(self._columns, k), self.sizes.columns)
        return start + b.expr(c)


def rows_of_values(build: TopiBuilder, indptr: SSAValue, count: Dim) -> SSAValue:
    """Returns the row of each of `count` values; the number of rows for values in no row.

    The row is the number of rows that begin at or before the value, minus one, computed by a histogram and its prefix
    sums.
    """
    (pointers,) = build.shape(indptr)
    begins = checked_indices(build, indptr, count + 1, from_end=False)
    begun = counted_up(build, begins, count + 1, exclusive=False)

    def row(b: Body) -> SSAValue:
        number = b.add(arith.IndexCastOp(b.read(begun, *b.spatial), INDEX))
        has_row = b.add(CmpiOp(number, b.constant(0, INDEX), "sgt"))
        last = b.size(pointers, INDEX)
        return b.minus(b.add(SelectOp(has_row, number, last)), b.constant(1, INDEX))

    return build.compute("rows", {"k": count}, INDEX, row)


def counted_up(build: TopiBuilder, places: SSAValue, size: Dim, *, exclusive: bool) -> SSAValue:
    """Returns the number of `places` that are at most, or with `exclusive` less than, each number below `size`."""
    zeros = build.compute("none", {"k": size}, i64, lambda b: b.constant(0, i64))

    def count_one(b: Body) -> tuple[list[SSAValue], SSAValue]:
        return [b.read(places, *b.spatial)], b.constant(1, i64)

    space = {"p": build.shape(places)[0]}
    here = build.insert(scatter("count_places", space, Combine.ADD, zeros, count_one)).result

    def add(b: Body) -> list[SSAValue]:
        return [b.plus(b.accumulators[0], b.read(here, *b.spatial))]

    return build.insert(scan("count_up", {"k": size}, 0, [i64], add, [0], exclusive=exclusive)).results[0]
