"""`loop.sort`: sorts one row of a buffer, as a statement of a block."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, UnitAttr, i64
from xdsl.ir import SSAValue
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

from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.loop.row_op import RowOp
from xrelay.index_algebra.dims import Dim


@irdl_op_definition
class SortOp(RowOp):
    """Sorts one row of `source` along `axis`, and stores the first elements and their original positions.

    The index values in brackets select the row, one for each dimension but `axis`. `values` and `indices` have as many
    elements along the axis as are kept. Order, NaN and equal elements are as in `topi.sort`; `unsigned` compares
    integers as unsigned, since elements are signless below the loop level. Each row has its own row of twice its length
    in the scratch buffers, so rows may be sorted in any order and in parallel. The contents of the scratch buffers are
    undefined afterwards.

    - C1: one row index for each dimension of the source but one; 0 <= axis < rank.
    - C2: values and indices have the shape of the source, but along the axis at most its extent; the scratch buffers
      have the source's other extents, followed by twice the extent along the axis. Lengths are numbers or known values.
    - C3: values and the first scratch buffer have the source's element type; indices and the second scratch buffer i64.

    ```mlir
    func.func @f(%X: memref<4x8xf32>, %V: memref<4x3xf32>, %I: memref<4x3xi64>, %a: memref<4x16xf32>,
                 %b: memref<4x16xi64>, %row: index) {
      loop.sort %X[%row] into %V, %I scratch %a, %b {axis = 1 : i64, descending}
        : memref<4x8xf32>, memref<4x3xf32>, memref<4x3xi64>, memref<4x16xf32>, memref<4x16xi64>
      func.return
    }
    ```
    """

    name = "loop.sort"

    source = operand_def(MemRefType)
    row = var_operand_def(IndexType)
    values = operand_def(MemRefType)
    indices = operand_def(MemRefType)
    scratch_values = operand_def(MemRefType)
    scratch_indices = operand_def(MemRefType)
    axis = prop_def(IntegerAttr[IntegerType])
    descending = opt_prop_def(UnitAttr)
    unsigned = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$source `[` $row `]` `into` $values `,` $indices `scratch` $scratch_values `,` $scratch_indices attr-dict "
        "`:` type($source) `,` type($values) `,` type($indices) `,` type($scratch_values) `,` type($scratch_indices)"
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
    ):
        """`results` are the buffers for values and indices, `scratch` the two matching scratch buffers."""
        super().__init__(
            operands=[source, row, *results, *scratch],
            properties={
                "axis": IntegerAttr(axis, i64),
                "descending": UnitAttr() if descending else None,
                "unsigned": UnitAttr() if unsigned else None,
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
        return self.values, self.indices, self.scratch_values, self.scratch_indices

    @property
    def length(self) -> int | SSAValue | None:
        """The number of elements of a row; `None` if unknown."""
        return extents_of(self.source)[self.axis.value.data]

    @property
    def count(self) -> int | SSAValue | None:
        """The number of elements that are kept; `None` if unknown."""
        return extents_of(self.values)[self.axis.value.data]


def scratch_shape(shape: Sequence[Dim], axis: int) -> list[Dim]:
    """The shape of the scratch buffers for sorting a buffer of `shape`: contiguous rows of twice the length."""
    return [*shape[:axis], *shape[axis + 1 :], 2 * shape[axis]]
