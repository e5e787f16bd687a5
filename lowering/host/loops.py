"""Loops: `relay.loop` becomes `scf.while` around calls.

A carried value with constant extents that the body computes has two buffers (`DoubleBuffers`). Any other value with
constant extents has one buffer, and its next value is copied there at the end of an iteration. A value with varying
extents is carried as a buffer, and the extents follow all buffers; each iteration receives one buffer and returns
another.

```
%r = relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>>     →    %r:3 = scf.while (%i = %zero, %s = %copy, %m = %c4)
    = %x : tensor<4xf32>) to %n : tensor<i64> …                     : (index, memref<?xf32>, index) -> …
```

A stack with a row for each iteration has a buffer that is allocated before the loop. If the number of rows is not known
before the loop, the buffers of its stacks are carried too, with their capacity in rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import StringAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.relay.structure.call import too_many_calls
from xrelay.dialects.relay.structure.loop import CONDITION, COUNT, LoopOp
from xrelay.dialects.shared.attribute_names import RECURSION
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.dialects.upstream.arith_extras import IndexCastOp, SelectOp
from xrelay.environment import call_limit
from xrelay.index_algebra.dims import names_of, symbol
from xrelay.index_algebra.requirement import Equal
from xrelay.lowering.host.code import HostCode, lowers
from xrelay.lowering.host.fields import (
    cast_to_yielded,
    destination,
    dims_at,
    field_buffer,
    field_takes_destination,
    new_names,
    record_fields,
    yielded_fields,
)
from xrelay.lowering.host.loop_state import (
    DoubleBuffers,
    LoopPlan,
    LoopState,
    copy_row,
    empty_stacks,
    filled_rows,
    next_values,
    row_names,
    with_capacity,
)
from xrelay.lowering.host.scalars import known_element
from xrelay.lowering.host.signature import is_container, memref_of

Move = tuple[SSAValue, SSAValue]
"""A copy from one buffer to another."""


@lowers(LoopOp, takes_destination=field_takes_destination)
def lower_loop(op: LoopOp, code: HostCode) -> None:
    """`relay.loop` → `scf.while`."""
    code.require()
    plan = LoopPlan.of(op)
    assigned = [index for index in plan.fixed if destination(op, index, code) is not None]
    results = {index: field_buffer(op, index, plan.types[index], code) for index in plan.fixed}
    limit = None if op.trip_count is None else _iterations(op.trip_count, code)
    doubled = DoubleBuffers.of(op, results, limit, code)
    first = {**results, **doubled.initial(code)}
    for number, (value, argument) in enumerate(zip(op.initial, op.carried, strict=True)):
        if number not in plan.varying:
            code.move(code.buffers[value], first[number])
            code.buffers[argument] = results[number]
    condition = None if op.condition is None else code.allocate(CONDITION, "goes_on")
    if condition is not None and op.condition is not None:
        code.move(code.buffers[op.condition], condition)
    initial = _initial_state(plan, code)
    before = _condition_region(plan, limit, condition, code)
    after = _body_region(plan, results, condition, doubled, code)
    new = code.add(scf.WhileOp(initial.values, plan.state_types, before, after))
    buffers = _result_buffers(plan, results, new, code)
    for index, buffer in doubled.final(plan.state(new.results).number, assigned, code).items():
        buffers[index] = buffer
    record_fields(op, buffers, code)


def _iterations(trip_count: SSAValue, code: HostCode) -> SSAValue:
    """Returns a trip count as an index, which is a constant or computed from extents if that is possible."""
    known = known_element(trip_count, 0, code)
    if isinstance(known, int):
        return code.constant(known)
    return code.to_index(code.load(code.buffers[trip_count]) if known is None else known)


def _initial_state(plan: LoopPlan, code: HostCode) -> LoopState:
    """Returns the state of the first iteration, with copies of the initial values."""
    op = plan.op
    zero = code.constant(0)
    bindings = dict(zip(plan.names, dims_at(plan.names, op.initial), strict=True))
    buffers: list[SSAValue] = []
    for index in plan.varying:
        type = op.carried[index].type
        if is_container(type):
            buffers.append(code.buffers[op.initial[index]])
            continue
        extents = code.extents(dim.substitute(bindings) for dim in dims_in(type))
        buffer = code.value(memref.AllocOp(extents, [], memref_of(type, op)))
        code.copy_elements(code.buffers[op.initial[index]], buffer, extents)
        buffers.append(buffer)
    sizes = code.extents(bindings.values())
    rows = [code.constant(0) for _ in plan.rows]
    if rows and code.block.last_op is not None:
        _bind_rows(plan, rows, code.block.last_op, code)
    stacks, capacity = empty_stacks(plan.stacked, code, rows_unknown=bool(rows))
    return LoopState(zero, buffers, stacks, sizes, rows, capacity)


def _condition_region(plan: LoopPlan, limit: SSAValue | None, condition: SSAValue | None, code: HostCode) -> Region:
    """Returns the region that tests whether another iteration runs."""
    with code.inside(Block(arg_types=plan.state_types)) as block:
        tests: list[SSAValue] = []
        if limit is not None:
            tests.append(code.value(arith.CmpiOp(block.args[0], limit, "slt")))
        if condition is not None:
            tests.append(code.load(condition))
        test = tests[0] if len(tests) == 1 else code.value(arith.AndIOp(tests[0], tests[1]))
        code.add(scf.ConditionOp(test, *block.args))
    return Region(block)


def _body_region(
    plan: LoopPlan,
    results: Mapping[int, SSAValue],
    condition: SSAValue | None,
    doubled: DoubleBuffers,
    code: HostCode,
) -> Region:
    """Returns the region of an iteration: its ops, the rows of the stacks, and the next carried values."""
    op, block = plan.op, Block(arg_types=plan.state_types)
    state = plan.state(block.args)
    with code.inside(block, dict(zip(plan.names, state.sizes, strict=True)), is_branch=plan.may_not_run):
        for index, buffer in zip(plan.varying, state.buffers, strict=True):
            argument = op.carried[index]
            code.buffers[argument] = code.with_dims(buffer, list(dims_in(argument.type)))
            buffer.name_hint = argument.name_hint
        if op.number.first_use is not None:
            number = code.buffers[op.number] = code.allocate(COUNT, op.number.name_hint)
            code.store(code.value(IndexCastOp(state.number, i64)), number)
        _limit_calls(op, state.number, code)
        targets = dict(results)
        for index, (now, other) in doubled.iteration(state.number, code).items():
            code.buffers[op.carried[index]] = now
            value = doubled.values[index]
            code.buffers[value] = targets[index] = cast_to_yielded(other, value, code)
        for inner in op.body.block.ops:
            code.lower(inner)
        code.add(scf.YieldOp(*_next_state(plan, targets, condition, state, code).values))
    return Region(block)


def _limit_calls(op: LoopOp, number: SSAValue, code: HostCode) -> None:
    """Asserts, if the loop was a recursion, that iteration `number` is within the limit of calls."""
    function = op.attributes.get(RECURSION)
    if isinstance(function, StringAttr):
        limit = call_limit()
        fits = code.compare("slt", number, code.constant(limit))
        assertion = cf.AssertOp(fits, too_many_calls(f"@{function.data}", limit))
        assertion.attributes[RECURSION] = function
        code.add(assertion)


def _next_state(
    plan: LoopPlan, results: Mapping[int, SSAValue], condition: SSAValue | None, state: LoopState, code: HostCode
) -> LoopState:
    """Adds the end of an iteration; returns the state of the next one."""
    op = plan.op
    values = next_values(op)
    # The value of the condition may also be carried, and change before it is stored.
    following = None if condition is None else code.load(code.buffers[yielded_fields(op.body.block, op)[0]])
    rows = _row_extents(plan, values, state, code)
    stacks, capacity = with_capacity(state.stacks, state.capacity, state.number, plan.stacked, code)
    targets = {**results, **dict(zip(plan.growing, stacks, strict=True))}
    for index in range(len(op.initial), len(values)):
        row = shape_of(plan.types[index])[1:]
        copy_row(code.buffers[values[index]], targets[index], state.number, row, code)
    # Copies are made before `_carry` overwrites their sources.
    carried = [op.carried[index].type for index in plan.varying]
    buffers = code.pass_outward([values[index] for index in plan.varying], carried)
    ends = enumerate(values[: len(op.initial)])
    _carry([(code.buffers[value], results[index]) for index, value in ends if index in results], code)
    if condition is not None and following is not None:
        code.store(following, condition)
    sizes = code.extents(dims_at(plan.names, values))
    one = code.constant(1)
    number = code.value(arith.AddiOp(state.number, one))
    return LoopState(number, buffers, stacks, sizes, rows, capacity)


def _row_extents(plan: LoopPlan, values: Sequence[SSAValue], state: LoopState, code: HostCode) -> list[SSAValue]:
    """Returns the extents of rows that the first iteration determines; asserts that this iteration has the same."""
    if not plan.rows:
        return []
    is_first = code.compare("eq", state.number, code.constant(0))
    extents: list[SSAValue] = []
    for (row, (index, axis)), known in zip(plan.rows.items(), state.rows, strict=True):
        dim = shape_of(values[index].type)[axis - 1]
        (found,) = code.extents([dim])
        extents.append(code.value(SelectOp(is_first, found, known)))
        same = code.compare("eq", found, extents[-1])
        code.check(same, Equal(dim, row, about="stacked rows"))
    last = code.block.last_op
    assert last is not None, "assertions precede"
    _bind_rows(plan, extents, last, code)
    return extents


def _bind_rows(plan: LoopPlan, extents: Sequence[SSAValue], op: Operation, code: HostCode) -> None:
    """Binds the names of row extents to `extents` after `op`, which is in or before the loop.

    A name that the loop does not introduce keeps its value, also if an extent of rows broadcasts to it.
    """
    rows = dict(zip(plan.rows, extents, strict=True))
    made = new_names(plan.op)
    names = {name: value for dim, value in rows.items() for name in names_of(dim) if name in made}
    code.bind(op, names, rows)


def _result_buffers(plan: LoopPlan, results: Mapping[int, SSAValue], new: Operation, code: HostCode) -> list[SSAValue]:
    """Returns the buffers of the fields, after binding the names that the loop introduces."""
    op, state = plan.op, plan.state(new.results)
    code.bind(new, dict(zip(plan.names, state.sizes, strict=True)))
    ends: dict[str, SSAValue] = {}
    for name, (index, axis) in plan.made.items():
        if index < len(op.initial):
            (ends[name],) = code.extents([shape_of(op.carried[index].type)[axis]])
        else:
            ends[name] = state.number
    rows, made = dict(zip(plan.rows, state.rows, strict=True)), new_names(op)
    for row, value in rows.items():
        names = row_names(row) or ()
        for name in (name for name in names if name in made):
            if ends.setdefault(name, value) is not value:
                fits = _row_fits(state.number, ends[name], value, code, may_be_one=len(names) > 1)
                code.check_that(fits, f"shape mismatch: {op.name}: the rows of a stack do not have the extent {name}")
    plain = {symbol(name) for name in ends}
    code.bind(new, ends, {row: value for row, value in rows.items() if row not in plain})
    buffers = dict(zip(plan.varying, state.buffers, strict=True))
    stacks = dict(zip(plan.growing, filled_rows(state.stacks, plan.stacked, code), strict=True))
    for index, buffer in (buffers | stacks).items():
        code.with_dims(buffer, list(dims_in(plan.types[index])))
    found = {**results, **buffers, **stacks}
    return [found[index] for index in range(len(plan.types))]


def _row_fits(number: SSAValue, extent: SSAValue, row: SSAValue, code: HostCode, *, may_be_one: bool) -> SSAValue:
    """Emits the condition that an extent equals that of the rows, or broadcasts to it, or that there are no rows."""
    tests = [(number, code.constant(0)), (extent, row)]
    if may_be_one:
        tests.append((extent, code.constant(1)))
    found = [code.compare("eq", lhs, rhs) for lhs, rhs in tests]
    return reduce(lambda some, other: code.value(arith.OrIOp(some, other)), found)


def _carry(moves: Sequence[Move], code: HostCode) -> None:
    """Copies the next values to the carried buffers. A source that is also a target is saved first."""
    changed = [(source, target) for source, target in moves if source is not target]
    targets = {target for _, target in changed}
    saved: dict[SSAValue, SSAValue] = {}
    for source in dict.fromkeys(source for source, _ in changed if source in targets):
        saved[source] = code.allocate_like(source)
        code.move(source, saved[source])
    for source, target in changed:
        code.move(saved.get(source, source), target)
