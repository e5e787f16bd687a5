"""Sequences, optionals and closures: lists of the loop level.

An optional is a list of at most one value.

```
%t = relay.sequence_insert(%s, %x, %at)       →    %n = loop.list_length %s : !loop.list<f32>
    : (!relay.sequence<tensor<?xf32>>, …)          …  %place, and cf.assert that it is in the sequence
                                                   %t = loop.list_insert %x[%k] in %s at %place : …
%v = relay.sequence_at(%t, %at)               →    %d = loop.list_extents %t at %place : !loop.list<f32> -> index
    {relay.binds = #relay.bounds<d>}               %v = memref.alloc(%d) : memref<?xf32>
                                                   loop.list_read %t at %place into %v : …
```

A closure is a list of the number of its function, in a buffer, and of its captured values:

```
%f = relay.closure_construct(%x)              →    %e = loop.list_empty : !loop.list<none>
    {number = 3} : …                               %l = loop.list_insert %three[] in %e at %c0 : memref<i64> in …
                                                   %f = loop.list_insert %x[] in %l at %c1 : memref<4xf32> in …
```

`relay.split_to_sequence` and `relay.concat_from_sequence` are loops over the elements of a list:

```
%s = relay.split_to_sequence(%x, %sizes)      →    %s, %end = scf.for %i … iter_args(%l = %empty, %first = %c0) {
                                                     %count = …, asserted to be in the rest of the axis
                                                     %m = loop.list_insert_part %x[…] from %first count %count in %l …
                                                   }
%y = relay.concat_from_sequence(%s)           →    %d, %same = scf.for …     the sum; whether other extents are equal
    {relay.binds = #relay.bounds<d>}               %y = memref.alloc(%d) …
                                                   scf.for … { loop.list_read_part %s at %i into %y[%d] from %first … }
```

The extents of an element that is read are sizes from there on, like those of the inputs' names. Branches return lists,
and loops carry them, as values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerType, Signedness, i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.loop.list_ops import (
    ListAtOp,
    ListEmptyOp,
    ListEraseOp,
    ListExtentsOp,
    ListInsertOp,
    ListInsertPartOp,
    ListLengthOp,
    ListReadOp,
    ListReadPartOp,
    ListType,
)
from xrelay.dialects.relay.structure.closures import ClosureCapturedOp, ClosureConstructOp, ClosureNumberOp
from xrelay.dialects.relay.structure.containers import (
    ConcatFromSequenceOp,
    FailOp,
    OptionalConstructOp,
    OptionalGetElementOp,
    OptionalHasElementOp,
    SequenceAtOp,
    SequenceConstructOp,
    SequenceEmptyOp,
    SequenceEraseOp,
    SequenceInsertOp,
    SequenceLengthOp,
    SplitToSequenceOp,
)
from xrelay.dialects.relay.structure.loop import COUNT
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.dialects.upstream.arith_extras import IndexCastOp, SelectOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import symbol
from xrelay.index_algebra.requirement import LHS, RHS
from xrelay.lowering.host.code import HostCode, lowers
from xrelay.lowering.host.extents import LARGEST_EXTENT
from xrelay.lowering.host.fields import new_names
from xrelay.lowering.host.signature import holder_of, is_container


def accept_any_buffer(result: SSAValue, code: HostCode) -> bool:
    """Results of lists can be written into any buffer."""
    return True


@lowers(SequenceConstructOp, SequenceEmptyOp, OptionalConstructOp, takes_destination=accept_any_buffer)
def lower_construct(op: Operation, code: HostCode) -> None:
    """A sequence or optional of some values → insertions into an empty list."""
    code.buffers[op.results[0]] = _append_operands(op, empty_list(op, code), 0, code)


@lowers(SequenceInsertOp, takes_destination=accept_any_buffer)
def lower_sequence_insert(op: SequenceInsertOp, code: HostCode) -> None:
    """`relay.sequence_insert` → `loop.list_insert`."""
    place = length = list_length(op.data, code)
    if op.at:
        place = _checked_place(op.at[0], length, code, or_end=True)
    code.buffers[op.results[0]] = _insert(op.value, code.buffers[op.data], place, code)


@lowers(SequenceEraseOp, takes_destination=accept_any_buffer)
def lower_sequence_erase(op: SequenceEraseOp, code: HostCode) -> None:
    """`relay.sequence_erase` → `loop.list_erase`."""
    place = _checked_place(op.at[0] if op.at else None, list_length(op.data, code), code)
    code.buffers[op.results[0]] = code.value(ListEraseOp(code.buffers[op.data], place))


@lowers(SequenceAtOp, takes_destination=accept_any_buffer)
def lower_sequence_at(op: SequenceAtOp, code: HostCode) -> None:
    """`relay.sequence_at` → a copy of the element."""
    place = _checked_place(op.at, list_length(op.data, code), code)
    _read(op, code.buffers[op.data], place, code)


@lowers(SequenceLengthOp, takes_destination=accept_any_buffer)
def lower_sequence_length(op: SequenceLengthOp, code: HostCode) -> None:
    """`relay.sequence_length` → `loop.list_length`."""
    length = code.value(IndexCastOp(list_length(op.data, code), i64))
    code.store(length, code.buffer(op.results[0]))


@lowers(OptionalGetElementOp, takes_destination=accept_any_buffer)
def lower_optional_get_element(op: OptionalGetElementOp, code: HostCode) -> None:
    """`relay.optional_get_element` → a copy of the first element."""
    check(_has_elements(op.data, code), "the optional has no value", code)
    _read(op, code.buffers[op.data], code.constant(0), code)


@lowers(OptionalHasElementOp, takes_destination=accept_any_buffer)
def lower_optional_has_element(op: OptionalHasElementOp, code: HostCode) -> None:
    """`relay.optional_has_element` → a comparison of the length with 0."""
    code.store(_has_elements(op.data, code), code.buffer(op.results[0]))


@lowers(ClosureConstructOp, takes_destination=accept_any_buffer)
def lower_closure_construct(op: ClosureConstructOp, code: HostCode) -> None:
    """`relay.closure_construct` → a list of the function's number and the captured values."""
    number = code.allocate(COUNT)
    code.store(code.value(arith.ConstantOp.from_int_and_width(op.number.value.data, i64)), number)
    first = code.value(ListInsertOp(number, [], empty_list(op, code), code.constant(0)))
    code.buffers[op.results[0]] = _append_operands(op, first, 1, code)


