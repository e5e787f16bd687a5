"""Sums, products and convolutions with sparse matrices: `relay.nn.sparse_dense` and related ops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import TupleType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.block_sparse import BlockSizes, require_sparse
from xrelay.dialects.relay.gradients.numbered_elements import numbered, sum_by_number
from xrelay.dialects.relay.meaning.checked_indices import checked
from xrelay.dialects.relay.meaning.element_types import widest
from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    Body,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    IntegerElements,
    Layout,
    LayoutRefusal,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RankOf,
    RelayOp,
    SameElements,
    Shape,
    Tensors,
    TopiBuilder,
    bool_property,
    cast_once,
    ints,
    ints_property,
    not_differentiable,
    product,
    register_relay_op,
    string_property,
    tensor_type,
)


def times_transpose(dense: Array, data: Array, indices: Array, indptr: Array) -> Array:
    """Multiplies a matrix by the transpose of a sparse matrix, block by block.

    Sums are in the widest type of the same kind.
    """
    blocks = data.reshape((*data.shape, *(1,) * (3 - data.ndim)))
    count, rows, columns = blocks.shape
    wide = widest(data.dtype)
    starts = checked(indices, dense.shape[1] // columns, from_end=False) * columns
    places: Array = starts[:, None] + np.arange(int(columns))
    sums = np.zeros((len(indptr), rows, dense.shape[0]), wide)
    with np.errstate(all="ignore"):
        parts = np.einsum("krc,mkc->krm", blocks.astype(wide), dense.astype(wide)[:, places])
        np.add.at(sums, _rows_or_end(indptr, count), parts)
        return cast_once(sums[:-1].reshape((len(indptr) - 1) * rows, dense.shape[0]).T, data.dtype)


def _rows_or_end(indptr: Array, count: int) -> Array:
    """Returns the row of each of `count` values; the number of rows for values in no row."""
    begins = np.sort(checked(indptr, count + 1, from_end=False))
    rows = np.searchsorted(begins, np.arange(count), side="right") - 1
    return np.where(rows < 0, len(indptr) - 1, rows)


def rows_of(indptr: Array, count: int) -> Array:
    """Returns the row of each of `count` values. Raises `InterpreterError` for a value in no row."""
    return checked(_rows_or_end(indptr, count), len(indptr) - 1, from_end=False)


FEW_ROWS = 8
"""The number of rows below which vector lanes would be idle."""


class SparseOp(RelayOp):
    """Base of the ops on a dense tensor and a sparse matrix, given by values, column indices and row pointers."""

    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    HALF_PRECISION = HalfPrecision.SINGLE
    PARTS = {
        "C1": SameElements((0, 1)),
        "C2": IntegerElements(2),
        "C3": RankOf(2, 1, 1),
        "C4": IntegerElements(3),
        "C5": RankOf(3, 1, 1),
    }

    dense_data = operand_def()
    sparse_data = operand_def()
    sparse_indices = operand_def()
    sparse_indptr = operand_def()

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, to which the column indices refer."""
        return LayoutRefusal("the columns of its sparse matrix refer to the original layout")

    def require_numbers(self, facts: Facts, constraint: str) -> None:
        """Requires that the elements are not booleans."""
        facts.require(facts.element(0) != i1, constraint, "sums of booleans are not supported", help="cast to int32")

    def at_values(self, matrix: SSAValue, build: GradientBuilder) -> SSAValue:
        """Returns the elements of a dense matrix at the positions of the values, or blocks; 0 for those in no row."""
        _, data, indices, indptr = self.operands
        if len(build.shape(data)) == 3:
            _, rows, columns = build.shape(data)
            if not isinstance(rows, int) or not isinstance(columns, int):
                raise not_differentiable(self, "the extents of its blocks are not known")
            # Splits rows and columns into blocks: -4 splits an extent, -1 is the inferred part.
            blocks = build.op("reshape", matrix, newshape=(-4, -1, rows, -4, -1, columns))
            matrix = build.op("transpose", blocks, axes=[0, 2, 1, 3])
        row, is_used = _rows(indices, indptr, build)
        column = build.op("cast", indices, dtype=i64)
        found = build.op("gather_nd", matrix, build.op("stack", build.tuple(row, column), axis=0))
        for _ in build.shape(found)[1:]:
            is_used = build.op("expand_dims", is_used, axis=-1)
        return build.op("where", is_used, found, build.zeros_like(found))


