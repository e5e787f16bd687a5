"""Sums and products with sparse matrices: `relay.nn.sparse_dense` and related ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import TupleType, i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.constraints import Constraints, IntegerElements, OneOf, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, ints_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.types import tensor_type
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


class SparseOp(RelayOp):
    """Base of the ops on a dense tensor and a sparse matrix, given by values, column indices and row pointers."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    PARTS: ClassVar[Constraints] = {
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


@register_relay_op
@irdl_op_definition
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
    - C8: blocks have elements, and k is a multiple of their columns.
    - C9: booleans are not multiplied.

    Example:
    ```mlir
    %y = relay.nn.sparse_dense(%x, %v, %i, %p)
        : (tensor<1x128xf32>, tensor<240x32x1xf32>, tensor<240xi32>, tensor<25xi32>) -> tensor<1x768xf32>
    ```

    """

    name = "relay.nn.sparse_dense"
    CONSTRAINTS: ClassVar[Constraints] = SparseOp.PARTS

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


@register_relay_op
@irdl_op_definition
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
    - C9: blocks have elements, and the weight's columns are a multiple of theirs.
    - C10: `kernel_size` is an odd number, twice.
    - C11: booleans are not multiplied.

    Example:
    ```mlir
    %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) {layout = "NCHW", kernel_size = [3, 3]}
        : (tensor<1x16x32x32xf32>, tensor<20x16x1xf32>, tensor<20xi32>, tensor<3xi32>) -> tensor<1x32x32x32xf32>
    ```

    """

    name = "relay.nn.sparse_conv2d"
    CONSTRAINTS: ClassVar[Constraints] = {**SparseOp.PARTS, "C6": OneOf("layout", ("NHWC", "NCHW"))}

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


@register_relay_op
@irdl_op_definition
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
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    CONSTRAINTS: ClassVar[Constraints] = SparseOp.PARTS

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the matrix's type; checks C6 to C8."""
        dense, data = facts.shape(0), facts.shape(1)
        fits = len(dense) == 2 and len(data) == 1
        facts.require(fits, "C6", f"needs ranks 2 and 1, found {len(dense)} and {len(data)}")
        facts.require_equal(data[0], facts.shape(2)[0], "C7", "values, and their columns:")
        facts.require_equal(facts.shape(3)[0], dense[0] + 1, "C7", "elements of indptr, and rows and one:")
        self.require_numbers(facts, "C8")
        return facts.tensor(0)


@register_relay_op
@irdl_op_definition
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
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {
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