@lowers(ClosureNumberOp, takes_destination=accept_any_buffer)
def lower_closure_number(op: ClosureNumberOp, code: HostCode) -> None:
    """`relay.closure_number` → a copy of the first element."""
    code.add(ListReadOp(code.buffers[op.data], code.constant(0), code.buffer(op.results[0])))


@lowers(ClosureCapturedOp, takes_destination=accept_any_buffer)
def lower_closure_captured(op: ClosureCapturedOp, code: HostCode) -> None:
    """`relay.closure_captured` → a copy of an element after the first."""
    _read(op, code.buffers[op.data], code.constant(op.index.value.data + 1), code)


@lowers(FailOp, takes_destination=accept_any_buffer)
def lower_fail(op: FailOp, code: HostCode) -> None:
    """`relay.fail` → an assertion that never holds. Extents that the op introduces are 0."""
    check(code.value(arith.ConstantOp.from_int_and_width(0, 1)), op.message.data, code)
    if is_container(op.result.type):
        code.buffers[op.result] = empty_list(op, code)
        return
    zero = code.add(arith.ConstantOp.from_int_and_width(0, IndexType()))
    code.bind(zero, dict.fromkeys(new_names(op), zero.results[0]))
    code.buffer(op.result)


def empty_list(op: Operation, code: HostCode) -> SSAValue:
    """Returns an empty list of the type of the result of `op`."""
    return code.value(ListEmptyOp(cast(ListType, holder_of(op.results[0].type, op))))


