"""`loop.sort`: one row of a buffer in order, as a statement of a block."""

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
    """Sort one row of `source` along `axis`, and store the first elements and where they came from.

    The row is numbered by the index values in brackets, one for each dimension but `axis`. `values` and `indices` have
    as many elements along the axis as are kept. Order, NaN and equal elements are as in `topi.sort`; `unsigned` says
    that integers are taken so, since elements are signless below the loop level. Each row has a row of its own in the
    scratch buffers, of twice its length, so rows may be sorted in any order and at the same time. What is left there is
    undefined.

    - C1: one row index for each dimension of the source but one; 0 <= axis < rank.
    - C2: values and indices have the shape of the source, but along the axis at most its extent; the scratch buffers
      have the source's other extents, and then twice that along the axis. Lengths are numbers, or values say them.
    - C3: values and the first scratch buffer have the source's element type; indices and the second one i64.

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
        """`results` are the buffers of values and indices, `scratch` the two that go with them."""
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
        """How many elements a row has; `None` where no value says it."""
        return extents_of(self.source)[self.axis.value.data]

    @property
    def count(self) -> int | SSAValue | None:
        """How many elements are kept; `None` where no value says it."""
        return extents_of(self.values)[self.axis.value.data]


def scratch_shape(shape: Sequence[Dim], axis: int) -> list[Dim]:
    """The shape of the scratch buffers for sorting a buffer of `shape`: rows lie contiguous, with room for two."""
    return [*shape[:axis], *shape[axis + 1 :], 2 * shape[axis]]
