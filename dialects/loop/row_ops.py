"""`loop.sort` and `loop.suppress`: they process a whole row of buffers, as statements of a block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, MemRefType, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from xrelay.dialects.loop.base import CheckedOp
from xrelay.dialects.loop.extents import extents_of
from xrelay.index_algebra.dims import Dim


class RowOp(CheckedOp, ABC):
    """Base of the ops that process one row; rows write to disjoint memory, so they may run in any order."""

    @property
    @abstractmethod
    def numbers(self) -> Sequence[SSAValue]:
        """The index values that select the row."""

    @property
    @abstractmethod
    def read_buffers(self) -> Sequence[SSAValue]:
        """The buffers that are only read."""

    @property
    @abstractmethod
    def writes(self) -> Sequence[SSAValue]:
        """The buffers that are stored to."""

    @property
    @abstractmethod
    def length(self) -> int | SSAValue | None:
        """The number of elements of a row; `None` if unknown."""


@irdl_op_definition
class SortOp(RowOp):
    """Sorts one row of `source` along `axis`, and stores the first elements and their original positions.

    The index values in brackets select the row, one for each dimension but `axis`. `values` and `indices` have as many
    elements along the axis as are kept. Order, NaN and equal elements are as in `topi.sort`; `unsigned` compares
    integers as unsigned, since elements are signless below the loop level. `selects` keeps candidates for the `k` first
    elements in scratch, instead of the whole row: faster if k is much less than the length. Each row has its own row in
    the scratch buffers, so rows may be sorted in any order and in parallel. The contents of the scratch buffers are
    undefined afterwards.

    - C1: one row index for each dimension of the source but one; 0 <= axis < rank.
    - C2: values and indices have the shape of the source, but along the axis at most its extent; the scratch buffers
      have the source's other extents, followed by twice the extent along the axis, or with `selects` by twice 2 k + 64,
      or twice k up to 16. Lengths are numbers or known values.
    - C3: values have the source's element type; keys, the first scratch buffer, integers of as many bits, at least 8;
      indices and the second scratch buffer i64.

    ```mlir
    func.func @f(%X: memref<4x8xf32>, %V: memref<4x3xf32>, %I: memref<4x3xi64>, %a: memref<4x16xi32>,
                 %b: memref<4x16xi64>, %row: index) {
      loop.sort %X[%row] into %V, %I scratch %a, %b {axis = 1 : i64, descending}
        : memref<4x8xf32>, memref<4x3xf32>, memref<4x3xi64>, memref<4x16xi32>, memref<4x16xi64>
      func.return
    }
    ```
    """

    name = "loop.sort"

    source = operand_def(MemRefType)
    row = var_operand_def(IndexType)
    values = operand_def(MemRefType)
    indices = operand_def(MemRefType)
    scratch_keys = operand_def(MemRefType)
    scratch_indices = operand_def(MemRefType)
    axis = prop_def(IntegerAttr[IntegerType])
    descending = opt_prop_def(UnitAttr)
    unsigned = opt_prop_def(UnitAttr)
    selects = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$source `[` $row `]` `into` $values `,` $indices `scratch` $scratch_keys `,` $scratch_indices attr-dict "
        "`:` type($source) `,` type($values) `,` type($indices) `,` type($scratch_keys) `,` type($scratch_indices)"
    )

    def __init__(
        self,
        source: SSAValue,
        row: Sequence[SSAValue],
        results: Sequence[SSAValue],
        scratch: Sequence[SSAValue],
        axis: int,
        *,
        descending: bool = False,
        unsigned: bool = False,
        selects: bool = False,
    ):
        """`results` are the buffers for values and indices, `scratch` the two matching scratch buffers."""
        super().__init__(
            operands=[source, row, *results, *scratch],
            properties={
                "axis": IntegerAttr(axis, i64),
                "descending": UnitAttr() if descending else None,
                "unsigned": UnitAttr() if unsigned else None,
                "selects": UnitAttr() if selects else None,
            },
        )

    @property
    def numbers(self) -> Sequence[SSAValue]:
        """The index values in brackets."""
        return self.row

    @property
    def read_buffers(self) -> Sequence[SSAValue]:
        """The source."""
        return (self.source,)

    @property
    def writes(self) -> tuple[SSAValue, ...]:
        """The buffers that are stored to."""
        return self.values, self.indices, self.scratch_keys, self.scratch_indices

    @property
    def length(self) -> int | SSAValue | None:
        """The number of elements of a row; `None` if unknown."""
        return extents_of(self.source)[self.axis.value.data]

    @property
    def count(self) -> int | SSAValue | None:
        """The number of elements that are kept; `None` if unknown."""
        return extents_of(self.values)[self.axis.value.data]


INSERTION_LIMIT = 16
"""The greatest number of elements that a selection keeps in order while it reads the row."""


def capacity(count: Dim) -> Dim:
    """The number of elements in scratch from which a selection keeps the first `count`: just these if they are few."""
    return count if isinstance(count, int) and count <= INSERTION_LIMIT else 2 * count + 64


def scratch_shape(shape: Sequence[Dim], axis: int, selected: Dim | None = None) -> list[Dim]:
    """The shape of the scratch buffers for a sort of a buffer of `shape`, or for a selection of `selected` elements."""
    room = shape[axis] if selected is None else capacity(selected)
    return [*shape[:axis], *shape[axis + 1 :], 2 * room]


def key_type(element: Attribute) -> IntegerType:
    """The type of the integers that represent elements of a type in a sort: with as many bits, at least 8."""
    assert isinstance(element, AnyFloat | IntegerType), "the elements of a sort are numbers"
    return IntegerType(max(8, element.bitwidth))


CHUNK = 8
"""The number of selected boxes that a box is compared with at a time."""


@irdl_op_definition
class SuppressOp(RowOp):
    """Selects boxes of one class of one batch, given by the two index values in brackets, like `topi.suppress`.

    `kept` is true at the positions of the row whose boxes are selected. The scratch buffer holds the sides of the
    selected boxes, contiguous, with room for a whole chunk more; its contents are undefined afterwards.

    - C1: for `n` boxes, `sides` is b × s × n with s of 5, or of 6 with kinds, `order`, `scores` and `kept` are b × c ×
      n, the scratch buffer is b × c × s × (n + 7); dynamic extents are not compared. `most` and the thresholds have
      rank 0. The number of boxes is the extent of the order, a number or a value.
    - C2: sides, scores, thresholds and scratch have the same float type; order and `most` are i64, kept is i1.

    ```mlir
    func.func @f(%sides: memref<1x5x9xf32>, %order: memref<1x2x9xi64>, %scores: memref<1x2x9xf32>, %most: memref<i64>,
                 %iou: memref<f32>, %least: memref<f32>, %kept: memref<1x2x9xi1>, %room: memref<1x2x5x16xf32>,
                 %b: index, %c: index) {
      loop.suppress[%b, %c] %sides, %order, %scores, %most, %iou, %least into %kept scratch %room
        : memref<1x5x9xf32>, memref<1x2x9xi64>, memref<1x2x9xf32>, memref<i64>, memref<f32>, memref<f32>,
          memref<1x2x9xi1>, memref<1x2x5x16xf32>
      func.return
    }
    ```
    """

    name = "loop.suppress"

    batch = operand_def(IndexType())
    number = operand_def(IndexType())
    sides = operand_def(MemRefType)
    order = operand_def(MemRefType)
    scores = operand_def(MemRefType)
    most = operand_def(MemRefType)
    overlap = operand_def(MemRefType)
    least = operand_def(MemRefType)
    kept = operand_def(MemRefType)
    room = operand_def(MemRefType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "`[` $batch `,` $number `]` $sides `,` $order `,` $scores `,` $most `,` $overlap `,` $least `into` $kept "
        "`scratch` $room attr-dict `:` type($sides) `,` type($order) `,` type($scores) `,` type($most) `,` "
        "type($overlap) `,` type($least) `,` type($kept) `,` type($room)"
    )

    def __init__(self, row: Sequence[SSAValue], reads: Sequence[SSAValue], kept: SSAValue, room: SSAValue):
        """`reads` are sides, order, scores, the largest number of boxes, and the thresholds of overlap and score."""
        super().__init__(operands=[*row, *reads, kept, room])

    @property
    def numbers(self) -> Sequence[SSAValue]:
        """Batch and class."""
        return self.batch, self.number

    @property
    def read_buffers(self) -> Sequence[SSAValue]:
        """The buffers `reads` of the constructor."""
        return self.operands[2:8]

    @property
    def writes(self) -> Sequence[SSAValue]:
        """The result and the scratch buffer."""
        return self.kept, self.room

    @property
    def length(self) -> int | SSAValue | None:
        """The number of boxes."""
        return extents_of(self.order)[-1]


def room_shape(order: Sequence[Dim], sides: Dim) -> list[Dim]:
    """The shape of the scratch buffer for an order of shape `order` and boxes with this number of sides."""
    return [*order[:2], sides, order[2] + (CHUNK - 1)]
