"""`loop.subview`: contiguous or strided elements of a buffer as a buffer of another type."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.loop.base import memref_type


@irdl_op_definition
class SubviewOp(IRDLOperation):
    """The elements of a buffer starting at linear index `offset`, as a buffer of another shape.

    Both share memory: a store to one changes the other. The elements of a subview are accessed like those of any
    buffer, so a kernel can take a subview as an argument. If the elements are not contiguous, such as the first
    channels of each image of a batch, the type of the subview has strides, and a kernel that takes it has this argument
    type. The op is used between kernels.

    - C1: source and result have the same element type and memory space; the source is contiguous, and the result is
      contiguous or has nonnegative constant strides and no offset
    - C2: one size for each dynamic extent of the result type
    - C3: a constant offset and constant extents stay inside of a source of constant extents

    ```mlir
    func.func @f(%whole: memref<6x4xf32>, %n: index) {
      %two = arith.constant 2 : index
      %column = loop.subview %whole[%two][] : memref<6x4xf32> to memref<3x1xf32>
      %rows = loop.subview %whole[%n][%n] : memref<6x4xf32> to memref<?x2xf32>
      %columns = loop.subview %whole[%two][] : memref<6x4xf32> to memref<6x2xf32, strided<[4, 1]>>
      func.return
    }
    ```
    """

    name = "loop.subview"

    source = operand_def(MemRefType)
    offset = operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    result = result_def(MemRefType)

    traits = traits_def(Pure())
    assembly_format = "$source `[` $offset `]` `[` $sizes `]` attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, offset: SSAValue, sizes: Sequence[SSAValue], result_type: MemRefType):
        super().__init__(operands=[source, offset, sizes], result_types=[result_type])

    @override
    def verify_(self) -> None:
        source, view = (memref_type(each) for each in (self.source, self.result))
        is_plain = isinstance(source.layout, NoneAttr) and strides_of(view) is not None
        if not is_plain or (source.element_type, source.memory_space) != (view.element_type, view.memory_space):
            raise VerifyException(f"[loop.subview C1] {view} is not a view of {source}")
        open_extents = view.get_shape().count(DYNAMIC_INDEX)
        if open_extents != len(self.sizes):
            raise VerifyException(
                f"[loop.subview C2] {len(self.sizes)} sizes for {open_extents} dynamic extents of {view}"
            )
        offset = known_offset(self)
        if offset is None:
            return
        end = offset + (0 if open_extents else _span(view))
        room = prod(source.get_shape())
        if offset < 0 or (DYNAMIC_INDEX not in source.get_shape() and end > room):
            raise VerifyException(f"[loop.subview C3] elements {offset} to {end} are outside of {source}")


def strides_of(view: MemRefType) -> tuple[int, ...] | None:
    """The strides of a subview's type, empty if it is contiguous; `None` if no subview can have the type."""
    layout = view.layout
    if isinstance(layout, NoneAttr):
        return ()
    if not isinstance(layout, StridedLayoutAttr) or layout.offset != IntAttr(0):
        return None
    strides = [stride.data for stride in layout.strides if isinstance(stride, IntAttr) and stride.data >= 0]
    return tuple(strides) if len(strides) == view.get_num_dims() == len(layout.strides) else None


def _span(view: MemRefType) -> int:
    """The number of elements in memory from the first to the last element of a subview."""
    shape, strides = view.get_shape(), strides_of(view)
    if not strides or 0 in shape:
        return prod(shape)
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def known_offset(op: SubviewOp) -> int | None:
    """The linear index of the first element of a subview; `None` if it is known only at run time."""
    owner = op.offset.owner
    number = owner.value if isinstance(owner, arith.ConstantOp) else None
    return number.value.data if isinstance(number, IntegerAttr) else None
