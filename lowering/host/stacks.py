"""The stacks of loops: their rows, and more memory if only the loop determines the number of rows.

```
%full = arith.cmpi eq, %number, %capacity
%stack, %capacity = scf.if %full -> (memref<?x4xf32>, index) {
  %twice = arith.addi %capacity, %capacity                 ← at least 8
  %larger = memref.alloc(%twice) : memref<?x4xf32>         ← and a copy of the rows so far
  memref.dealloc %stack
  scf.yield %larger, %twice
} else {
  scf.yield %stack, %capacity
}
%row = memref.subview %stack[%number, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
memref.copy %value, %row
```

A row with dynamic strides is copied by a kernel, whose buffers have one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Dim, DimExpr
from xrelay.lowering.host.code import HostCode
from xrelay.lowering.host.holder_types import memref_of
from xrelay.lowering.host.loop_plan import stack_type

FIRST_CAPACITY: Final = 8
"""The number of rows that a stack of unknown length first has memory for."""


def empty_stacks(
    types: Sequence[Attribute], code: HostCode, *, rows_unknown: bool
) -> tuple[list[SSAValue], list[SSAValue]]:
    """Allocates stacks of `types`; returns them and their capacity, which is empty without stacks.

    The capacity is 0 if only the first iteration determines the extents of a row.
    """
    if not types:
        return [], []
    capacity = code.constant(0 if rows_unknown else FIRST_CAPACITY)
    return [_allocate(type, capacity, code) for type in types], [capacity]


def with_capacity(
    stacks: Sequence[SSAValue],
    capacity: Sequence[SSAValue],
    number: SSAValue,
    types: Sequence[Attribute],
    code: HostCode,
) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
    """Replaces full stacks by larger ones, so that row `number` fits; returns the stacks and their capacity."""
    if not stacks:
        return [], []
    full = code.compare("eq", number, capacity[0])
    with code.inside(Block()) as larger:
        twice = code.value(arith.AddiOp(capacity[0], capacity[0]))
        twice = code.value(arith.MaxSIOp(twice, code.constant(FIRST_CAPACITY)))
        new = [_allocate(type, twice, code) for type in types]
        for type, source, target in zip(types, stacks, new, strict=True):
            rows = code.extents(dim for dim in shape_of(type)[1:] if isinstance(dim, DimExpr))
            shape, buffer = [capacity[0], *shape_of(type)[1:]], stack_type(type, code.source)
            # The empty stack before the first iteration may have rows without elements.
            filled = code.prefix(source, shape, buffer) if rows else source
            code.copy_elements(filled, code.prefix(target, shape, buffer), [capacity[0], *rows])
            code.add(memref.DeallocOp.get(source))
        code.add(scf.YieldOp(*new, twice))
    with code.inside(Block()) as same:
        code.add(scf.YieldOp(*stacks, *capacity))
    types_of_both = [value.type for value in (*stacks, *capacity)]
    found = code.add(scf.IfOp(full, types_of_both, Region(larger), Region(same))).results
    return found[: len(stacks)], found[len(stacks) :]


def filled_rows(stacks: Sequence[SSAValue], types: Sequence[Attribute], code: HostCode) -> list[SSAValue]:
    """Returns the rows of the stacks that are filled, as buffers of `types`, whose names are known."""
    return [
        code.prefix(stack, shape_of(type), memref_of(type, code.source))
        for stack, type in zip(stacks, types, strict=True)
    ]


def copy_row(source: SSAValue, stack: SSAValue, number: SSAValue, row: Sequence[Dim], code: HostCode) -> None:
    """Copies a buffer to the row `number` of another; `row` are the extents of rows."""
    if 0 in row:
        return
    type = SSAValue.get(stack, type=MemRefType).type
    shape = type.get_shape()[1:]
    if not shape:
        code.store(code.load(source), stack, number)
        return
    if DYNAMIC_INDEX in shape:
        _copy_dynamic_row(source, stack, number, prod(row), code)
        return
    rank, element = len(shape), type.element_type
    strides = [prod(shape[axis + 1 :]) for axis in range(rank)]
    row_type = MemRefType(element, shape, StridedLayoutAttr(strides, None))
    view = memref.SubviewOp.get(stack, [number, *[0] * rank], [1, *shape], [1] * (rank + 1), row_type)
    target = code.value(view)
    code.add(memref.CopyOp(code.cast(source, MemRefType(element, shape)), target))


def _copy_dynamic_row(source: SSAValue, stack: SSAValue, number: SSAValue, size: Dim, code: HostCode) -> None:
    """As `copy_row`, for rows of `size` elements with dynamic strides: both buffers get one axis."""
    element = SSAValue.get(stack, type=MemRefType).type.element_type
    (count,) = code.extents([size])
    first = code.value(arith.MuliOp(number, count))
    flat = code.prefix(source, [count], MemRefType(element, [DYNAMIC_INDEX]))
    row_type = MemRefType(element, [DYNAMIC_INDEX], StridedLayoutAttr([1], None))
    target = code.value(memref.ReinterpretCastOp.from_dynamic(stack, [first], [count], [1], row_type))
    kernel = code.module.copy_kernel(row_type, None)
    code.add(func.CallOp(kernel.sym_name.data, [flat, target, count], []))


def _allocate(type: Attribute, capacity: SSAValue, code: HostCode) -> SSAValue:
    """Allocates `capacity` rows for a stack of `type`."""
    rows = code.extents(dim for dim in shape_of(type)[1:] if isinstance(dim, DimExpr))
    return code.value(memref.AllocOp([capacity, *rows], [], stack_type(type, code.source)))