def list_length(value: SSAValue, code: HostCode) -> SSAValue:
    """Returns the length of a list."""
    return code.value(ListLengthOp(code.buffers[value]))


def element_extents(data: SSAValue, place: SSAValue, rank: int, code: HostCode) -> Sequence[SSAValue]:
    """Returns the extents of the buffer at a place of a list."""
    return code.add(ListExtentsOp(data, place, rank)).results if rank else ()


def bind_extents(op: Operation, extents: Sequence[SSAValue], code: HostCode) -> None:
    """Binds the names in the type of the result of `op` to its `extents`; asserts that known extents are equal."""
    shape, made = shape_of(op.results[0].type), {symbol(name): name for name in new_names(op)}
    sizes: dict[str, SSAValue] = {}
    for dim, extent in zip(shape, extents, strict=True):
        if dim in made:
            sizes.setdefault(made[dim], extent)
    if code.block.last_op is not None and sizes:
        code.bind(code.block.last_op, sizes)
    for dim, extent in zip(shape, extents, strict=True):
        value = code.index_of(code.sizes.sizes([dim], op)[0])
        if value is not extent:
            check(code.compare("eq", extent, value), f"an extent is not {dim}", code)
    code.require()


def load_number(value: SSAValue, code: HostCode, *indices: SSAValue) -> SSAValue:
    """Loads an integer as an index. Raises `LoweringError` for an unsigned one."""
    type = element_type_of(value.type)
    if isinstance(type, IntegerType) and type.signedness.data is Signedness.UNSIGNED:
        raise LoweringError(
            f"{code.source.name} does not accept {type}", location=describe_location(code.source), help="cast it to i64"
        )
    return code.to_index(code.load(code.buffers[value], *indices))


def check(holds: SSAValue, text: str, code: HostCode) -> None:
    """Asserts that `holds`; the message is `text` after the name of the op."""
    code.check_that(holds, f"{code.source.name}: {text}")


def _append_operands(op: Operation, data: SSAValue, length: int, code: HostCode) -> SSAValue:
    """Appends the operands of `op` to a list of `length` values; returns the list."""
    for place, value in enumerate(op.operands, length):
        data = _insert(value, data, code.constant(place), code)
    return data


def _insert(value: SSAValue, data: SSAValue, place: SSAValue, code: HostCode) -> SSAValue:
    extents = code.extents_of(value.type)
    return code.value(ListInsertOp(code.buffers[value], extents, data, place))


def _read(
    op: SequenceAtOp | OptionalGetElementOp | ClosureCapturedOp, data: SSAValue, place: SSAValue, code: HostCode
) -> None:
    """Copies an element to a buffer of its own; an inner list needs no copy."""
    result = op.results[0]
    if isinstance(holder := holder_of(result.type, op), ListType):
        code.buffers[result] = code.value(ListAtOp(data, place, holder))
        return
    bind_extents(op, element_extents(data, place, len(shape_of(result.type)), code), code)
    code.add(ListReadOp(data, place, code.buffer(result)))


def _has_elements(value: SSAValue, code: HostCode) -> SSAValue:
    return code.compare("ne", list_length(value, code), code.constant(0))


def _checked_place(at: SSAValue | None, length: SSAValue, code: HostCode, *, or_end: bool = False) -> SSAValue:
    """Returns the place `at`, by default the last element, and asserts that it is in the list.

    With `or_end`, it may be the end.
    """
    zero = code.constant(0)
    place = code.constant(-1) if at is None else load_number(at, code)
    first = code.value(arith.SubiOp(zero, length))
    text = f"position {LHS} is out of range"
    check(code.compare("sle" if or_end else "slt", place, length), f"{text} for a sequence of {RHS} values", code)
    check(code.compare("sge", place, first), f"{text}, the first one is {RHS}", code)
    from_end = code.value(arith.AddiOp(place, length))
    return code.value(SelectOp(code.compare("slt", place, zero), from_end, place))


