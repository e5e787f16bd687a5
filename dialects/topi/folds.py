"""The bodies of folds and scans: each accumulator is combined with a value."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.topi.guard import GuardOp
from xrelay.dialects.topi.index_space import IndexSpaceOp

REGROUPABLE = frozenset(
    f"arith.{name}"
    for name in (
        *("addf", "addi", "mulf", "muli", "maximumf", "minimumf", "maxsi", "minsi", "maxui", "minui"),
        *("andi", "ori", "xori"),
    )
)
"""Operations that a reduction may reorder and regroup; sums and products of floats then round differently."""


@dataclass(frozen=True)
class Combination:
    """`accumulator = operation(accumulator, value)`; the value depends on no accumulator."""

    operation: str
    value: SSAValue


def dependencies(op: IndexSpaceOp) -> dict[SSAValue, frozenset[SSAValue]]:
    """The block arguments on which each value of the body depends."""
    found: dict[SSAValue, frozenset[SSAValue]] = {arg: frozenset([arg]) for arg in op.body.block.args}
    for inner in op.body.walk():
        used = frozenset[SSAValue]().union(*(found.get(operand, frozenset()) for operand in inner.operands))
        if isinstance(inner, GuardOp):
            for nested in inner.walk():
                used = used.union(*(found.get(operand, frozenset()) for operand in nested.operands))
        for result in inner.results:
            found[result] = used
    return found


def combinations(op: IndexSpaceOp) -> list[Combination] | None:
    """The combination of each accumulator; None unless all are regroupable operations on independent values."""
    known, folded = dependencies(op), frozenset[SSAValue](op.accumulators)
    result: list[Combination] = []
    for accumulator, yielded in zip(op.accumulators, op.yielded, strict=True):
        if not isinstance(yielded, OpResult) or yielded.op.name not in REGROUPABLE:
            return None
        operands = list(yielded.op.operands)
        if operands.count(accumulator) != 1:
            return None
        operands.remove(accumulator)
        if not folded.isdisjoint(known.get(operands[0], frozenset())):
            return None
        result.append(Combination(yielded.op.name, operands[0]))
    return result


def independent_of_accumulators(op: IndexSpaceOp) -> tuple[list[Operation], list[Operation]]:
    """The ops of the body that depend on no accumulator, and the others, both in order and without the terminator."""
    known, folded = dependencies(op), frozenset[SSAValue](op.accumulators)
    independent: list[Operation] = []
    others: list[Operation] = []
    for inner in op.body.block.ops:
        if inner.results:
            (independent if folded.isdisjoint(known[inner.results[0]]) else others).append(inner)
    return independent, others
