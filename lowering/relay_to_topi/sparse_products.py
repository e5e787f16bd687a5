"""Products with sparse matrices: nn.sparse_dense, nn.sparse_conv2d.

Each block is multiplied by the matching columns of the dense matrix and added to the sums of its block row. Contiguous
sums are vectorised: along the rows of the dense matrix if it has enough, else along the rows of a block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.checked_indices import checked_indices
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops.nn_sparse import BlockSizes, SparseConv2dOp, SparseDenseOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.build_scatter import scatter
from xrelay.dialects.topi.scatter import Combine
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim, Shape, product, quotient
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.relay_to_topi.sparse_rows import row_of_each

FEW_ROWS: Final = 8
"""The number of rows below which vector lanes would be idle."""


@implements(SparseDenseOp, "nn.sparse_dense.generic")
@in_single
def build_sparse_dense(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the sums by block rows, transposed to the order of the result."""
    dense, data, indices, indptr = (emitter.operand(index) for index in range(4))
    rows, is_left = shape_of(dense)[0], emitter.flag("sparse_lhs")
    sizes = BlockSizes.of(shape_of(data), shape_of(indptr))
    is_narrow = isinstance(rows, int) and rows < FEW_ROWS
    blocks = _Blocks(emitter, data, indices, indptr, depth=shape_of(dense)[1])
    sums = blocks.sums_of_few(dense) if is_narrow else blocks.sums_of_many(_turned(emitter, dense))

    def fill(b: Body) -> SSAValue:
        row, at = b.spatial if is_left else reversed(b.spatial)
        block, inner = b.quotient(row, sizes.rows), b.remainder(row, sizes.rows)
        return b.read(sums, *((at, block, inner) if is_narrow else (block, inner, at)))

    return [emitter.compute("sparse_dense", variables("i", emitter.result_shape), element_of(sums), fill)]


def _turned(emitter: TopiBuilder, matrix: SSAValue) -> SSAValue:
    rows, columns = shape_of(matrix)
    space = {"k": columns, "m": rows}
    return emitter.compute("turned", space, element_of(matrix), lambda b: b.read(matrix, *reversed(b.spatial)))


@implements(SparseConv2dOp, "nn.sparse_conv2d.generic")
@in_single
def build_sparse_conv2d(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Multiplies the weight by the matrix whose columns are all windows."""
    data, weight, indices, indptr = (emitter.operand(index) for index in range(4))
    op = emitter.op
    assert isinstance(op, SparseConv2dOp), "the implementation of sparse_conv2d"
    columns = _windows(emitter, data, op.channel_axis)
    sums = _Blocks(emitter, weight, indices, indptr, depth=shape_of(columns)[0]).sums_of_many(columns)
    sizes, image = BlockSizes.of(shape_of(weight), shape_of(indptr)), _Image(shape_of(data), op.channel_axis)

    def fill(b: Body) -> SSAValue:
        channel, place = b.spatial[op.channel_axis], image.number(b, b.spatial)
        return b.read(sums, b.quotient(channel, sizes.rows), b.remainder(channel, sizes.rows), place)

    return [emitter.compute("sparse_conv2d", variables("i", emitter.result_shape), element_of(sums), fill)]


class _Image:
    """Linear indices of pixels of images whose channels are at an axis."""

    def __init__(self, shape: Shape, axis: int):
        self._axis = axis
        self.channels = shape[axis]
        self.count, self.height, self.width = (*shape[:axis], *shape[axis + 1 :])

    def number(self, b: Body, point: Sequence[AffineExpr]) -> AffineExpr:
        """Returns the linear index of a pixel."""
        image, y, x = (*point[: self._axis], *point[self._axis + 1 :])
        return b.scaled(b.scaled(image, self.height) + y, self.width) + x

    def point(self, b: Body, number: AffineExpr) -> tuple[AffineExpr, AffineExpr, AffineExpr]:
        """Returns the image, row and column of a linear index."""
        row = b.quotient(number, self.width)
        return b.quotient(row, self.height), b.remainder(row, self.height), b.remainder(number, self.width)

    def access(self, image: AffineExpr, y: AffineExpr, x: AffineExpr, channel: AffineExpr) -> list[AffineExpr]:
        """Returns the indices of an element."""
        at = [image, y, x]
        at.insert(self._axis, channel)
        return at


def _windows(emitter: TopiBuilder, data: SSAValue, axis: int) -> SSAValue:
    """Returns the elements of all windows, zero-padded: (columns of the weight, pixels)."""
    image, element, (size, _) = _Image(shape_of(data), axis), element_of(data), emitter.ints("kernel_size")
    space = {"k": image.channels * (size * size), "m": product((image.count, image.height, image.width))}

    def fill(b: Body) -> SSAValue:
        k, m = b.spatial
        if axis == 3:
            tap, channel = b.quotient(k, image.channels), b.remainder(k, image.channels)
        else:
            channel, tap = b.quotient(k, size * size), b.remainder(k, size * size)
        number, y, x = image.point(b, m)
        y, x = y + b.quotient(tap, size) - size // 2, x + b.remainder(tap, size) - size // 2
        if size == 1:
            return b.read(data, *image.access(number, y, x, channel))
        inside = b.in_bounds([y, x], [image.height, image.width])
        at = image.access(number, y, x, channel)
        return b.guard(inside, element, lambda: b.read(data, *at), lambda: b.constant(0, element))

    return emitter.compute("windows", space, element, fill)


class _Blocks:
    """The blocks of a sparse matrix with their block rows and block columns."""

    def __init__(self, emitter: TopiBuilder, data: SSAValue, indices: SSAValue, indptr: SSAValue, depth: Dim):
        self._emitter, self._data, self._element = emitter, data, element_of(data)
        self._sizes = BlockSizes.of(shape_of(data), shape_of(indptr))
        self._rows = row_of_each(emitter, indptr, self._sizes.count)
        self._columns = checked_indices(emitter, indices, quotient(depth, self._sizes.columns), from_end=False)

    def sums_of_few(self, dense: SSAValue) -> SSAValue:
        """Returns the sums (dense rows, block rows, rows of a block); the columns of a block are summed first."""
        sizes, few = self._sizes, shape_of(dense)[0]
        space = {"m": few, "k": sizes.count, "r": sizes.rows}

        def product(b: Body, c: IndexLike) -> tuple[SSAValue, SSAValue]:
            m, k, r = b.spatial
            return self._value(b, k, r, c), b.read(dense, m, self._column(b, k, c))

        if sizes.columns == 1:
            parts = self._emitter.compute("products", space, self._element, lambda b: b.times(*product(b, 0)))
        else:
            parts = self._emitter.compute(
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
        sizes, many = self._sizes, shape_of(turned)[1]

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
        zero = self._emitter.compute("zeros", variables("i", shape), element, lambda b: b.constant(0, element))
        return self._emitter.insert(scatter("sums", space, Combine.ADD, zero, add)).result

    def _value(self, b: Body, k: IndexLike, r: IndexLike, c: IndexLike) -> SSAValue:
        """Returns an element of a block."""
        return b.read(self._data, *(k, r, c)[: len(shape_of(self._data))])

    def _column(self, b: Body, k: IndexLike, c: IndexLike) -> IndexLike:
        """Returns the column of the matrix for a column of a block."""
        start = b.scaled(b.as_index(b.read(self._columns, k)), self._sizes.columns)
        return start + b.expr(c)
