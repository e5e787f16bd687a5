"""Sequences as parts of a tensor: `relay.split_to_sequence` and `relay.concat_from_sequence`, loops over the parts.

```
%s = relay.split_to_sequence(%x, %sizes)      →    %s, %end = scf.for %i … iter_args(%l = %empty, %first = %c0) {
                                                     %count = …, asserted to be in what is left of the axis
                                                     %m = loop.list_insert_part %x[…] from %first count %count in %l …
                                                   }
%y = relay.concat_from_sequence(%s)           →    %d, %same = scf.for …     the sum of extents, and if others are equal
    {relay.binds = #relay.bounds<d>}               %y = memref.alloc(%d) …
                                                   scf.for … { loop.list_read_part %s at %i into %y[%d] from %first … }
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.loop.list_part_ops import ListInsertPartOp, ListReadPartOp
from xrelay.dialects.relay.structure.sequences import ConcatFromSequenceOp, SplitToSequenceOp
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.lowering.topi_to_loop.graph_extents import MOST
from xrelay.lowering.topi_to_loop.graph_lists import ListLowering

MakeBody = Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""Adds an iteration for its number and what is carried; gives what is carried next."""


class ListPartLowering(ListLowering):
    """Lowers what cuts a tensor into a sequence, and what joins the values of one."""

    def lower(self, op: Operation) -> None:
        """Adds what an op becomes."""
        match op:
            case SplitToSequenceOp():
                self._split(op)
            case ConcatFromSequenceOp():
                self._concat(op)
            case _:
                super().lower(op)

    # --- split -------------------------------------------------------------------------------------------------------

    def _split(self, op: SplitToSequenceOp) -> None:
        shape = shape_of(op.data.type)
        axis = op.axis.value.data % len(shape)
        (extent,) = self._sizes.extents([shape[axis]], op)
        open_extents = self._sizes.extents(dims_in(op.data.type), op)
        parts, count_of = self._parts(op, extent)
        drop = not op.split and not op.keepdims.value.data

        def cut(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            data, first = carried
            count = count_of(number, self._add(arith.SubiOp(extent, first), op).results[0])
            part = ListInsertPartOp(
                self._buffers[op.data], open_extents, (first, count), (data, number), axis, drop=drop
            )
            return self._add(part, op).results[0], self._add(arith.AddiOp(first, count), op).results[0]

        found, end = self._for(parts, [self._empty(op), self._constant(0, op)], cut, op)
        self._assert_that(
            self._compare("eq", end, extent, op), f"C2: the parts do not make an extent of {shape[axis]}", op
        )
        self._buffers[op.results[0]] = found

    def _parts(
        self, op: SplitToSequenceOp, extent: SSAValue
    ) -> tuple[SSAValue, Callable[[SSAValue, SSAValue], SSAValue]]:
        """How many parts there are, and what adds the extent of one for its number and what is left of the axis."""
        one = self._constant(1, op)
        if not op.split:
            return extent, lambda number, left: one
        (split,) = op.split
        if shape := shape_of(split.type):
            return self._sizes.extents([shape[0]], op)[0], lambda number, left: self._listed(split, number, left, op)
        size = self._number(split, op)
        self._assert_that(self._compare("sge", size, one, op), "C2: parts of an extent that is not positive", op)
        # One that is larger than the axis makes one part, and its sum with the extent might leave 64 bits.
        longest = self._add(arith.MaxSIOp(extent, one), op).results[0]
        size = self._add(arith.MinSIOp(size, longest), op).results[0]
        most = self._add(arith.AddiOp(extent, self._add(arith.SubiOp(size, one), op).results[0]), op).results[0]
        parts = self._add(arith.DivUIOp(most, size), op).results[0]
        return parts, lambda number, left: self._add(arith.MinSIOp(size, left), op).results[0]

    def _listed(self, split: SSAValue, number: SSAValue, left: SSAValue, op: Operation) -> SSAValue:
        """The extent of a part that a list says."""
        count = self._number(split, op, [number])
        # Of a negative one the unsigned value is greater.
        self._assert_that(self._compare("ule", count, left, op), "C2: a part does not fit in what is left", op)
        return count

    # --- concatenation -----------------------------------------------------------------------------------------------

    def _concat(self, op: ConcatFromSequenceOp) -> None:
        data, shape, new = self._buffers[op.data], shape_of(op.results[0].type), bool(op.new_axis.value.data)
        axis, rank = op.axis.value.data % len(shape), len(shape) - new
        length, zero = self._length(op.data, op), self._constant(0, op)
        self._assert_that(
            self._compare("ne", length, zero, op), "a sequence without values has nothing to concatenate", op
        )
        first = self._list_extents(data, zero, rank, op)
        one = self._constant(1, op)

        def measure(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            found = self._list_extents(data, number, rank, op)
            end = self._add(arith.AddiOp(carried[0], one if new else found[axis]), op).results[0]
            pairs = [pair for place, pair in enumerate(zip(found, first, strict=True)) if new or place != axis]
            same = carried[1]
            for pair in pairs:
                same = self._add(arith.AndIOp(same, self._compare("eq", *pair, op)), op).results[0]
            return end, same

        true = self._add(arith.ConstantOp.from_int_and_width(1, i1), op).results[0]
        total, same = self._for(length, [zero, true], measure, op)
        self._assert_that(same, f"the values differ in extents beside axis {axis}", op)
        self._assert_that(self._compare("ule", total, self._constant(MOST, op), op), "the result is too long", op)
        self._bind(op, [*first[:axis], total, *first[axis if new else axis + 1 :]])
        target = self._buffer(op.results[0], op)
        extents = self._sizes.extents(dims_in(op.results[0].type), op)

        def place(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            self._add(ListReadPartOp((data, number), target, extents, carried[0], axis, drop=new), op)
            count = one if new else self._list_extents(data, number, rank, op)[axis]
            return [self._add(arith.AddiOp(carried[0], count), op).results[0]]

        self._for(length, [zero], place, op)

    def _for(self, count: SSAValue, initial: Sequence[SSAValue], make: MakeBody, op: Operation) -> Sequence[SSAValue]:
        """Adds a loop that runs `count` times, and gives what it carries in the end."""
        bounds = self._constant(0, op), count, self._constant(1, op)
        with self._inside(Block(arg_types=[IndexType(), *(value.type for value in initial)])) as block:
            self._add(scf.YieldOp(*make(block.args[0], block.args[1:])), op)
        return self._add(scf.ForOp(*bounds, initial, Region(block)), op).results
