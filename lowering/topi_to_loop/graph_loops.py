"""Loops of the graph function: `relay.loop` becomes `scf.while` around calls.

A carried value whose extents do not vary, and that the body computes, has two buffers, which take turns: an iteration
reads the one and writes the other (`graph_turns.py`). One that the body takes from elsewhere has one buffer, to which
its next value is copied at the end of an iteration. One that varies is carried as a buffer of its own, and behind all
buffers the extents: an iteration gets one and gives another.

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
from functools import reduce

from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import StringAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.relay.structure.call_limit import too_many_calls
from xrelay.dialects.relay.structure.loop import CONDITION, COUNT, LoopOp
from xrelay.dialects.shared.attribute_names import RECURSION
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp
from xrelay.environment import call_limit
from xrelay.index_algebra.dims import names_of, symbol
from xrelay.index_algebra.requirement import Equal
from xrelay.lowering.topi_to_loop.function_lowering import is_container, memref_of
from xrelay.lowering.topi_to_loop.graph_loop_plan import LoopPlan, LoopState, row_names
from xrelay.lowering.topi_to_loop.graph_regions import dims_at, made_names, yielded_fields
from xrelay.lowering.topi_to_loop.graph_turns import TurnLowering, Turns

Move = tuple[SSAValue, SSAValue]
"""A copy from one buffer to another."""


class LoopLowering(TurnLowering):
    """Lowers loops between kernels."""

    def lower(self, op: Operation) -> None:
        """Adds what an op becomes."""
        if isinstance(op, LoopOp):
            self._loop(op)
        else:
            super().lower(op)

    def _loop(self, op: LoopOp) -> None:
        self._demand(op)
        plan = LoopPlan.of(op)
        fixed = [index for index in range(len(plan.types)) if index not in (*plan.varying, *plan.growing)]
        wanted = [index for index in fixed if self._wanted(op, index) is not None]
        results = {index: self._result(op, index, plan.types[index]) for index in fixed}
        limit = None if op.trip_count is None else self._index(self._load(self._buffers[op.trip_count], (), op), op)
        turns = self._turns(op, results, limit)
        first = {**results, **self._begin_turns(turns, op)}
        for number, (value, argument) in enumerate(zip(op.initial, op.carried, strict=True)):
            if number not in plan.varying:
                self._move(self._buffers[value], first[number], op)
                self._buffers[argument] = results[number]
        goes_on = None if op.condition is None else self._allocate(CONDITION, op, "goes_on")
        if goes_on is not None and op.condition is not None:
            self._move(self._buffers[op.condition], goes_on, op)
        initial = self._initial(plan)
        before = self._test(op, limit, goes_on, plan)
        after = self._body(plan, results, goes_on, turns)
        new = self._add(scf.WhileOp(initial.values, plan.state_types, before, after), op)
        fields = self._results(plan, results, new)
        for index, buffer in self._end_turns(turns, plan.state(new.results).number, wanted, op).items():
            fields[index] = buffer
        self._give(op, fields)

    def _initial(self, plan: LoopPlan) -> LoopState:
        """What the first iteration gets; the initial values are copied."""
        op = plan.op
        zero = self._constant(0, op)
        bindings = dict(zip(plan.names, dims_at(plan.names, op.initial), strict=True))
        buffers: list[SSAValue] = []
        for index in plan.varying:
            type = op.carried[index].type
            if is_container(type):
                buffers.append(self._buffers[op.initial[index]])
                continue
            extents = self._sizes.extents([dim.substitute(bindings) for dim in dims_in(type)], op)
            buffer = self._add(memref.AllocOp(extents, [], memref_of(type, op)), op).results[0]
            self._call_copy(self._buffers[op.initial[index]], buffer, extents, op)
            buffers.append(buffer)
        sizes = self._sizes.extents(bindings.values(), op)
        rows = [self._constant(0, op) for _ in plan.rows]
        if rows and self._new.last_op is not None:
            self._bind_rows(plan, rows, self._new.last_op)
        stacks, room = self._empty_stacks(plan.stacked, bool(rows), op)
        return LoopState(zero, buffers, stacks, sizes, rows, room)

    def _test(self, op: LoopOp, limit: SSAValue | None, goes_on: SSAValue | None, plan: LoopPlan) -> Region:
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

    def _body(self, plan: LoopPlan, results: Mapping[int, SSAValue], goes_on: SSAValue | None, turns: Turns) -> Region:
        """An iteration: its ops, the rows of the stacks, and the next carried values."""
        op, block = plan.op, Block(arg_types=plan.state_types)
        state = plan.state(block.args)
        with self._inside(block, dict(zip(plan.names, state.sizes, strict=True)), is_branch=plan.may_not_run):
            for index, buffer in zip(plan.varying, state.buffers, strict=True):
                argument = op.carried[index]
                self._buffers[argument] = self._noted(buffer, list(dims_in(argument.type)))
                buffer.name_hint = argument.name_hint
            if op.number.first_use is not None:
                number = self._buffers[op.number] = self._allocate(COUNT, op, op.number.name_hint)
                self._store(self._add(IndexCastOp(state.number, i64), op).results[0], number, (), op)
            self._limit_calls(op, state.number)
            targets = dict(results)
            for index, (now, other) in self._take_turns(turns, state.number, op).items():
                self._buffers[op.carried[index]] = now
                value = turns.values[index]
                self._buffers[value] = targets[index] = self._as_yielded(other, value, op)
            for inner in op.body.block.ops:
                self.lower(inner)
            self._add(scf.YieldOp(*self._next(plan, targets, goes_on, state).values), op)
        return Region(block)

    def _limit_calls(self, op: LoopOp, number: SSAValue) -> None:
        """Asserts, where `op` stands for a recursion, that iteration `number` is not one call too many."""
        function = op.attributes.get(RECURSION)
        if isinstance(function, StringAttr):
            limit = call_limit()
            fits = self._add(CmpiOp(number, self._constant(limit, op), "slt"), op).results[0]
            assertion = cf.AssertOp(fits, too_many_calls(f"@{function.data}", limit))
            assertion.attributes[RECURSION] = function
            self._add(assertion, op)

    def _next(
        self, plan: LoopPlan, results: Mapping[int, SSAValue], goes_on: SSAValue | None, state: LoopState
    ) -> LoopState:
        """What the next iteration gets."""
        op = plan.op
        values = list(yielded_fields(op.body.block, op))
        # The condition may be carried itself.
        following = None if goes_on is None else self._load(self._buffers[values.pop(0)], (), op)
        rows = self._row_extents(plan, values, state)
        stacks, room = self._with_room(state.stacks, state.room, state.number, plan.stacked, op)
        grown = dict(results)
        grown.update(zip(plan.growing, stacks, strict=True))
        for index in range(len(op.initial), len(values)):
            row = shape_of(plan.types[index])[1:]
            self._copy_row(self._buffers[values[index]], grown[index], state.number, row, op)
        # What is handed over may be a copy of what the next values take the place of.
        carried = [op.carried[index].type for index in plan.varying]
        buffers = self._hand_over([values[index] for index in plan.varying], carried, op)
        ends = enumerate(values[: len(op.initial)])
        self._carry([(self._buffers[value], results[index]) for index, value in ends if index in results], op)
        if goes_on is not None and following is not None:
            self._store(following, goes_on, (), op)
        sizes = self._sizes.extents(dims_at(plan.names, values), op)
        one = self._constant(1, op)
        number = self._add(arith.AddiOp(state.number, one), op).results[0]
        return LoopState(number, buffers, stacks, sizes, rows, room)

    def _row_extents(self, plan: LoopPlan, values: Sequence[SSAValue], state: LoopState) -> list[SSAValue]:
        """The extents of rows that the first iteration tells; asserts that they are those of this iteration."""
        op = plan.op
        if not plan.rows:
            return []
        is_first = self._add(CmpiOp(state.number, self._constant(0, op), "eq"), op).results[0]
        extents: list[SSAValue] = []
        for (row, (index, axis)), known in zip(plan.rows.items(), state.rows, strict=True):
            dim = shape_of(values[index].type)[axis - 1]
            (found,) = self._sizes.extents([dim], op)
            extents.append(self._add(SelectOp(is_first, found, known), op).results[0])
            same = self._add(CmpiOp(found, extents[-1], "eq"), op).results[0]
            self._assert(same, Equal(dim, row, about="stacked rows"), op)
        last = self._new.last_op
        assert last is not None, "the assertions stand before"
        self._bind_rows(plan, extents, last)
        return extents

    def _bind_rows(self, plan: LoopPlan, extents: Sequence[SSAValue], op: Operation) -> None:
        """From `op` on, in or before the loop, the extents of rows are these, whatever their names are.

        Names that the loop does not make mean what they do around it, also where an extent of rows broadcasts to them.
        """
        rows = dict(zip(plan.rows, extents, strict=True))
        made = made_names(plan.op)
        names = {name: value for dim, value in rows.items() for name in names_of(dim) if name in made}
        self._sizes.bind_behind(op, names, rows)

    def _results(self, plan: LoopPlan, results: Mapping[int, SSAValue], new: Operation) -> list[SSAValue]:
        """The buffers of the fields, when the names are known that the loop has made."""
        op, state = plan.op, plan.state(new.results)
        self._sizes.bind_behind(new, dict(zip(plan.names, state.sizes, strict=True)))
        ends: dict[str, SSAValue] = {}
        for name, (index, axis) in plan.made.items():
            if index < len(op.initial):
                (ends[name],) = self._sizes.extents([shape_of(op.carried[index].type)[axis]], op)
            else:
                ends[name] = state.number
        rows, made = dict(zip(plan.rows, state.rows, strict=True)), made_names(op)
        for row, value in rows.items():
            names = row_names(row) or ()
            for name in (name for name in names if name in made):
                if ends.setdefault(name, value) is not value:
                    fits = self._row_fits(state.number, ends[name], value, op, may_be_one=len(names) > 1)
                    self._assert_text(fits, f"{op.name}: the rows of a stack do not have the extent {name}", op)
        plain = {symbol(name) for name in ends}
        self._sizes.bind_behind(new, ends, {row: value for row, value in rows.items() if row not in plain})
        buffers = dict(zip(plan.varying, state.buffers, strict=True))
        stacks = dict(zip(plan.growing, self._rows(state.stacks, plan.stacked, op), strict=True))
        for index, buffer in (buffers | stacks).items():
            self._noted(buffer, list(dims_in(plan.types[index])))
        found = {**results, **buffers, **stacks}
        return [found[index] for index in range(len(plan.types))]

    def _row_fits(self, number: SSAValue, part: SSAValue, row: SSAValue, op: LoopOp, *, may_be_one: bool) -> SSAValue:
        """Whether an extent is that of rows, or broadcasts to it, or there are no rows."""
        tests = [(number, self._constant(0, op)), (part, row)]
        if may_be_one:
            tests.append((part, self._constant(1, op)))
        found = [self._add(CmpiOp(lhs, rhs, "eq"), op).results[0] for lhs, rhs in tests]
        return reduce(lambda some, other: self._add(arith.OrIOp(some, other), op).results[0], found)

    def _carry(self, moves: Sequence[Move], op: LoopOp) -> None:
        """Puts the next values where they are carried; those that come from there are saved first."""
        changed = [(source, slot) for source, slot in moves if source is not slot]
        slots = {slot for _, slot in changed}
        saved: dict[SSAValue, SSAValue] = {}
        for source in dict.fromkeys(source for source, _ in changed if source in slots):
            saved[source] = self.buffer_like(source, op)
            self._move(source, saved[source], op)
        for source, slot in changed:
            self._move(saved.get(source, source), slot, op)
