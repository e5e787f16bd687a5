"""Sums and products with sparse matrices: `relay.nn.sparse_dense` and its kin."""

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
    """How a matrix lies in `count` blocks of `rows` by `columns` elements, the rows of blocks `pointers - 1` of them.

    A list of elements (CSR) is one of blocks of 1 by 1, and a matrix one of blocks with one column.
    """

    count: Dim
    rows: Dim
    columns: Dim
    pointers: Dim

    @staticmethod
    def of(data: Shape, indptr: Shape) -> BlockSizes:
        """Those of a sparse matrix by the shapes of two of its parts."""
        count, rows, columns = (*data, *(1,) * (3 - len(data)))
        return BlockSizes(count, rows, columns, indptr[0])

    @property
    def height(self) -> Dim:
        """The rows of the matrix."""
        return (self.pointers - 1) * self.rows


def require_sparse(facts: Facts, depth: Dim, constraints: tuple[str, str]) -> BlockSizes:
    """The sizes of a sparse matrix with `depth` columns, whose parts are the operands behind the first.

    Demands, by the ids of `constraints`, that the parts fit to each other and that whole blocks make the columns.
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
    """Base of the ops on a dense tensor and a sparse matrix: its values, the columns of these, and where rows begin."""

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

    @property
    def may_fail(self) -> bool:
        """A column or the beginning of a row may be out of range."""
        return True

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Insist on the layout of the text."""
        return LayoutRefusal("columns of its sparse matrix are counted along an axis of the layout that the model has")

    def require_numbers(self, facts: Facts, constraint: str) -> None:
        """Require that what is multiplied or added is no boolean."""
        facts.require(facts.element(0) != i1, constraint, "sums have no meaning for booleans", help="cast to int32")


@register_relay_op
@irdl_op_definition
class SparseDenseOp(SparseOp):
    """The product of a matrix (m, k) and the transpose of a sparse matrix (n, k), (m, n); or the other way round.

    With `sparse_lhs` it is the product of the sparse matrix and the transpose of the other one, (n, m).

    The values of the sparse matrix are a list (CSR), or a list of blocks of r rows and c columns (BSR). Row i of
    elements, or of blocks, has those from number `indptr[i]` to before `indptr[i + 1]`, and block number j begins at
    column `indices[j] * c`. Values that stand at one place are added. What is in no row is not used; where `indptr`
    does not ascend, value j is in row `i - 1`, of which i elements are at most j. Halves are added up in f32.

    The op fails where a column lies outside of the matrix, and where an element of `indptr` is less than 0 or greater
    than the number of blocks.

    Constraints:
    - C6: the dense tensor has rank 2, the values have rank 1 or 3.
    - C7: there are as many columns as blocks, and `indptr` has an element.
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
        """As many rows or columns as the matrices have rows; C6 to C9."""
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
    """A convolution with a sparse weight (n, k) in blocks (BSR), with steps of 1, as large as the data.

    A kernel of `kernel_size` s by s reaches s // 2 elements over each border, where the data is 0. Row o of the weight
    is output channel o. Its columns are those of the weight of `nn.conv2d` in a row: of the layout "NHWC" the kernel's
    rows, its columns, then the input channels (HWI), of "NCHW" the channels first (IHW).

    The values are blocks of r rows and c columns, or of r rows and one column. Which block stands where, and what
    fails, is as in `relay.nn.sparse_dense`.

    Constraints:
    - C7: the data has rank 4, the values have rank 2 or 3.
    - C8: there are as many columns as blocks, and `indptr` has an element.
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
        """One size is that of both sides."""
        size = attributes.get("kernel_size")
        return {**attributes, "kernel_size": [size, size]} if isinstance(size, int) else attributes

    @property
    def channel_axis(self) -> int:
        """The axis of the channels."""
        return 3 if self.layout.data == "NHWC" else 1

    def infer_type(self, facts: Facts) -> Attribute:
        """The data's shape with the weight's rows for channels; C7 to C11."""
        data, weight = facts.shape(0), facts.shape(1)
        fits = len(data) == 4 and len(weight) in (2, 3)
        facts.require(fits, "C7", f"needs ranks 4, and 2 or 3, found {len(data)} and {len(weight)}")
        size = ints(self.kernel_size)
        is_odd = len(size) == 2 and size[0] == size[1] and size[0] % 2 == 1 and size[0] > 0
        facts.require(is_odd, "C10", f"a kernel of {list(size)} has no middle")
        axis = self.channel_axis
        height = require_sparse(facts, data[axis] * size[0] * size[1], ("C8", "C9")).height
        self.require_numbers(facts, "C11")
        return tensor_type((*data[:axis], height, *data[axis + 1 :]), facts.element(0))


@register_relay_op
@irdl_op_definition
class SparseAddOp(SparseOp):
    """A matrix plus a sparse one of the same shape, whose values are a list (CSR; see `relay.nn.sparse_dense`).

    Values that stand at one place are added. Halves are added up in f32. The op fails where a value is in no row or
    lies outside of the matrix, and where an element of `indptr` is less than 0 or greater than the number of values.

    Constraints:
    - C6: the dense tensor has rank 2, the values have rank 1.
    - C7: there are as many columns as values, and `indptr` has one element more than the matrix has rows.
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
        """The matrix's type; C6 to C8."""
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
    """The transpose of a square sparse matrix whose values are a list (CSR; see `relay.nn.sparse_dense`), as its parts.

    The result is the tuple of values, columns and `indptr`. Values of one row are in the order of their columns, and
    those that stand at one place in the order that they had. The op fails where a value is in no row or lies outside of
    the matrix, and where an element of `indptr` is less than 0 or greater than the number of values.

    Constraints:
    - C6: there are as many columns as values, and `indptr` has an element.

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

    @property
    def may_fail(self) -> bool:
        """A column or the beginning of a row may be out of range."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """The types of the parts; C6."""
        facts.require_equal(facts.shape(0)[0], facts.shape(1)[0], "C6", "values, and their columns:")
        facts.require_at_least(facts.shape(2)[0], 1, "C6", "elements of indptr")
        (shape, _), (_, column) = facts.operand(0), facts.operand(1)
        return TupleType((facts.tensor(0), tensor_type(shape, column), facts.tensor(2)))
