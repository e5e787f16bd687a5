"""`loop.part`: elements of a buffer, side by side or at regular distances, as a buffer of their own type."""

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


@irdl_op_definition
class PartOp(IRDLOperation):
    """The elements of a buffer from number `offset` on, in the order of memory, as a buffer of another shape.

    Both are the same memory: who stores to one changes the other. What the part holds is read and written as any
    buffer's elements are, so a kernel need not know that it works on a part. Elements that do not lie side by side, as
    the first channels of each image of a batch, are a part whose type says its strides; a kernel that works on it has
    the type for its argument. It stands between kernels.

    - C1: source and part have one type of elements and one memory space; the source lies without gaps, the part does or
      has strides that are numbers of 0 or more, and no offset
    - C2: one size for each extent that the part's type leaves open
    - C3: an offset and extents that are numbers stay inside of a source whose extents are numbers

    ```mlir
    func.func @f(%whole: memref<6x4xf32>, %n: index) {
      %two = arith.constant 2 : index
      %column = loop.part %whole[%two][] : memref<6x4xf32> to memref<3x1xf32>
      %rows = loop.part %whole[%n][%n] : memref<6x4xf32> to memref<?x2xf32>
      %columns = loop.part %whole[%two][] : memref<6x4xf32> to memref<6x2xf32, strided<[4, 1]>>
      func.return
    }
    ```
    """

    name = "loop.part"

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
        source, part = (SSAValue.get(each, type=MemRefType).type for each in (self.source, self.result))
        is_plain = isinstance(source.layout, NoneAttr) and strides_of(part) is not None
        if not is_plain or (source.element_type, source.memory_space) != (part.element_type, part.memory_space):
            raise VerifyException(f"[loop.part C1] {part} is no part of {source}")
        open_extents = part.get_shape().count(DYNAMIC_INDEX)
        if open_extents != len(self.sizes):
            raise VerifyException(f"[loop.part C2] {len(self.sizes)} sizes for {open_extents} open extents of {part}")
        offset = known_offset(self)
        if offset is None:
            return
        end = offset + (0 if open_extents else _span(part))
        room = prod(source.get_shape())
        if offset < 0 or (DYNAMIC_INDEX not in source.get_shape() and end > room):
            raise VerifyException(f"[loop.part C3] elements {offset} to {end} are not inside of {source}")


def strides_of(part: MemRefType) -> tuple[int, ...] | None:
    """The strides that the type of a part says, none for one without gaps; `None` where it can be no part."""
    layout = part.layout
    if isinstance(layout, NoneAttr):
        return ()
    if not isinstance(layout, StridedLayoutAttr) or layout.offset != IntAttr(0):
        return None
    strides = [stride.data for stride in layout.strides if isinstance(stride, IntAttr) and stride.data >= 0]
    return tuple(strides) if len(strides) == part.get_num_dims() == len(layout.strides) else None


def _span(part: MemRefType) -> int:
    """How many elements the memory has from the first one of a part to the last."""
    shape, strides = part.get_shape(), strides_of(part)
    if not strides or 0 in shape:
        return prod(shape)
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def known_offset(op: PartOp) -> int | None:
    """The number of the first element of a part; `None` where only a run tells."""
    owner = op.offset.owner
    number = owner.value if isinstance(owner, arith.ConstantOp) else None
    return number.value.data if isinstance(number, IntegerAttr) else None
