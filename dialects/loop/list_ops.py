"""Lists: the loop level's form of `relay`'s sequences, optionals and closures in functions between kernels.

`!loop.list<f32>` is the type of a value with any number of buffers of f32, each with its own rank and extents;
`!loop.list<!loop.list<f32>>` is a list of such lists. `!loop.list<none>`, the type of closures, holds values of any of
these types; its readers expect a certain type of each element. Lists are immutable: an op that changes a list returns a
new list. Buffers, or parts of them along an axis, are copied into a list and out of it, so a list never aliases a
buffer. An optional is a list of at most one value.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException


@irdl_attr_definition
class ListType(ParametrizedAttribute, TypeAttribute):
    """`!loop.list<f32>`: any number of buffers of f32; `!loop.list<!loop.list<f32>>`: any number of such lists.

    `!loop.list<none>`: any number of buffers and lists.
    """

    name = "loop.list"

    element: Attribute

    def holds(self, element: Attribute) -> bool:
        """Whether such a list can hold buffers of `element`, or lists of type `element`."""
        return isinstance(self.element, NoneType) or element == self.element


LIST = VarConstraint("T", BaseAttr(ListType))
"""The constraint that an operand and a result have the same list type."""


@irdl_op_definition
class ListEmptyOp(IRDLOperation):
    """The empty list.

    ```mlir
    func.func @f() {
      %l = loop.list_empty : !loop.list<f32>
      func.return
    }
    ```
    """

    name = "loop.list_empty"

    result = result_def(ListType)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: ListType):
        super().__init__(result_types=[type])


@irdl_op_definition
class ListInsertOp(IRDLOperation):
    """Inserts a value into a list before position `at`: a copy of a buffer, or a list.

    `at` is between 0 and the length of the list; if it equals the length, the value is appended. The extents are those
    that the buffer's type leaves dynamic.

    - C1: the list has elements of the value's type: a buffer, whose extents may differ, or a list.
    - C2: as many extents as the value's type has dynamic extents.

    ```mlir
    func.func @f(%x: memref<?x4xf32>, %n: index, %l: !loop.list<f32>, %at: index) {
      %r = loop.list_insert %x[%n] in %l at %at : memref<?x4xf32> in !loop.list<f32>
      func.return
    }
    ```
    """

    name = "loop.list_insert"

    value = operand_def()
    extents = var_operand_def(IndexType)
    list = operand_def(LIST)
    at = operand_def(IndexType)
    result = result_def(LIST)

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$value `[` $extents `]` `in` $list `at` $at attr-dict `:` type($value) `in` type($list)"

    def __init__(self, value: SSAValue, extents: Sequence[SSAValue], list: SSAValue, at: SSAValue):
        super().__init__(operands=[value, extents, list, at], result_types=[list.type])

    @override
    def verify_(self) -> None:
        """Checks C1 and C2."""
        type, list = self.value.type, SSAValue.get(self.list, type=ListType).type
        if not isinstance(type, MemRefType | ListType) or not list.holds(_element(type)):
            raise VerifyException(f"[{self.name} C1] the value is {type}, the list has elements {list.element}")
        count = type.get_shape().count(DYNAMIC_INDEX) if isinstance(type, MemRefType) else 0
        if len(self.extents) != count:
            raise VerifyException(f"[{self.name} C2] {len(self.extents)} extents for a value of type {type}")


@irdl_op_definition
class ListEraseOp(IRDLOperation):
    """Removes the value at `at`, which is between 0 and the length of the list minus 1.

    ```mlir
    func.func @f(%l: !loop.list<f32>, %at: index) {
      %r = loop.list_erase %l at %at : !loop.list<f32>
      func.return
    }
    ```
    """

    name = "loop.list_erase"

    list = operand_def(LIST)
    at = operand_def(IndexType)
    result = result_def(LIST)

    traits = traits_def(Pure())
    assembly_format = "$list `at` $at attr-dict `:` type($list)"

    def __init__(self, list: SSAValue, at: SSAValue):
        super().__init__(operands=[list, at], result_types=[list.type])


@irdl_op_definition
class ListLengthOp(IRDLOperation):
    """The number of values in a list.

    ```mlir
    func.func @f(%l: !loop.list<f32>) {
      %n = loop.list_length %l : !loop.list<f32>
      func.return
    }
    ```
    """

    name = "loop.list_length"

    list = operand_def(ListType)
    result = result_def(IndexType)

    traits = traits_def(Pure())
    assembly_format = "$list attr-dict `:` type($list)"

    def __init__(self, list: SSAValue):
        super().__init__(operands=[list], result_types=[IndexType()])


@irdl_op_definition
class ListExtentsOp(IRDLOperation):
    """All extents of the buffer at `at`.

    - C1: the list holds buffers.

    ```mlir
    func.func @f(%l: !loop.list<f32>, %at: index) {
      %m, %n = loop.list_extents %l at %at : !loop.list<f32> -> index, index
      func.return
    }
    ```
    """

    name = "loop.list_extents"

    list = operand_def(ListType)
    at = operand_def(IndexType)
    extents = var_result_def(IndexType)

    traits = traits_def(Pure())
    assembly_format = "$list `at` $at attr-dict `:` type($list) `->` type($extents)"

    def __init__(self, list: SSAValue, at: SSAValue, rank: int):
        super().__init__(operands=[list, at], result_types=[[IndexType()] * rank])

    @override
    def verify_(self) -> None:
        """Checks C1."""
        if isinstance(SSAValue.get(self.list, type=ListType).type.element, ListType):
            raise VerifyException(f"[{self.name} C1] the elements of {self.list.type} are lists, which have no extents")


@irdl_op_definition
class ListReadOp(IRDLOperation):
    """Copies the buffer at `at` into a buffer with equal extents.

    - C1: the target has the element type of the list.

    ```mlir
    func.func @f(%l: !loop.list<f32>, %at: index, %x: memref<?x4xf32>) {
      loop.list_read %l at %at into %x : !loop.list<f32> into memref<?x4xf32>
      func.return
    }
    ```
    """

    name = "loop.list_read"

    list = operand_def(ListType)
    at = operand_def(IndexType)
    target = operand_def(MemRefType)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$list `at` $at `into` $target attr-dict `:` type($list) `into` type($target)"

    def __init__(self, list: SSAValue, at: SSAValue, target: SSAValue):
        super().__init__(operands=[list, at, target])

    @override
    def verify_(self) -> None:
        """Checks C1."""
        list = SSAValue.get(self.list, type=ListType).type
        if not list.holds(SSAValue.get(self.target, type=MemRefType).type.element_type):
            raise VerifyException(
                f"[{self.name} C1] the target is {self.target.type}, the list has elements {list.element}"
            )


@irdl_op_definition
class ListAtOp(IRDLOperation):
    """The list at `at` in a list of lists.

    - C1: the result has the type of the list's elements.

    ```mlir
    func.func @f(%l: !loop.list<!loop.list<f32>>, %at: index) {
      %r = loop.list_at %l at %at : !loop.list<!loop.list<f32>> -> !loop.list<f32>
      func.return
    }
    ```
    """

    name = "loop.list_at"

    list = operand_def(ListType)
    at = operand_def(IndexType)
    result = result_def(ListType)

    traits = traits_def(Pure())
    assembly_format = "$list `at` $at attr-dict `:` type($list) `->` type($result)"

    def __init__(self, list: SSAValue, at: SSAValue, type: ListType):
        super().__init__(operands=[list, at], result_types=[type])

    @override
    def verify_(self) -> None:
        """Checks C1."""
        list = SSAValue.get(self.list, type=ListType).type
        if not list.holds(self.result.type):
            raise VerifyException(
                f"[{self.name} C1] the result is {self.result.type}, the list has elements {list.element}"
            )


def _element(type: MemRefType | ListType) -> Attribute:
    """The element type of a list of such values."""
    return type.element_type if isinstance(type, MemRefType) else type


LIST_OPS = (ListEmptyOp, ListInsertOp, ListEraseOp, ListLengthOp, ListExtentsOp, ListReadOp, ListAtOp)
"""The ops on lists and whole buffers; the ops on parts of buffers are in `list_part_ops.py`."""


@irdl_op_definition
class ListInsertPartOp(IRDLOperation):
    """Like `loop.list_insert`, for a part of a buffer: `count` elements along `axis` starting at `first`.

    With `drop` the part has one element along `axis`, and the axis is dropped from the inserted buffer.

    - C1: the value has the element type of the list.
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

    - C1: the target has the element type of the list.
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
