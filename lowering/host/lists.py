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

The extents of an element that is read are sizes from there on, like those of the inputs' names. Branches return lists,
and loops carry them, as values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, Signedness, i64
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop.list_ops import (
    ListAtOp,
    ListEmptyOp,
    ListEraseOp,
    ListExtentsOp,
    ListInsertOp,
    ListLengthOp,
    ListReadOp,
    ListType,
)
from xrelay.dialects.relay.structure.closures import ClosureCapturedOp, ClosureConstructOp, ClosureNumberOp
from xrelay.dialects.relay.structure.containers import (
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
)
from xrelay.dialects.relay.structure.loop import COUNT
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.dialects.upstream.arith_extras import IndexCastOp, SelectOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import symbol
from xrelay.index_algebra.requirement import LHS, RHS
from xrelay.lowering.host.code import HostCode, HostPattern, lowers
from xrelay.lowering.host.fields import made_names
from xrelay.lowering.host.holder_types import holder_of, is_container

OpT = TypeVar("OpT", bound=Operation)


class ListPattern(HostPattern[OpT]):
    """Base of the patterns of ops whose results can be written into any buffer."""

    def takes_destination(self, result: SSAValue, code: HostCode) -> bool:
        """Always."""
        return True


@lowers(SequenceConstructOp, SequenceEmptyOp, OptionalConstructOp)
class LowerConstruct(ListPattern[Operation]):
    """A sequence or optional of some values → insertions into an empty list."""

    def lower(self, op: Operation, code: HostCode) -> None:
        """Adds the list."""
        code.buffers[op.results[0]] = _append_operands(op, empty_list(op, code), 0, code)


@lowers(SequenceInsertOp)
class LowerSequenceInsert(ListPattern[SequenceInsertOp]):
    """`relay.sequence_insert` → `loop.list_insert`."""

    def lower(self, op: SequenceInsertOp, code: HostCode) -> None:
        """Adds the insertion, by default at the end."""
        place = length = list_length(op.data, code)
        if op.at:
            place = _checked_place(op.at[0], length, code, or_end=True)
        code.buffers[op.results[0]] = _insert(op.value, code.buffers[op.data], place, code)


@lowers(SequenceEraseOp)
class LowerSequenceErase(ListPattern[SequenceEraseOp]):
    """`relay.sequence_erase` → `loop.list_erase`."""

    def lower(self, op: SequenceEraseOp, code: HostCode) -> None:
        """Adds the removal, by default of the last value."""
        place = _checked_place(op.at[0] if op.at else None, list_length(op.data, code), code)
        code.buffers[op.results[0]] = code.value(ListEraseOp(code.buffers[op.data], place))


@lowers(SequenceAtOp)
class LowerSequenceAt(ListPattern[SequenceAtOp]):
    """`relay.sequence_at` → a copy of the element."""

    def lower(self, op: SequenceAtOp, code: HostCode) -> None:
        """Adds the copy."""
        place = _checked_place(op.at, list_length(op.data, code), code)
        _read(op, code.buffers[op.data], place, code)


@lowers(SequenceLengthOp)
class LowerSequenceLength(ListPattern[SequenceLengthOp]):
    """`relay.sequence_length` → `loop.list_length`."""

    def lower(self, op: SequenceLengthOp, code: HostCode) -> None:
        """Stores the length."""
        length = code.value(IndexCastOp(list_length(op.data, code), i64))
        code.store(length, code.buffer(op.results[0]))


@lowers(OptionalGetElementOp)
class LowerOptionalGetElement(ListPattern[OptionalGetElementOp]):
    """`relay.optional_get_element` → a copy of the first element."""

    def lower(self, op: OptionalGetElementOp, code: HostCode) -> None:
        """Adds the assertion that there is a value, and the copy."""
        check(_has_elements(op.data, code), "the optional has no value", code)
        _read(op, code.buffers[op.data], code.constant(0), code)


@lowers(OptionalHasElementOp)
class LowerOptionalHasElement(ListPattern[OptionalHasElementOp]):
    """`relay.optional_has_element` → a comparison of the length with 0."""

    def lower(self, op: OptionalHasElementOp, code: HostCode) -> None:
        """Stores the result of the comparison."""
        code.store(_has_elements(op.data, code), code.buffer(op.results[0]))


@lowers(ClosureConstructOp)
class LowerClosureConstruct(ListPattern[ClosureConstructOp]):
    """`relay.closure_construct` → a list of the function's number and the captured values."""

    def lower(self, op: ClosureConstructOp, code: HostCode) -> None:
        """Adds the list."""
        number = code.allocate(COUNT)
        code.store(code.value(arith.ConstantOp.from_int_and_width(op.number.value.data, i64)), number)
        first = code.value(ListInsertOp(number, [], empty_list(op, code), code.constant(0)))
        code.buffers[op.results[0]] = _append_operands(op, first, 1, code)


@lowers(ClosureNumberOp)
class LowerClosureNumber(ListPattern[ClosureNumberOp]):
    """`relay.closure_number` → a copy of the first element."""

    def lower(self, op: ClosureNumberOp, code: HostCode) -> None:
        """Adds the copy."""
        code.add(ListReadOp(code.buffers[op.data], code.constant(0), code.buffer(op.results[0])))


@lowers(ClosureCapturedOp)
class LowerClosureCaptured(ListPattern[ClosureCapturedOp]):
    """`relay.closure_captured` → a copy of an element after the first."""

    def lower(self, op: ClosureCapturedOp, code: HostCode) -> None:
        """Adds the copy."""
        _read(op, code.buffers[op.data], code.constant(op.index.value.data + 1), code)


@lowers(FailOp)
class LowerFail(ListPattern[FailOp]):
    """`relay.fail` → an assertion that never holds. Extents that the op introduces are 0."""

    def lower(self, op: FailOp, code: HostCode) -> None:
        """Adds the assertion and a value."""
        check(code.value(arith.ConstantOp.from_int_and_width(0, 1)), op.message.data, code)
        if is_container(op.result.type):
            code.buffers[op.result] = empty_list(op, code)
            return
        zero = code.add(arith.ConstantOp.from_int_and_width(0, IndexType()))
        code.bind(zero, dict.fromkeys(made_names(op), zero.results[0]))
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
    shape, made = shape_of(op.results[0].type), {symbol(name): name for name in made_names(op)}
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
    """Returns the place `at`, by default the last one, and asserts that it is in the list, or its end."""
    zero = code.constant(0)
    place = code.constant(-1) if at is None else load_number(at, code)
    first = code.value(arith.SubiOp(zero, length))
    text = f"place {LHS} is out of range"
    check(code.compare("sle" if or_end else "slt", place, length), f"{text} for a sequence of {RHS} values", code)
    check(code.compare("sge", place, first), f"{text}, the first one is {RHS}", code)
    from_end = code.value(arith.AddiOp(place, length))
    return code.value(SelectOp(code.compare("slt", place, zero), from_end, place))
