"""The values that a loop of a graph function carries from one iteration to the next.

With double buffering, an iteration reads one buffer and writes the other, so that nothing is copied:

```
%left = arith.subi %count, %i                            ← %i in a loop that a condition may end
%odd = arith.cmpi ne, %left & 1, 0
%now = arith.select %odd, %b, %a : memref<4xf32>         ← the iteration reads it
%next = arith.select %odd, %a, %b : memref<4xf32>        ← the iteration writes it
```

A loop with a known number of iterations thus ends in `%a`, the destination of its result. If a condition may end the
loop, the number of iterations determines the buffer of the result.

A stack whose number of rows is not known before the loop grows:

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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Final

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.relay.structure.constant import ConstantOp, elements_of_constant
from xrelay.dialects.relay.structure.loop import LoopOp, own_names
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, DimExpr, Selection, Symbol, names_of, single_atom
from xrelay.lowering.host.code import HostCode
from xrelay.lowering.host.fields import Origins, field_types, has_names, new_names, origins_of, yielded_fields
from xrelay.lowering.host.signature import holder_of, is_container, memref_of


@dataclass(frozen=True)
class LoopState:
    """The values that the `scf.while` carries."""

    number: SSAValue
    """The number of the iteration."""
    buffers: Sequence[SSAValue]
    """The carried values with varying extents, and the carried lists."""
    stacks: Sequence[SSAValue]
    """The stacks whose size is not known before the loop."""
    sizes: Sequence[SSAValue]
    """The values of the named extents in the types of the body's arguments."""
    rows: Sequence[SSAValue]
    """The extents of the rows of stacks that are not known before the first iteration."""
    capacity: Sequence[SSAValue]
    """The number of rows that the stacks have memory for; empty without stacks."""

    @property
    def values(self) -> list[SSAValue]:
        """All values, in order."""
        return [self.number, *self.buffers, *self.stacks, *self.sizes, *self.rows, *self.capacity]


@dataclass(frozen=True)
class LoopPlan:
    """How a loop carries its values and stacks, which are numbered as the fields of its result."""

    op: LoopOp
    types: Sequence[Attribute]
    """The types of the fields."""
    varying: Sequence[int]
    """The carried values that are lists, or have another buffer in each iteration."""
    growing: Sequence[int]
    """The stacks whose size is not known before the loop."""
    names: Origins
    """For each name that the body's arguments bind: an argument and the axis with this extent."""
    made: Origins
    """For each name that the loop introduces, except names of row extents: a field of the result and an axis."""
    rows: Mapping[Dim, tuple[int, int]]
    """The fields and axes of the extents of rows that are not known before the first iteration."""

    @staticmethod
    def of(op: LoopOp) -> LoopPlan:
        """Returns the plan for `op`.

        Raises `LoweringError` for rows with an extent that is neither a name nor a broadcast of names.
        """
        arguments = [argument.type for argument in op.carried]
        own, made = own_names(arguments, [value.type for value in op.initial]), new_names(op)
        types, count = field_types(op.result.type), len(arguments)
        varying = [index for index, type in enumerate(arguments) if has_names(type, own) or is_container(type)]
        growing = [index for index in range(count, len(types)) if has_names(types[index], made)]
        rows: dict[Dim, tuple[int, int]] = {}
        for index in growing:
            for axis, dim in enumerate(shape_of(types[index])):
                if axis and not names_of(dim).isdisjoint(made):
                    rows.setdefault(dim, (index, axis))
        if any(row_names(dim) is None for dim in rows):
            raise LoweringError(
                "the extents of stacked rows are only known within an iteration",
                location=describe_location(op),
                help="run the program in the interpreter",
            )
        # The extents of rows are in `rows`.
        outer = [type if index < count else _numbers_of_rows(type) for index, type in enumerate(types)]
        names, origins = origins_of(sorted(own), arguments, op), origins_of(sorted(made), outer, op)
        return LoopPlan(op, types, varying, growing, names, origins, rows)

    @property
    def fixed(self) -> list[int]:
        """The fields whose size is known before the loop."""
        return [index for index in range(len(self.types)) if index not in (*self.varying, *self.growing)]

    @property
    def may_not_run(self) -> bool:
        """Whether the loop may have no iteration. Then an invalid body, which never runs, is no error."""
        count = None if self.op.trip_count is None else self.op.trip_count.owner
        known = elements_of_constant(count) if isinstance(count, ConstantOp) else None
        least = None if known is None else known[0]
        return self.op.condition is not None or not isinstance(least, int) or least < 1

    @property
    def stacked(self) -> list[Attribute]:
        """The types of the stacks that grow."""
        return [self.types[index] for index in self.growing]

    @property
    def state_types(self) -> list[Attribute]:
        """The types of the values that the `scf.while` carries."""
        buffers = [holder_of(self.op.carried[index].type, self.op) for index in self.varying]
        stacks = [stack_type(type, self.op) for type in self.stacked]
        sizes = len(self.names) + len(self.rows) + bool(stacks)
        return [IndexType(), *buffers, *stacks, *[IndexType()] * sizes]

    def state(self, values: Sequence[SSAValue]) -> LoopState:
        """Splits the values that the `scf.while` carries into the fields of a state."""
        ends = [1]
        for group in (self.varying, self.growing, self.names, self.rows):
            ends.append(ends[-1] + len(group))
        buffers, stacks, sizes, rows = (values[begin:end] for begin, end in pairwise(ends))
        return LoopState(values[0], buffers, stacks, sizes, rows, values[ends[-1] :])


