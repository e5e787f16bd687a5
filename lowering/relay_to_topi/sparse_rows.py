"""Sparse matrices by rows: nn.sparse_add, nn.sparse_transpose, and the row of each value."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.checked_indices import INDEX, checked_indices
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops.nn_sparse import SparseAddOp, SparseTransposeOp
from xrelay.dialects.topi import SortOp
from xrelay.dialects.topi.build import Body, scan
from xrelay.dialects.topi.build_scatter import scatter
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.scatter import Combine
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements


@implements(SparseAddOp, "nn.sparse_add.generic")
@in_single
def build_sparse_add(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Adds each value at its row and column."""
    dense, data, indices, indptr = (emitter.operand(index) for index in range(4))
    (count,), (height, width) = shape_of(data), shape_of(dense)
    rows = checked_indices(emitter, row_of_each(emitter, indptr, count), height, from_end=False)
    columns = checked_indices(emitter, indices, width, from_end=False)

    def add(b: Body) -> tuple[list[SSAValue], SSAValue]:
        return [b.read(rows, *b.spatial), b.read(columns, *b.spatial)], b.read(data, *b.spatial)

    return [emitter.insert(scatter("sparse_add", {"k": count}, Combine.ADD, dense, add)).result]


@implements(SparseTransposeOp, "nn.sparse_transpose.generic")
def build_sparse_transpose(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Sorts the values by column; the columns become the rows, whose starts are the counts of smaller columns."""
    data, indices, indptr = (emitter.operand(index) for index in range(3))
    (count,), (pointers,) = shape_of(data), shape_of(indptr)
    rows = checked_indices(emitter, row_of_each(emitter, indptr, count), pointers - 1, from_end=False)
    columns = checked_indices(emitter, indices, pointers - 1, from_end=False)
    keys = emitter.compute("columns", {"k": count}, i64, lambda b: _number(b, b.read(columns, *b.spatial)))
    order = emitter.insert(SortOp(keys, 0)).indices
    index, pointer = element_of(indices), element_of(indptr)

    def place(b: Body) -> AffineExpr:
        return b.as_index(b.add(arith.IndexCastOp(b.read(order, *b.spatial), INDEX)))

    values = emitter.compute("values", {"k": count}, element_of(data), lambda b: b.read(data, place(b)))
    turned = emitter.compute(
        "turned", {"k": count}, index, lambda b: convert_scalar(b, _number(b, b.read(rows, place(b))), index)
    )
    before = _counted_up(emitter, columns, pointers, exclusive=True)
    begins = emitter.compute(
        "begins", {"p": pointers}, pointer, lambda b: convert_scalar(b, b.read(before, *b.spatial), pointer)
    )
    return [values, turned, begins]


def _number(b: Body, index: SSAValue) -> SSAValue:
    return b.add(arith.IndexCastOp(index, i64))


def row_of_each(emitter: TopiBuilder, indptr: SSAValue, count: Dim) -> SSAValue:
    """Returns the row of each of `count` values; the number of rows for values in no row.

    The row is the number of rows that begin at or before the value, minus one, computed by a histogram and its prefix
    sums.
    """
    (pointers,) = shape_of(indptr)
    begins = checked_indices(emitter, indptr, count + 1, from_end=False)
    begun = _counted_up(emitter, begins, count + 1, exclusive=False)

    def row(b: Body) -> SSAValue:
        number = b.add(arith.IndexCastOp(b.read(begun, *b.spatial), INDEX))
        has_row = b.add(CmpiOp(number, b.constant(0, INDEX), "sgt"))
        last = b.size(pointers, INDEX)
        return b.minus(b.add(SelectOp(has_row, number, last)), b.constant(1, INDEX))

    return emitter.compute("rows", {"k": count}, INDEX, row)


def _counted_up(emitter: TopiBuilder, places: SSAValue, size: Dim, *, exclusive: bool) -> SSAValue:
    """Returns the number of `places` that are at most, or with `exclusive` less than, each number below `size`."""
    none = emitter.compute("none", {"k": size}, i64, lambda b: b.constant(0, i64))

    def count_one(b: Body) -> tuple[list[SSAValue], SSAValue]:
        return [b.read(places, *b.spatial)], b.constant(1, i64)

    space = {"p": shape_of(places)[0]}
    here = emitter.insert(scatter("count_places", space, Combine.ADD, none, count_one)).result

    def add(b: Body) -> list[SSAValue]:
        return [b.plus(b.accumulators[0], b.read(here, *b.spatial))]

    return emitter.insert(scan("count_up", {"k": size}, 0, [i64], add, [0], exclusive=exclusive)).results[0]
