"""`relay.split_to_sequence` and `relay.concat_from_sequence`: loops over the elements of a list.

```
%s = relay.split_to_sequence(%x, %sizes)      →    %s, %end = scf.for %i … iter_args(%l = %empty, %first = %c0) {
                                                     %count = …, asserted to be in the rest of the axis
                                                     %m = loop.list_insert_part %x[…] from %first count %count in %l …
                                                   }
%y = relay.concat_from_sequence(%s)           →    %d, %same = scf.for …     the sum; whether other extents are equal
    {relay.binds = #relay.bounds<d>}               %y = memref.alloc(%d) …
                                                   scf.for … { loop.list_read_part %s at %i into %y[%d] from %first … }
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.loop.list_ops import ListInsertPartOp, ListReadPartOp
from xrelay.dialects.relay.structure.containers import ConcatFromSequenceOp, SplitToSequenceOp
from xrelay.dialects.shared.types import shape_of
from xrelay.lowering.host.code import HostCode, lowers
from xrelay.lowering.host.extents import LARGEST
from xrelay.lowering.host.lists import (
    ListPattern,
    bind_extents,
    check,
    element_extents,
    empty_list,
    list_length,
    load_number,
)

MakeBody = Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""Adds an iteration from its number and the carried values; returns the next carried values."""


@lowers(SplitToSequenceOp)
class LowerSplitToSequence(ListPattern[SplitToSequenceOp]):
    """`relay.split_to_sequence` → a loop that inserts each part into a list."""

    def lower(self, op: SplitToSequenceOp, code: HostCode) -> None:
        """Adds the loop, and the assertion that the parts add up to the extent."""
        shape = shape_of(op.data.type)
        axis = op.axis.value.data % len(shape)
        (extent,) = code.extents([shape[axis]])
        extents = code.extents_of(op.data.type)
        parts, count_of = _parts(op, extent, code)
        drop = not op.split and not op.keepdims.value.data

        def insert_part(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            data, first = carried
            count = count_of(number, code.value(arith.SubiOp(extent, first)))
            part = ListInsertPartOp(code.buffers[op.data], extents, (first, count), (data, number), axis, drop=drop)
            return code.value(part), code.value(arith.AddiOp(first, count))

        found, end = _for(parts, [empty_list(op, code), code.constant(0)], insert_part, code)
        check(code.compare("eq", end, extent), f"C2: the extents of the slices do not add up to {shape[axis]}", code)
        code.buffers[op.results[0]] = found


@lowers(ConcatFromSequenceOp)
class LowerConcatFromSequence(ListPattern[ConcatFromSequenceOp]):
    """`relay.concat_from_sequence` → a loop that adds up extents, and a loop that copies each element."""

    def lower(self, op: ConcatFromSequenceOp, code: HostCode) -> None:
        """Adds both loops, with assertions that the elements fit together."""
        data, shape, new = code.buffers[op.data], shape_of(op.results[0].type), bool(op.new_axis.value.data)
        axis, rank = op.axis.value.data % len(shape), len(shape) - new
        length, zero = list_length(op.data, code), code.constant(0)
        check(code.compare("ne", length, zero), "a sequence without values has nothing to concatenate", code)
        first = element_extents(data, zero, rank, code)
        one = code.constant(1)

        def measure(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            found = element_extents(data, number, rank, code)
            end = code.value(arith.AddiOp(carried[0], one if new else found[axis]))
            pairs = [pair for place, pair in enumerate(zip(found, first, strict=True)) if new or place != axis]
            same = carried[1]
            for pair in pairs:
                same = code.value(arith.AndIOp(same, code.compare("eq", *pair)))
            return end, same

        true = code.value(arith.ConstantOp.from_int_and_width(1, i1))
        total, same = _for(length, [zero, true], measure, code)
        check(same, f"the values differ in an extent other than that of axis {axis}", code)
        check(code.compare("ule", total, code.constant(LARGEST)), "the result is too long", code)
        bind_extents(op, [*first[:axis], total, *first[axis if new else axis + 1 :]], code)
        target = code.buffer(op.results[0])
        extents = code.extents_of(op.results[0].type)

        def copy(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            code.add(ListReadPartOp((data, number), target, extents, carried[0], axis, drop=new))
            count = one if new else element_extents(data, number, rank, code)[axis]
            return [code.value(arith.AddiOp(carried[0], count))]

        _for(length, [zero], copy, code)


def _parts(
    op: SplitToSequenceOp, extent: SSAValue, code: HostCode
) -> tuple[SSAValue, Callable[[SSAValue, SSAValue], SSAValue]]:
    """Returns the number of parts, and a function from a part's number and the rest of the axis to its extent."""
    one = code.constant(1)
    if not op.split:
        return extent, lambda number, left: one
    (split,) = op.split
    if shape := shape_of(split.type):
        return code.extents([shape[0]])[0], lambda number, left: _listed_extent(split, number, left, code)
    size = load_number(split, code)
    check(code.compare("sge", size, one), "C2: the extent of the slices is not positive", code)
    # A size beyond the axis makes one part; its sum with the extent could exceed 64 bits.
    size = code.value(arith.MinSIOp(size, code.value(arith.MaxSIOp(extent, one))))
    most = code.value(arith.AddiOp(extent, code.value(arith.SubiOp(size, one))))
    parts = code.value(arith.DivUIOp(most, size))
    return parts, lambda number, left: code.value(arith.MinSIOp(size, left))


def _listed_extent(split: SSAValue, number: SSAValue, left: SSAValue, code: HostCode) -> SSAValue:
    """Returns the extent of part `number` from a list of extents, and asserts that it fits."""
    count = load_number(split, code, number)
    # The unsigned value of a negative extent is greater than any rest.
    check(code.compare("ule", count, left), "C2: a slice exceeds the rest of the axis", code)
    return count


def _for(count: SSAValue, initial: Sequence[SSAValue], make: MakeBody, code: HostCode) -> Sequence[SSAValue]:
    """Adds a loop with `count` iterations; returns the values that it carries in the end."""
    bounds = code.constant(0), count, code.constant(1)
    with code.inside(Block(arg_types=[IndexType(), *(value.type for value in initial)])) as block:
        code.add(scf.YieldOp(*make(block.args[0], block.args[1:])))
    return code.add(scf.ForOp(*bounds, initial, Region(block))).results
