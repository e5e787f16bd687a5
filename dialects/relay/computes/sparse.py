"""Block-sparse matrices, given by values, column indices and row pointers, and coordinates of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.checked_indices import INDEX, checked_indices
from xrelay.dialects.relay.core.block_sparse import BlockSizes
from xrelay.dialects.topi.build import Body, IndexLike, scan, scatter, variables
from xrelay.dialects.topi.compute import Combine
from xrelay.index_algebra.dims import Dim, maximum, quotient


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
        has_row = b.compare(number, "gt", 0)
        last = b.size(pointers, INDEX)
        return b.minus(b.select(has_row, number, last), 1)

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


def complete_shape(build: TopiBuilder, old: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the shape `new` with -1 replaced by the remaining extent."""

    def is_rest(b: Body, value: SSAValue) -> SSAValue:
        return b.compare(value, "eq", -1)

    def multiply_known(b: Body) -> SSAValue:
        value = b.convert(b.read(new, *b.reduction), i64)
        return b.times(b.accumulators[0], b.select(is_rest(b, value), 1, value))

    def multiply(b: Body) -> SSAValue:
        return b.times(b.accumulators[0], b.convert(b.read(old, *b.reduction), i64))

    (before,), (after,) = build.shape(old), build.shape(new)
    total = build.compute("elements", {}, i64, multiply, reduce={"k": before}, init=[1])
    known = build.compute("known_elements", {}, i64, multiply_known, reduce={"k": after}, init=[1])

    def extent(b: Body) -> SSAValue:
        value = b.convert(b.read(new, *b.spatial), i64)
        rest = b.divide(b.read(total), _at_least_one(b, b.read(known)))
        return b.select(is_rest(b, value), rest, value)

    return build.compute("extents", {"j": after}, i64, extent)


def reshaped_coordinates(build: TopiBuilder, indices: SSAValue, old: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the coordinates in the shape `new` of elements whose coordinates in the shape `old` are `indices`.

    The row-major index of an element is preserved. If the shapes are equal, so are the coordinates, also invalid ones.
    """
    (count, parts), (rank,), element = build.shape(indices), build.shape(new), build.element(indices)
    old_strides, strides = _strides(build, old), _strides(build, new)

    def add(b: Body) -> SSAValue:
        own = b.convert(b.read(indices, *b.spatial, *b.reduction), i64)
        return b.accumulate_product(b.accumulators[0], own, b.read(old_strides, *b.reduction))

    number = build.compute("place_number", {"i": count}, i64, add, reduce={"k": parts}, init=[0])

    def place(b: Body) -> SSAValue:
        i, axis = b.spatial
        outer = b.divide(b.read(number, i), _at_least_one(b, b.read(strides, axis)))
        rest = b.add(arith.RemSIOp(outer, _at_least_one(b, b.read(new, axis))))
        return b.convert(b.select(_is_zero(b, axis), outer, rest), element)

    differences = _differences(build, old, new)

    def kept(b: Body) -> SSAValue:
        is_same = b.compare(b.read(differences), "eq", 0)
        stays = b.logical_and(is_same, b.in_bounds([b.spatial[1]], [parts]))
        return b.guard(stays, element, lambda: b.read(indices, *b.spatial), lambda: place(b))

    return build.compute("sparse_reshape", {"i": count, "j": rank}, element, kept)


def _differences(build: TopiBuilder, old: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the number of differing extents of two shapes; 0 only if they are equal."""
    (before,), (after,) = build.shape(old), build.shape(new)

    def add(b: Body) -> SSAValue:
        def differs() -> SSAValue:
            extent = b.convert(b.read(old, *b.reduction), i64)
            return b.add(arith.ExtUIOp(b.compare(extent, "ne", b.read(new, *b.reduction)), i64))

        both = b.in_bounds(b.reduction, [before])
        return b.plus(b.accumulators[0], b.guard(both, i64, differs, 1))

    found = build.compute("differing_extents", {}, i64, add, reduce={"k": after}, init=[0])
    longer = maximum(0, before - after)
    return build.compute("differences", {}, i64, lambda b: b.plus(b.read(found), b.size(longer, i64)))


def _strides(build: TopiBuilder, shape: SSAValue) -> SSAValue:
    """Returns the row-major stride of each axis of a shape."""

    def multiply(b: Body) -> SSAValue:
        (axis,), (other,) = b.spatial, b.reduction
        is_inner = b.compare(b.index(other), "gt", b.index(axis))
        extent = b.convert(b.read(shape, other), i64)
        return b.times(b.accumulators[0], b.select(is_inner, extent, 1))

    (rank,) = build.shape(shape)
    return build.compute("inner_elements", {"j": rank}, i64, multiply, reduce={"k": rank}, init=[1])


def _at_least_one(b: Body, value: SSAValue) -> SSAValue:
    """Returns a nonzero divisor; an extent of 0 has no coordinates."""
    return b.maximum(value, 1)


def _is_zero(b: Body, axis: AffineExpr) -> SSAValue:
    return b.compare(b.index(axis), "eq", 0)