@register_relay_op
class SparseDenseOp(SparseOp):
    """The product of a matrix (m, k) and the transpose of a sparse matrix (n, k), or vice versa.

    The result is (m, n). With `sparse_lhs` it is the product of the sparse matrix and the transpose of the dense
    matrix, (n, m).

    The values of the sparse matrix are a vector of elements (CSR), or blocks of r rows and c columns (BSR). Row i of
    elements, or of blocks, has those from index `indptr[i]` to before `indptr[i + 1]`, and block j begins at column
    `indices[j] * c`. Values at the same position are added. Values in no row are ignored. If `indptr` does not ascend,
    value j is in row `i - 1`, where i is the number of elements of `indptr` that are at most j. Half-precision values
    are summed in f32.

    The op fails if a column is outside of the matrix, or if an element of `indptr` is less than 0 or greater than the
    number of blocks.

    Constraints:
    - C6: the dense tensor has rank 2, the values have rank 1 or 3.
    - C7: there are as many column indices as blocks, and `indptr` has at least one element.
    - C8: blocks are not empty, and k is a multiple of a block's columns.
    - C9: booleans are not multiplied.

    Example:
    ```mlir
    %y = relay.nn.sparse_dense(%x, %v, %i, %p)
        : (tensor<1x128xf32>, tensor<240x32x1xf32>, tensor<240xi32>, tensor<25xi32>) -> tensor<1x768xf32>
    ```

    """

    name = "relay.nn.sparse_dense"
    CONSTRAINTS = SparseOp.PARTS

    sparse_lhs = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with one row or column for each row of the matrices; checks C6 to C9."""
        dense, data = facts.shape(0), facts.shape(1)
        fits = len(dense) == 2 and len(data) in (1, 3)
        facts.require(fits, "C6", f"needs ranks 2, and 1 or 3, found {len(dense)} and {len(data)}")
        rows, depth = dense
        height = require_sparse(facts, depth, ("C7", "C8")).height
        self.require_numbers(facts, "C9")
        return tensor_type((height, rows) if self.sparse_lhs.value.data else (rows, height), facts.element(0))

    def evaluate(self, dense: Array, data: Array, indices: Array, indptr: Array) -> Array:
        """Multiplies block by block."""
        product = times_transpose(dense, data, indices, indptr)
        return product.T.copy() if self.sparse_lhs.value.data else product

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds the sums by block rows, and moves them to the order of the result."""
        from xrelay.dialects.relay.computes.sparse import SparseBlocks

        dense, data, indices, indptr = (build.operand(index) for index in range(4))
        (rows, depth), element = build.shape(dense), build.element(dense)
        sizes = BlockSizes.of(build.shape(data), build.shape(indptr))
        is_narrow, is_left = isinstance(rows, int) and rows < FEW_ROWS, bool(self.sparse_lhs.value.data)
        blocks = SparseBlocks(build, data, indices, indptr, depth)
        if is_narrow:
            sums = blocks.sums_of_few(dense)
        else:
            space = {"k": depth, "m": rows}
            turned = build.compute("turned", space, element, lambda b: b.read(dense, *reversed(b.spatial)))
            sums = blocks.sums_of_many(turned)

        def fill(b: Body) -> SSAValue:
            row, at = b.spatial if is_left else reversed(b.spatial)
            block, inner = b.quotient(row, sizes.rows), b.remainder(row, sizes.rows)
            return b.read(sums, *((at, block, inner) if is_narrow else (block, inner, at)))

        return [build.compute("sparse_dense", build.result_shape, element, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient times the densified sparse matrix, and times the data at the position of each value."""
        depth = build.shape(self.dense_data)[1]
        if not isinstance(depth, int):
            raise not_differentiable(self, f"the extent {depth} of its data is not known")
        turned = build.op("transpose", of, axes=[1, 0]) if self.sparse_lhs.value.data else of
        whole = build.op("nn.sparse_dense", build.constant(np.eye(depth), self.dense_data), *self.operands[1:])
        of_dense = build.op("nn.matmul", turned, whole, transpose_b=True)
        of_matrix = build.op("nn.matmul", turned, self.dense_data, transpose_a=True)
        return [of_dense, self.at_values(of_matrix, build), None, None]


@register_relay_op
class SparseAddOp(SparseOp):
    """A matrix plus a sparse matrix of the same shape (CSR; see `relay.nn.sparse_dense`).

    Values at the same position are added. Half-precision values are summed in f32. The op fails if a value is in no row
    or outside of the matrix, or if an element of `indptr` is less than 0 or greater than the number of values.

    Constraints:
    - C6: the dense tensor has rank 2, the values have rank 1.
    - C7: there are as many column indices as values, and `indptr` has one element more than the matrix has rows.
    - C8: booleans are not added.

    Example:
    ```mlir
    %y = relay.nn.sparse_add(%x, %v, %i, %p)
        : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xi32>, tensor<3xi32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.nn.sparse_add"
    PATTERN = OpPatternKind.OPAQUE
    CONSTRAINTS = SparseOp.PARTS

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the matrix's type; checks C6 to C8."""
        dense, data = facts.shape(0), facts.shape(1)
        fits = len(dense) == 2 and len(data) == 1
        facts.require(fits, "C6", f"needs ranks 2 and 1, found {len(dense)} and {len(data)}")
        facts.require_equal(data[0], facts.shape(2)[0], "C7", "values, and their columns:")
        facts.require_equal(facts.shape(3)[0], dense[0] + 1, "C7", "elements of indptr, and rows and one:")
        self.require_numbers(facts, "C8")
        return facts.tensor(0)

    def evaluate(self, dense: Array, data: Array, indices: Array, indptr: Array) -> Array:
        """Adds value by value, in the widest type of the same kind."""
        from xrelay.dialects.relay.meaning.checked_indices import checked
        from xrelay.dialects.relay.meaning.element_types import widest

        columns, rows = checked(indices, dense.shape[1], from_end=False), rows_of(indptr, data.shape[0])
        result = dense.astype(widest(data.dtype))
        with np.errstate(all="ignore"):
            np.add.at(result, (rows, columns), data.astype(result.dtype))
            return cast_once(result, dense.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Adds each value at its row and column."""
        from xrelay.dialects.relay.computes.checked_indices import checked_indices
        from xrelay.dialects.relay.computes.sparse import rows_of_values
        from xrelay.dialects.topi.build import scatter
        from xrelay.dialects.topi.compute import Combine

        dense, data, indices, indptr = (build.operand(index) for index in range(4))
        (count,), (height, width) = build.shape(data), build.shape(dense)
        rows = checked_indices(build, rows_of_values(build, indptr, count), height, from_end=False)
        columns = checked_indices(build, indices, width, from_end=False)

        def add(b: Body) -> tuple[list[SSAValue], SSAValue]:
            return [b.read(rows, *b.spatial), b.read(columns, *b.spatial)], b.read(data, *b.spatial)

        return [build.insert(scatter("sparse_add", {"k": count}, Combine.ADD, dense, add)).result]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient, and its elements at the positions of the values."""
        return [of, self.at_values(of, build), None, None]


@register_relay_op
class SparseTransposeOp(RelayOp):
    """The transpose of a square sparse matrix (CSR; see `relay.nn.sparse_dense`).

    The result is the tuple of values, column indices and `indptr`. The values of a row are sorted by column; values at
    the same position keep their order. The op fails if a value is in no row or outside of the matrix, or if an element
    of `indptr` is less than 0 or greater than the number of values.

    Constraints:
    - C6: there are as many column indices as values, and `indptr` has at least one element.

    Example:
    ```mlir
    %t = relay.nn.sparse_transpose(%v, %i, %p) : (tensor<5xf32>, tensor<5xi32>, tensor<4xi32>)
        -> tuple<tensor<5xf32>, tensor<5xi32>, tensor<4xi32>>
    ```

    """

    name = "relay.nn.sparse_transpose"
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {
        "C1": RankOf(0, 1, 1),
        "C2": IntegerElements(1),
        "C3": RankOf(1, 1, 1),
        "C4": IntegerElements(2),
        "C5": RankOf(2, 1, 1),
    }

    sparse_data = operand_def()
    sparse_indices = operand_def()
    sparse_indptr = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of values, column indices and row pointers; checks C6."""
        facts.require_equal(facts.shape(0)[0], facts.shape(1)[0], "C6", "values, and their columns:")
        facts.require_at_least(facts.shape(2)[0], 1, "C6", "elements of indptr")
        (shape, _), (_, column) = facts.operand(0), facts.operand(1)
        return TupleType((facts.tensor(0), tensor_type(shape, column), facts.tensor(2)))

    def evaluate(self, data: Array, indices: Array, indptr: Array) -> tuple[Array, Array, Array]:
        """Sorts values by column."""
        from xrelay.dialects.relay.meaning.checked_indices import checked

        size = len(indptr) - 1
        columns, rows = checked(indices, size, from_end=False), rows_of(indptr, data.shape[0])
        order = np.lexsort((rows, columns))
        begins = np.append(0, np.cumsum(np.bincount(columns, minlength=size)[:size]))
        return data[order], rows[order].astype(indices.dtype), begins.astype(indptr.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sorts the values by column; the columns become the rows, whose starts are the counts of smaller columns."""
        from xrelay.dialects.relay.computes.checked_indices import checked_indices
        from xrelay.dialects.relay.computes.sparse import counted_up, rows_of_values
        from xrelay.dialects.topi import SortOp

        data, indices, indptr = (build.operand(index) for index in range(3))
        (count,), (pointers,) = build.shape(data), build.shape(indptr)
        rows = checked_indices(build, rows_of_values(build, indptr, count), pointers - 1, from_end=False)
        columns = checked_indices(build, indices, pointers - 1, from_end=False)

        def number(b: Body, index: SSAValue, type: Attribute = i64) -> SSAValue:
            return b.convert(b.add(arith.IndexCastOp(index, i64)), type)

        keys = build.compute("columns", {"k": count}, i64, lambda b: number(b, b.read(columns, *b.spatial)))
        order = build.insert(SortOp(keys, 0)).indices
        before = counted_up(build, columns, pointers, exclusive=True)
        index, pointer = build.element(indices), build.element(indptr)

        def place(b: Body) -> AffineExpr:
            return b.read_index(order, *b.spatial)

        def begin(b: Body) -> SSAValue:
            return b.convert(b.read(before, *b.spatial), pointer)

        return [
            build.compute("values", {"k": count}, build.element(data), lambda b: b.read(data, place(b))),
            build.compute("turned", {"k": count}, index, lambda b: number(b, b.read(rows, place(b)), index)),
            build.compute("begins", {"p": pointers}, pointer, begin),
        ]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of the values at their original indices."""
        numbers = numbered(self.sparse_data, build)
        moved = build.op("nn.sparse_transpose", numbers, self.sparse_indices, self.sparse_indptr)
        return [sum_by_number(build.item(moved, 0), build.item(of, 0), self.sparse_data, build), None, None]


def _rows(indices: SSAValue, indptr: SSAValue, build: GradientBuilder) -> tuple[SSAValue, SSAValue]:
    """Returns the row of each value, the last that begins at or before it, and whether there is one."""
    begins = build.op("cast", indptr, dtype=i64)
    numbers = build.op("subtract", numbered(indices, build), 1)
    row = build.op("subtract", build.op("searchsorted", begins, numbers, right=True, dtype=i64), 1)
    last = build.op("subtract", build.op("sum", build.ones_like(begins)), 2)
    is_used = build.op("logical_and", build.op("greater_equal", row, 0), build.op("less_equal", row, last))
    return build.op("maximum", build.op("minimum", row, last), 0), is_used


@register_relay_op
class SparseConv2dOp(SparseOp):
    """A convolution with a block-sparse weight (n, k) and stride 1; the result is as large as the data.

    The data is padded with s // 2 zeros on each side for a `kernel_size` of s by s. Row o of the weight is output
    channel o. Its columns are the flattened weight of `nn.conv2d`: for layout "NHWC" the kernel's rows, its columns and
    the input channels (HWI), for "NCHW" with the input channels first (IHW).

    The values are blocks of r rows and c columns, or of r rows and one column. `relay.nn.sparse_dense` documents the
    positions of blocks and the errors.

    Constraints:
    - C7: the data has rank 4, the values have rank 2 or 3.
    - C8: there are as many column indices as blocks, and `indptr` has at least one element.
    - C9: blocks are not empty, and the weight's columns are a multiple of a block's.
    - C10: `kernel_size` is two equal odd numbers.
    - C11: booleans are not multiplied.

    Example:
    ```mlir
    %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) {layout = "NCHW", kernel_size = [3, 3]}
        : (tensor<1x16x32x32xf32>, tensor<20x16x1xf32>, tensor<20xi32>, tensor<3xi32>) -> tensor<1x32x32x32xf32>
    ```

    """

    name = "relay.nn.sparse_conv2d"
    CONSTRAINTS = {**SparseOp.PARTS, "C6": OneOf("layout", ("NHWC", "NCHW"))}

    layout = string_property("NHWC")
    kernel_size = ints_property(1, 1)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts one size for both sides."""
        size = attributes.get("kernel_size")
        return {**attributes, "kernel_size": [size, size]} if isinstance(size, int) else attributes

    @property
    def channel_axis(self) -> int:
        """The axis of the data's channels."""
        return 3 if self.layout.data == "NHWC" else 1

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the weight's rows as channels; checks C7 to C11."""
        data, weight = facts.shape(0), facts.shape(1)
        fits = len(data) == 4 and len(weight) in (2, 3)
        facts.require(fits, "C7", f"needs ranks 4, and 2 or 3, found {len(data)} and {len(weight)}")
        size = ints(self.kernel_size)
        is_odd = len(size) == 2 and size[0] == size[1] and size[0] % 2 == 1 and size[0] > 0
        facts.require(is_odd, "C10", f"the kernel {list(size)} has no centre")
        axis = self.channel_axis
        height = require_sparse(facts, data[axis] * size[0] * size[1], ("C8", "C9")).height
        self.require_numbers(facts, "C11")
        return tensor_type((*data[:axis], height, *data[axis + 1 :]), facts.element(0))

    def evaluate(self, data: Array, weight: Array, indices: Array, indptr: Array) -> Array:
        """Multiplies the matrix of all windows by the weight."""
        axis, (size, _) = self.channel_axis, ints(self.kernel_size)
        images = np.moveaxis(data, axis, -1)
        count, height, width, channels = images.shape
        # An image without rows or columns has no windows, but numpy requires space for one.
        room = [
            (0, 0) if edge in (0, 3) else (size // 2, max(size // 2, size - extent))
            for edge, extent in enumerate(images.shape)
        ]
        padded = np.pad(images, room)
        windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (1, 2))[:, :height, :width]
        order = (0, 1, 2, 4, 5, 3) if axis == 3 else (0, 1, 2, 3, 4, 5)
        matrix = windows.transpose(order).reshape(count * height * width, channels * size * size)
        blocks = weight.reshape((*weight.shape, *(1,) * (3 - weight.ndim)))
        result = times_transpose(matrix, blocks, indices, indptr)
        return np.moveaxis(result.reshape(count, height, width, result.shape[1]), -1, axis).copy()

    def compute(self, build: TopiBuilder) -> Tensors:
        """Multiplies the weight by the matrix whose columns are all windows."""
        from xrelay.dialects.relay.computes.scalars import row_major
        from xrelay.dialects.relay.computes.sparse import SparseBlocks

        data, weight, indices, indptr = (build.operand(index) for index in range(4))
        axis, pixels, columns = self.channel_axis, self._pixels(build), self._windows(build, data)
        blocks = SparseBlocks(build, weight, indices, indptr, build.shape(columns)[0])
        sums, rows = blocks.sums_of_many(columns), blocks.sizes.rows

        def fill(b: Body) -> SSAValue:
            channel, point = b.spatial[axis], [*b.spatial[:axis], *b.spatial[axis + 1 :]]
            pixel = row_major(b, point, pixels)
            return b.read(sums, b.quotient(channel, rows), b.remainder(channel, rows), pixel)

        return [build.compute("sparse_conv2d", build.result_shape, build.element(data), fill)]

    def _pixels(self, build: TopiBuilder) -> Shape:
        """Returns the numbers of images, rows and columns."""
        shape, axis = build.shape(build.operand(0)), self.channel_axis
        return (*shape[:axis], *shape[axis + 1 :])

    def _windows(self, build: TopiBuilder, data: SSAValue) -> SSAValue:
        """Returns the elements of all windows, zero-padded: (columns of the weight, pixels)."""
        axis, (size, _) = self.channel_axis, ints(self.kernel_size)
        pixels, channels, element = self._pixels(build), build.shape(data)[axis], build.element(data)
        _, height, width = pixels

        def fill(b: Body) -> SSAValue:
            k, m = b.spatial
            if axis == 3:
                tap, channel = b.quotient(k, channels), b.remainder(k, channels)
            else:
                channel, tap = b.quotient(k, size * size), b.remainder(k, size * size)
            row = b.quotient(m, width)
            y = b.remainder(row, height) + b.quotient(tap, size) - size // 2
            x = b.remainder(m, width) + b.remainder(tap, size) - size // 2
            at = [b.quotient(row, height), y, x]
            at.insert(axis, channel)
            if size == 1:
                return b.read(data, *at)
            return b.guard(b.in_bounds([y, x], [height, width]), element, lambda: b.read(data, *at), 0)

        return build.compute("windows", {"k": channels * (size * size), "m": product(pixels)}, element, fill)
