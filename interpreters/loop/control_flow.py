"""Branches and loops between kernels, and the loads and stores of scalars that control them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import memref, scf
from xdsl.ir import Block, Operation, SSAValue

from xrelay.interpreters.scalar_meaning import Value
from xrelay.interpreters.work import Work

Values = dict[SSAValue, Value]
RunBlock = Callable[[Block, Values], "Work[None]"]


def enter_between_kernels(op: Operation, values: Values, run_block: RunBlock) -> Work[None] | None:
    """Returns the work that runs `op`, or None if it is not control flow between kernel calls.

    `run_block` runs the ops of a block; the terminator is handled here.
    """
    match op:
        case scf.IfOp():
            return _if(op, values, run_block)
        case scf.WhileOp():
            return _while(op, values, run_block)
        case scf.ForOp():
            return _for(op, values, run_block)
        case _:
            return None


def run_between_kernels(op: Operation, values: Values) -> bool:
    """Runs `op` if it loads or stores a scalar; returns whether it does."""
    match op:
        case memref.LoadOp():
            values[op.res] = values[op.memref][_indices(op.indices, values)]
        case memref.StoreOp():
            values[op.memref][_indices(op.indices, values)] = values[op.value]
        case _:
            return False
    return True


def _if(op: scf.IfOp, values: Values, run_block: RunBlock) -> Work[None]:
    taken = op.true_region if values[op.cond] else op.false_region
    if not taken.blocks:
        return
    yield run_block(taken.block, values)
    last = taken.block.last_op
    if op.output and last is not None:
        values.update(zip(op.output, [values[operand] for operand in last.operands], strict=True))


def _while(op: scf.WhileOp, values: Values, run_block: RunBlock) -> Work[None]:
    before, after = op.before_region.block, op.after_region.block
    given: Sequence[Value] = [values[operand] for operand in op.arguments]
    while True:
        values.update(zip(before.args, given, strict=True))
        yield run_block(before, values)
        test = before.last_op
        assert isinstance(test, scf.ConditionOp), "the first region ends in scf.condition"
        given = [values[operand] for operand in test.args]
        if not values[test.condition]:
            break
        values.update(zip(after.args, given, strict=True))
        yield run_block(after, values)
        given = [values[operand] for operand in after.last_op.operands] if after.last_op is not None else []
    values.update(zip(op.results, given, strict=True))


def _for(op: scf.ForOp, values: Values, run_block: RunBlock) -> Work[None]:
    bounds = (int(values[each]) for each in (op.lb, op.ub, op.step))
    carried: Sequence[Value] = [values[operand] for operand in op.iter_args]
    block = op.body.block
    for number in range(*bounds):
        values.update(zip(block.args, (number, *carried), strict=True))
        yield run_block(block, values)
        carried = [values[operand] for operand in block.last_op.operands] if block.last_op is not None else []
    values.update(zip(op.results, carried, strict=True))


def _indices(indices: Sequence[SSAValue], values: Values) -> tuple[int, ...]:
    return tuple(int(values[index]) for index in indices)