def next_values(op: LoopOp) -> Sequence[SSAValue]:
    """Returns the values that the body yields for the carried values and stacks."""
    return yielded_fields(op.body.block, op)[int(op.condition is not None) :]


def row_names(dim: Dim) -> Sequence[str] | None:
    """Returns the name that is the extent of rows, or the names that are broadcast to it; None for another extent."""
    atom = single_atom(dim)
    if isinstance(atom, Selection) and atom.kind == "broadcast":
        parts = [single_atom(part) for part in atom.parts]
    else:
        parts = [atom]
    names = [part.name for part in parts if isinstance(part, Symbol)]
    return names if len(names) == len(parts) else None


def stack_type(type: Attribute, op: Operation) -> MemRefType:
    """Returns the type of the buffer of a stack of `type` while it grows."""
    full = memref_of(type, op)
    return MemRefType(full.element_type, [DYNAMIC_INDEX, *full.get_shape()[1:]])


def _numbers_of_rows(type: Attribute) -> Attribute:
    """Returns the type of a stack of scalars with as many rows as a stack of `type`."""
    return tensor_type(shape_of(type)[:1], element_type_of(type))


@dataclass(frozen=True)
class DoubleBuffers:
    """The second buffers of the carried values that are double-buffered, by their numbers."""

    pairs: Mapping[int, tuple[SSAValue, SSAValue]]
    values: Mapping[int, SSAValue]
    """The values that the body yields for them."""
    count: SSAValue | None
    """The number of iterations, if no condition ends the loop."""

    @staticmethod
    def of(op: LoopOp, results: Mapping[int, SSAValue], limit: SSAValue | None, code: HostCode) -> DoubleBuffers:
        """Allocates a second buffer for each carried value in `results` that the body computes, once per value."""
        values: dict[SSAValue, int] = {}
        for index, value in enumerate(next_values(op)[: len(op.initial)]):
            if index in results and value not in values and _needs_two_buffers(value, op, code):
                values[value] = index
        pairs = {index: (results[index], code.allocate_like(results[index])) for index in values.values()}
        count = None
        if pairs and limit is not None and op.condition is None:
            count = code.value(arith.MaxSIOp(limit, code.constant(0)))
        return DoubleBuffers(pairs, {index: value for value, index in values.items()}, count)

    def initial(self, code: HostCode) -> Mapping[int, SSAValue]:
        """Returns the buffers that the first iteration reads."""
        if not self.pairs:
            return {}
        return {index: now for index, (now, _) in self.iteration(code.constant(0), code).items()}

    def iteration(self, number: SSAValue, code: HostCode) -> Mapping[int, tuple[SSAValue, SSAValue]]:
        """Returns the buffers that iteration `number` reads, and those that it writes."""
        if not self.pairs:
            return {}
        is_odd = self._is_odd(number, code)
        return {
            index: (_select(is_odd, second, first, code), _select(is_odd, first, second, code))
            for index, (first, second) in self.pairs.items()
        }

    def final(self, number: SSAValue, assigned: Collection[int], code: HostCode) -> Mapping[int, SSAValue]:
        """Returns the buffers of the values after `number` iterations.

        Values in `assigned` are in their first buffers.
        """
        if self.count is not None:
            return {index: first for index, (first, _) in self.pairs.items()}
        if not self.pairs:
            return {}
        is_odd = self._is_odd(number, code)
        copied = [pair for index, pair in self.pairs.items() if index in assigned]
        if copied:
            with code.inside(Block()) as copying:
                for first, second in copied:
                    code.move(second, first)
                code.add(scf.YieldOp())
            code.add(scf.IfOp(is_odd, [], Region(copying)))
        return {
            index: first if index in assigned else _select(is_odd, second, first, code)
            for index, (first, second) in self.pairs.items()
        }

    def _is_odd(self, number: SSAValue, code: HostCode) -> SSAValue:
        """Whether the values after `number` iterations are in the second buffers."""
        left = number if self.count is None else code.value(arith.SubiOp(self.count, number))
        parity = code.value(arith.AndIOp(left, code.constant(1)))
        return code.compare("ne", parity, code.constant(0))


def _needs_two_buffers(value: SSAValue, op: LoopOp, code: HostCode) -> bool:
    """Whether a carried value has two buffers: an op of the body can write it into any buffer.

    Scalars are copied instead.
    """
    is_computed = value.owner.parent is op.body.block and value not in code.buffers and code.takes_destination(value)
    return is_computed and shape_of(value.type) != ()


def _select(condition: SSAValue, lhs: SSAValue, rhs: SSAValue, code: HostCode) -> SSAValue:
    return code.with_dims(code.value(SelectOp(condition, lhs, rhs)), code.dims.get(lhs, ()))


FIRST_CAPACITY: Final = 8
"""The number of rows that a stack of unknown length first has memory for."""


def empty_stacks(
    types: Sequence[Attribute], code: HostCode, *, rows_unknown: bool
) -> tuple[list[SSAValue], list[SSAValue]]:
    """Allocates stacks of `types`; returns them and their capacity, which is empty without stacks.

    The capacity is 0 if the extents of a row are not known before the first iteration.
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
    type = memref_type(stack)
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
    """Like `copy_row`, for rows of `size` elements with dynamic strides: the kernel copies buffers with one axis."""
    element = memref_type(stack).element_type
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
