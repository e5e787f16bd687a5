"""Loops of the graph function: `relay.loop` becomes `scf.while` around calls.

A carried value whose extents do not vary has one buffer, which holds the value of the iteration that runs; what the
iteration yields is computed apart, and copied at its end. One that varies is carried as a buffer of its own, and behind
all buffers the extents: an iteration gets one and gives another.

```
%r = relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>>     →    %r:3 = scf.while (%i = %zero, %s = %copy, %m = %c4)
    = %x : tensor<4xf32>) to %n : tensor<i64> …                     : (index, memref<?xf32>, index) -> …
```

Stacks of as many rows as the loop has iterations have a buffer that is made before it. Where only the loop tells how
many these are, the buffers of its stacks are carried too, with the number of rows that they have room for: when that
is reached, larger ones take their place (`graph_stacks.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.relay.core.types import dims_in, shape_of
from xrelay.dialects.relay.structure.loop import CONDITION, COUNT, LoopOp, own_names
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import names_of
from xrelay.lowering.topi_to_loop.function_lowering import memref_of
from xrelay.lowering.topi_to_loop.graph_regions import (
    Origins,
    dims_at,
    field_types,
    has_names,
    made_names,
    origins_of,
    yielded_fields,
)
from xrelay.lowering.topi_to_loop.graph_stacks import StackLowering
from xrelay.passes.infra.conversion import describe_place

Move = tuple[SSAValue, SSAValue]
"""A copy from one buffer to another."""


@dataclass(frozen=True)
class _Plan:
    """What a loop carries: numbers of carried values and of stacks."""

    op: LoopOp
    types: Sequence[Attribute]
    """Of the fields of the result: the carried values, then the stacks."""
    varying: Sequence[int]
    """The carried values that are buffers of their own in each iteration."""
    names: Origins
    """Where their names are in the arguments."""
    made: Origins
    """Where the names that the loop makes are in the result."""
    growing: Sequence[int]
    """The fields that are stacks of as many rows as only the loop tells."""

    @staticmethod
    def of(op: LoopOp) -> _Plan:
        """The plan for `op`."""
        arguments = [argument.type for argument in op.carried]
        own, made = own_names(arguments, [value.type for value in op.initial]), made_names(op)
        types, count = field_types(op.result.type), len(arguments)
        varying = [index for index, type in enumerate(arguments) if has_names(type, own)]
        growing = [index for index in range(count, len(types)) if has_names(types[index], made)]
        if any(_rows_have(types[index], made) for index in growing):
            raise LoweringError(
                "rows are stacked whose extents only an iteration tells",
                location=describe_place(op),
                help="interpret the program, or give the rows extents that are known before the loop",
            )
        return _Plan(op, types, varying, origins_of(sorted(own), arguments, op),
                     origins_of(sorted(made), types, op), growing)  # fmt: skip

    @property
    def state_types(self) -> list[Attribute]:
        """The types of what the `scf.while` carries."""
        buffers = [memref_of(self.op.carried[index].type, self.op) for index in self.varying]
        stacks = [memref_of(self.types[index], self.op) for index in self.growing]
        sizes = len(self.names) + bool(stacks)
        return [IndexType(), *buffers, *stacks, *[IndexType()] * sizes]

    def state(self, values: Sequence[SSAValue]) -> _State:
        """What the values that the `scf.while` carries are."""
        first, second = 1 + len(self.varying), 1 + len(self.varying) + len(self.growing)
        third = second + len(self.names)
        return _State(values[0], values[1:first], values[first:second], values[second:third], values[third:])


@dataclass(frozen=True)
class _State:
    """What the `scf.while` carries."""

    number: SSAValue
    buffers: Sequence[SSAValue]
    stacks: Sequence[SSAValue]
    sizes: Sequence[SSAValue]
    """Of the names of the arguments."""
    room: Sequence[SSAValue]
    """How many rows the stacks have room for; nothing where there are none."""

    @property
    def values(self) -> list[SSAValue]:
        """All of it, in order."""
        return [self.number, *self.buffers, *self.stacks, *self.sizes, *self.room]


class LoopLowering(StackLowering):
    """Lowers loops between kernels."""

    def lower(self, op: Operation) -> None:
        """Adds what an op becomes."""
        if isinstance(op, LoopOp):
            self._loop(op)
        else:
            super().lower(op)

    def _loop(self, op: LoopOp) -> None:
        self._demand(op)
        plan = _Plan.of(op)
        results = {index: self._result(op, index, type) for index, type in enumerate(plan.types)
                   if index not in (*plan.varying, *plan.growing)}  # fmt: skip
        for number, (value, argument) in enumerate(zip(op.initial, op.carried, strict=True)):
            if number not in plan.varying:
                self._move(self._buffers[value], results[number], op)
                self._buffers[argument] = results[number]
        goes_on = None if op.condition is None else self._allocate(CONDITION, op, "goes_on")
        if goes_on is not None and op.condition is not None:
            self._move(self._buffers[op.condition], goes_on, op)
        limit = None if op.trip_count is None else self._index(self._load(self._buffers[op.trip_count], (), op), op)
        initial = self._initial(plan)
        before = self._test(op, limit, goes_on, plan)
        after = self._body(plan, results, goes_on)
        new = self._add(scf.WhileOp(initial.values, plan.state_types, before, after), op)
        self._give(op, self._results(plan, results, new))

    def _initial(self, plan: _Plan) -> _State:
        """What the first iteration gets; the initial values are copied."""
        op = plan.op
        zero = self._constant(0, op)
        bindings = dict(zip(plan.names, dims_at(plan.names, op.initial), strict=True))
        buffers: list[SSAValue] = []
        for index in plan.varying:
            type = op.carried[index].type
            extents = self._sizes.extents([dim.substitute(bindings) for dim in dims_in(type)], op)
            buffer = self._add(memref.AllocOp(extents, [], memref_of(type, op)), op).results[0]
            self._call_copy(self._buffers[op.initial[index]], buffer, extents, op)
            buffers.append(buffer)
        stacks, room = self._empty_stacks([plan.types[index] for index in plan.growing], op)
        return _State(zero, buffers, stacks, self._sizes.extents(bindings.values(), op), room)

    def _test(self, op: LoopOp, limit: SSAValue | None, goes_on: SSAValue | None, plan: _Plan) -> Region:
        """Whether the loop has an iteration more, which gets its number and what is carried."""
        with self._inside(Block(arg_types=plan.state_types)) as block:
            tests: list[SSAValue] = []
            if limit is not None:
                tests.append(self._add(arith.CmpiOp(block.args[0], limit, "slt"), op).results[0])
            if goes_on is not None:
                tests.append(self._load(goes_on, (), op))
            test = tests[0] if len(tests) == 1 else self._add(arith.AndIOp(tests[0], tests[1]), op).results[0]
            self._add(scf.ConditionOp(test, *block.args), op)
        return Region(block)

    def _body(self, plan: _Plan, results: Mapping[int, SSAValue], goes_on: SSAValue | None) -> Region:
        """An iteration: its ops, the rows of the stacks, and the next carried values."""
        op, block = plan.op, Block(arg_types=plan.state_types)
        state = plan.state(block.args)
        with self._inside(block, dict(zip(plan.names, state.sizes, strict=True))):
            for index, buffer in zip(plan.varying, state.buffers, strict=True):
                argument = op.carried[index]
                self._buffers[argument] = self._noted(buffer, list(dims_in(argument.type)))
                buffer.name_hint = argument.name_hint
            if op.number.first_use is not None:
                number = self._buffers[op.number] = self._allocate(COUNT, op, op.number.name_hint)
                self._store(self._add(IndexCastOp(state.number, i64), op).results[0], number, (), op)
            for inner in op.body.block.ops:
                self.lower(inner)
            self._add(scf.YieldOp(*self._next(plan, results, goes_on, state).values), op)
        return Region(block)

    def _next(self, plan: _Plan, results: Mapping[int, SSAValue], goes_on: SSAValue | None, state: _State) -> _State:
        """What the next iteration gets."""
        op = plan.op
        values = list(yielded_fields(op.body.block, op))
        # The condition may be carried itself.
        following = None if goes_on is None else self._load(self._buffers[values.pop(0)], (), op)
        stacks, room = self._with_room(
            state.stacks, state.room, state.number, [plan.types[n] for n in plan.growing], op
        )
        grown = dict(results)
        grown.update(zip(plan.growing, stacks, strict=True))
        for index in range(len(op.initial), len(values)):
            self._copy_row(
                self._buffers[values[index]], grown[index], state.number, shape_of(plan.types[index])[1:], op
            )
        self._carry(
            [(self._buffers[value], results[n]) for n, value in enumerate(values[: len(op.initial)]) if n in results],
            op,
        )
        if goes_on is not None and following is not None:
            self._store(following, goes_on, (), op)
        carried = [op.carried[index].type for index in plan.varying]
        buffers = self._hand_over([values[index] for index in plan.varying], carried, op)
        sizes = self._sizes.extents(dims_at(plan.names, values), op)
        one = self._constant(1, op)
        number = self._add(arith.AddiOp(state.number, one), op).results[0]
        return _State(number, buffers, stacks, sizes, room)

    def _results(self, plan: _Plan, results: Mapping[int, SSAValue], new: Operation) -> list[SSAValue]:
        """The buffers of the fields, when the names are known that the loop has made."""
        op, state = plan.op, plan.state(new.results)
        self._sizes.bind_behind(new, dict(zip(plan.names, state.sizes, strict=True)))
        ends: dict[str, SSAValue] = {}
        for name, (index, axis) in plan.made.items():
            is_carried = index < len(op.initial)
            dim = shape_of(op.carried[index].type)[axis] if is_carried else None
            ends[name] = state.number if dim is None else self._sizes.extents([dim], op)[0]
        self._sizes.bind_behind(new, ends)
        buffers = dict(zip(plan.varying, state.buffers, strict=True))
        stacks = dict(
            zip(plan.growing, self._rows(state.stacks, [plan.types[n] for n in plan.growing], op), strict=True)
        )
        for index, buffer in (buffers | stacks).items():
            self._noted(buffer, list(dims_in(plan.types[index])))
        found = {**results, **buffers, **stacks}
        return [found[index] for index in range(len(plan.types))]

    def _carry(self, moves: Sequence[Move], op: LoopOp) -> None:
        """Puts the next values where they are carried; those that come from there are saved first."""
        slots = {slot for _, slot in moves}
        changed = [(source, slot) for source, slot in moves if source is not slot]
        saved: dict[SSAValue, SSAValue] = {}
        for source in dict.fromkeys(source for source, _ in changed if source in slots):
            saved[source] = self.buffer_like(source, op)
            self._move(source, saved[source], op)
        for source, slot in changed:
            self._move(saved.get(source, source), slot, op)


def _rows_have(type: Attribute, names: frozenset[str]) -> bool:
    """Whether one of `names` stands in the extents behind the first."""
    return any(not names_of(dim).isdisjoint(names) for dim in shape_of(type)[1:])
