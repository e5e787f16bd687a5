"""`loop.suppress`: selects the boxes of one row that overlap no box selected before, as a statement of a block."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.loop.row_op import RowOp
from xrelay.index_algebra.dims import Dim

CHUNK = 8
"""The number of selected boxes that a box is compared with at a time."""


@irdl_op_definition
class SuppressOp(RowOp):
    """Selects boxes of one class of one batch, given by the two index values in brackets, like `topi.suppress`.

    `kept` has for each position of the row whether its box is selected. The scratch buffer holds the sides of the
    selected boxes, contiguous, with room for a whole chunk more; its contents are undefined afterwards.

    - C1: for `n` boxes, `sides` is b × s × n with s of 5, or of 6 with kinds, `order`, `scores` and `kept` are b × c ×
      n, the scratch buffer is b × c × s × (n + 7), as far as the types are static; `most` and the thresholds have rank
      0. The number of boxes is the extent of the order, a number or a value.
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