MakeBody = Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""Adds an iteration from its number and the carried values; returns the next carried values."""


@lowers(SplitToSequenceOp, takes_destination=accept_any_buffer)
def lower_split_to_sequence(op: SplitToSequenceOp, code: HostCode) -> None:
    """`relay.split_to_sequence` → a loop that inserts each part into a list."""
    shape = shape_of(op.data.type)
    axis = op.axis.value.data % len(shape)
    (extent,) = code.extents([shape[axis]])
    extents = code.extents_of(op.data.type)
    parts, count_of = _part_extents(op, extent, code)
    drop = not op.split and not op.keepdims.value.data

    def insert_part(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        data, first = carried
        count = count_of(number, code.value(arith.SubiOp(extent, first)))
        part = ListInsertPartOp(code.buffers[op.data], extents, (first, count), (data, number), axis, drop=drop)
        return code.value(part), code.value(arith.AddiOp(first, count))

    found, end = _for(parts, [empty_list(op, code), code.constant(0)], insert_part, code)
    check(code.compare("eq", end, extent), f"C2: the extents of the slices do not add up to {shape[axis]}", code)
    code.buffers[op.results[0]] = found


@lowers(ConcatFromSequenceOp, takes_destination=accept_any_buffer)
def lower_concat_from_sequence(op: ConcatFromSequenceOp, code: HostCode) -> None:
    """`relay.concat_from_sequence` → a loop that adds up extents, and a loop that copies each element."""
    data, shape, new = code.buffers[op.data], shape_of(op.results[0].type), bool(op.new_axis.value.data)
    axis, rank = op.axis.value.data % len(shape), len(shape) - new
    length, zero = list_length(op.data, code), code.constant(0)
    check(code.compare("ne", length, zero), "the sequence is empty", code)
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
    check(code.compare("ule", total, code.constant(LARGEST_EXTENT)), "the result is too long", code)
    bind_extents(op, [*first[:axis], total, *first[axis if new else axis + 1 :]], code)
    target = code.buffer(op.results[0])
    extents = code.extents_of(op.results[0].type)

    def copy(number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        code.add(ListReadPartOp((data, number), target, extents, carried[0], axis, drop=new))
        count = one if new else element_extents(data, number, rank, code)[axis]
        return [code.value(arith.AddiOp(carried[0], count))]

    _for(length, [zero], copy, code)


def _part_extents(
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
    # A size beyond the axis results in one part; it is clamped, since its sum with the extent could exceed 64 bits.
    size = code.value(arith.MinSIOp(size, code.value(arith.MaxSIOp(extent, one))))
    most = code.value(arith.AddiOp(extent, code.value(arith.SubiOp(size, one))))
    parts = code.value(arith.DivUIOp(most, size))
    return parts, lambda number, left: code.value(arith.MinSIOp(size, left))


def _listed_extent(split: SSAValue, number: SSAValue, left: SSAValue, code: HostCode) -> SSAValue:
    """Returns the extent of part `number` from a list of extents, and asserts that it fits."""
    count = load_number(split, code, number)
    # As an unsigned number, a negative extent is greater than any rest.
    check(code.compare("ule", count, left), "C2: a slice exceeds the rest of the axis", code)
    return count


def _for(count: SSAValue, initial: Sequence[SSAValue], make: MakeBody, code: HostCode) -> Sequence[SSAValue]:
    """Adds a loop with `count` iterations; returns the values that it carries in the end."""
    bounds = code.constant(0), count, code.constant(1)
    with code.inside(Block(arg_types=[IndexType(), *(value.type for value in initial)])) as block:
        code.add(scf.YieldOp(*make(block.args[0], block.args[1:])))
    return code.add(scf.ForOp(*bounds, initial, Region(block))).results
