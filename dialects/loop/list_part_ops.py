"""`loop.list_insert_part` and `loop.list_read_part`: copy parts of buffers into lists and out of them."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, IntegerType, MemRefType, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.loop.list_ops import LIST, ListType


@irdl_op_definition
class ListInsertPartOp(IRDLOperation):
    """Like `loop.list_insert`, for a part of a buffer: `count` elements along `axis` starting at `first`.

    With `drop` the part has one element along `axis`, and the axis is dropped from the inserted buffer.

    - C1: the value is a buffer of the list's elements.
    - C2: as many extents as the value's type has dynamic extents.
    - C3: 0 <= axis < rank.

    ```mlir
    func.func @f(%x: memref<?x4xf32>, %n: index, %l: !loop.list<f32>, %at: index) {
      %r = loop.list_insert_part %x[%n] from %at count %n in %l at %at {axis = 0 : i64}
        : memref<?x4xf32> in !loop.list<f32>
      func.return
    }
    ```
    """

    name = "loop.list_insert_part"

    value = operand_def(MemRefType)
    extents = var_operand_def(IndexType)
    first = operand_def(IndexType)
    count = operand_def(IndexType)
    list = operand_def(LIST)
    at = operand_def(IndexType)
    result = result_def(LIST)
    axis = prop_def(IntegerAttr[IntegerType])
    drop = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$value `[` $extents `]` `from` $first `count` $count `in` $list `at` $at attr-dict "
        "`:` type($value) `in` type($list)"
    )

    def __init__(
        self,
        value: SSAValue,
        extents: Sequence[SSAValue],
        part: tuple[SSAValue, SSAValue],
        place: tuple[SSAValue, SSAValue],
        axis: int,
        *,
        drop: bool = False,
    ):
        """`part` is (first, count), `place` is (list, position)."""
        super().__init__(
            operands=[value, extents, *part, *place],
            properties={"axis": IntegerAttr(axis, i64), "drop": UnitAttr() if drop else None},
            result_types=[place[0].type],
        )

    @override
    def verify_(self) -> None:
        """Checks C1 to C3."""
        _verify_part(self, SSAValue.get(self.value, type=MemRefType).type, self.list, len(self.extents), self.axis)


@irdl_op_definition
class ListReadPartOp(IRDLOperation):
    """Like `loop.list_read`, into a part of the target along `axis`, starting at `first`, as long as the source.

    With `drop` the source has no such axis, and the part has one element along it.

    - C1: the target is a buffer of the list's elements.
    - C2: as many extents as the target's type has dynamic extents.
    - C3: 0 <= axis < rank.

    ```mlir
    func.func @f(%l: !loop.list<f32>, %at: index, %x: memref<?x4xf32>, %n: index) {
      loop.list_read_part %l at %at into %x[%n] from %at {axis = 0 : i64} : !loop.list<f32> into memref<?x4xf32>
      func.return
    }
    ```
    """

    name = "loop.list_read_part"

    list = operand_def(ListType)
    at = operand_def(IndexType)
    target = operand_def(MemRefType)
    extents = var_operand_def(IndexType)
    first = operand_def(IndexType)
    axis = prop_def(IntegerAttr[IntegerType])
    drop = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$list `at` $at `into` $target `[` $extents `]` `from` $first attr-dict `:` type($list) `into` type($target)"
    )

    def __init__(
        self,
        place: tuple[SSAValue, SSAValue],
        target: SSAValue,
        extents: Sequence[SSAValue],
        first: SSAValue,
        axis: int,
        *,
        drop: bool = False,
    ):
        """`place` is (list, position)."""
        super().__init__(
            operands=[*place, target, extents, first],
            properties={"axis": IntegerAttr(axis, i64), "drop": UnitAttr() if drop else None},
        )

    @override
    def verify_(self) -> None:
        """Checks C1 to C3."""
        _verify_part(self, SSAValue.get(self.target, type=MemRefType).type, self.list, len(self.extents), self.axis)


def _verify_part(
    op: IRDLOperation, buffer: MemRefType, list: SSAValue, extents: int, axis: IntegerAttr[IntegerType]
) -> None:
    """Checks C1 to C3 for an op on a part of `buffer` with a number of `extents`."""
    wanted = SSAValue.get(list, type=ListType).type.element
    if buffer.element_type != wanted:
        raise VerifyException(f"[{op.name} C1] the buffer is {buffer}, the list has elements {wanted}")
    if extents != buffer.get_shape().count(DYNAMIC_INDEX):
        raise VerifyException(f"[{op.name} C2] {extents} extents for a buffer of type {buffer}")
    if not 0 <= axis.value.data < buffer.get_num_dims():
        raise VerifyException(f"[{op.name} C3] axis {axis.value.data} of {buffer}")


LIST_PART_OPS = (ListInsertPartOp, ListReadPartOp)
"""The ops on parts of buffers."""
