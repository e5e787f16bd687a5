"""The stacks of loops in the graph function: their rows, and room for more where only the loop tells how many come.

```
%full = arith.cmpi eq, %number, %room
%stack, %room = scf.if %full -> (memref<?x4xf32>, index) {
  %twice = arith.addi %room, %room                         ← at least 8
  %larger = memref.alloc(%twice) : memref<?x4xf32>         ← and a copy of the rows that there are
  memref.dealloc %stack
  scf.yield %larger, %twice
} else {
  scf.yield %stack, %room
}
%row = memref.subview %stack[%number, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
memref.copy %value, %row
```

A row of which only a run tells the strides is copied by a kernel, whose buffers are one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.shared.types import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.dims import Dim, DimExpr
from xrelay.lowering.topi_to_loop.function_lowering import memref_of
from xrelay.lowering.topi_to_loop.graph_loop_plan import stack_type
from xrelay.lowering.topi_to_loop.graph_regions import RegionLowering

FIRST_ROOM: Final = 8
"""The rows that a stack of unknown length has room for at first."""


class StackLowering(RegionLowering):
    """Lowers what loops stack."""

    def _empty_stacks(
        self, types: Sequence[Attribute], rows_unknown: bool, op: LoopOp
    ) -> tuple[list[SSAValue], list[SSAValue]]:
        """Adds buffers for stacks of `types`, and the number of rows they have room for; nothing for no stacks.

        They have room for none where only the first iteration tells how large a row is.
        """
        if not types:
            return [], []
        room = self._constant(0 if rows_unknown else FIRST_ROOM, op)
        return [self._stack(type, room, op) for type in types], [room]

    def _with_room(
        self,
        stacks: Sequence[SSAValue],
        room: Sequence[SSAValue],
        number: SSAValue,
        types: Sequence[Attribute],
        op: LoopOp,
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        """Adds what makes room for row `number` in stacks of `types`: the stacks and their room afterwards."""
        if not stacks:
            return [], []
        full = self._add(CmpiOp(number, room[0], "eq"), op).results[0]
        with self._inside(Block()) as larger:
            twice = self._add(arith.AddiOp(room[0], room[0]), op).results[0]
            twice = self._add(arith.MaxSIOp(twice, self._constant(FIRST_ROOM, op)), op).results[0]
            new = [self._stack(type, twice, op) for type in types]
            for type, source, target in zip(types, stacks, new, strict=True):
                rows = self._sizes.extents([dim for dim in shape_of(type)[1:] if isinstance(dim, DimExpr)], op)
                shape, buffer = [room[0], *shape_of(type)[1:]], stack_type(type, op)
                # The empty stack of before the first iteration may have been made for rows of no elements.
                filled = self._beginning(source, shape, buffer, op) if rows else source
                self._call_copy(filled, self._beginning(target, shape, buffer, op), [room[0], *rows], op)
                self._add(memref.DeallocOp.get(source), op)
            self._add(scf.YieldOp(*new, twice), op)
        with self._inside(Block()) as same:
            self._add(scf.YieldOp(*stacks, *room), op)
        given = [value.type for value in (*stacks, *room)]
        found = self._add(scf.IfOp(full, given, Region(larger), Region(same)), op).results
        return found[: len(stacks)], found[len(stacks) :]

    def _rows(self, stacks: Sequence[SSAValue], types: Sequence[Attribute], op: LoopOp) -> list[SSAValue]:
        """Adds the stacks as buffers of `types`, of which the names are known: of as many rows as there are."""
        return [
            self._beginning(stack, shape_of(type), memref_of(type, op), op)
            for stack, type in zip(stacks, types, strict=True)
        ]

    def _copy_row(self, source: SSAValue, stack: SSAValue, number: SSAValue, row: Sequence[Dim], op: LoopOp) -> None:
        """Copies a buffer to the row `number` of another; `row` are the extents of rows."""
        if 0 in row:
            return
        type = SSAValue.get(stack, type=MemRefType).type
        shape = type.get_shape()[1:]
        if not shape:
            self._store(self._load(source, (), op), stack, [number], op)
            return
        if DYNAMIC_INDEX in shape:
            self._copy_open_row(source, stack, number, prod(row), op)
            return
        rank, element = len(shape), type.element_type
        strides = [prod(shape[axis + 1 :]) for axis in range(rank)]
        place = MemRefType(element, shape, StridedLayoutAttr(strides, None))
        view = memref.SubviewOp.get(stack, [number, *[0] * rank], [1, *shape], [1] * (rank + 1), place)
        target = self._add(view, op).results[0]
        self._add(memref.CopyOp(self._cast(source, MemRefType(element, shape), op), target), op)

    def _copy_open_row(self, source: SSAValue, stack: SSAValue, number: SSAValue, size: Dim, op: LoopOp) -> None:
        """As `_copy_row`, for rows of `size` elements, of which only a run tells the strides: both are one axis."""
        element = SSAValue.get(stack, type=MemRefType).type.element_type
        (count,) = self._sizes.extents([size], op)
        first = self._add(arith.MuliOp(number, count), op).results[0]
        flat = self._beginning(source, [count], MemRefType(element, [DYNAMIC_INDEX]), op)
        place = MemRefType(element, [DYNAMIC_INDEX], StridedLayoutAttr([1], None))
        view = memref.ReinterpretCastOp.from_dynamic(stack, [first], [count], [1], place)
        target = self._add(view, op).results[0]
        kernel = self._copy_kernel(place, None)
        self._add(func.CallOp(kernel.sym_name.data, [flat, target, count], []), op)

    def _stack(self, type: Attribute, room: SSAValue, op: LoopOp) -> SSAValue:
        """Adds a buffer of so many rows for a stack of `type`."""
        rows = self._sizes.extents([dim for dim in shape_of(type)[1:] if isinstance(dim, DimExpr)], op)
        return self._add(memref.AllocOp([room, *rows], [], stack_type(type, op)), op).results[0]
