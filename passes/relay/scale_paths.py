"""Finds the ops between a factor and the heavy ops whose weights it can scale, for `relay-fold-scale-axis`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.nn.pool import MAX_POOLS, MaxPoolOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.passes.graph.rewriting import constant_of

HeavyOp: TypeAlias = ConvOp | DenseOp
SumOp: TypeAlias = AddOp | SubtractOp
Step: TypeAlias = ConvOp | DenseOp | SumOp | BiasAddOp | ReluOp | MaxPoolOp

BETWEEN: tuple[type[Step], ...] = (AddOp, SubtractOp, BiasAddOp, ReluOp, *MAX_POOLS)
"""The ops that may be between a heavy op and a factor."""


@dataclass(frozen=True)
class Segment:
    """The ops `path` from a factor, or from the operand of a sum, up to `top`, the op that the factor reaches.

    `top` is a heavy op or another factor; if `joins` is set, a sum of two values, each with a segment of its own.
    """

    path: Sequence[Step]
    top: HeavyOp | MultiplyOp | SumOp
    joins: bool

    @property
    def scaled(self) -> Sequence[Step | MultiplyOp]:
        """The ops that the factor passes or scales."""
        return self.path if self.joins else [*self.path, self.top]


class Refused(Exception):
    """A factor cannot be moved; the message is the reason."""


def data_and_factor(op: MultiplyOp) -> tuple[SSAValue, Array] | None:
    """The scaled operand and the constant factor; `None` if no operand, or both, are constants."""
    for data, factor in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        array = constant_of(factor)
        if array is not None and data.type == op.result.type and constant_of(data) is None:
            return data, array
    return None


def path_above(value: SSAValue, *, any_value: bool, shared: bool = False) -> tuple[list[Step], SSAValue]:
    """The ops of `BETWEEN` from `value` upwards, each with a single use, and the value from which they start.

    If `shared` is set, `value` itself may have several uses.
    """
    path: list[Step] = []
    while isinstance(value, OpResult) and isinstance(value.op, BETWEEN):
        if not value.has_one_use() and (path or not shared):
            break
        above = _above(value.op, any_value=any_value)
        if above is None:
            break
        path.append(value.op)
        value = above
    return path, value


def _above(op: Step, *, any_value: bool) -> SSAValue | None:
    """The operand to which a factor of the result of `op` may move; `None` if it may not."""
    if isinstance(op, ReluOp | MaxPoolOp):
        return op.data
    if isinstance(op, BiasAddOp):
        return op.data if any_value or constant_of(op.bias) is not None else None
    if isinstance(op, SumOp):
        index = constant_operand_index(op, any_value=any_value)
        other = None if index is None else op.operands[1 - index]
        return other if other is not None and other.type == op.result.type else None
    return None


def constant_operand_index(op: SumOp | MultiplyOp, *, any_value: bool) -> int | None:
    """The index of the constant operand, or else, with `any_value`, of the operand that is broadcast."""
    found = next((index for index in (1, 0) if constant_of(op.operands[index]) is not None), None)
    if found is None and any_value:
        found = next((index for index in (1, 0) if op.operands[index].type != op.result.type), None)
    return found


def segments_above(value: SSAValue, *, any_value: bool) -> list[Segment]:
    """The segments from `value`, a sum of any number of tensors, up to the heavy ops or other factors in them."""
    pending, found = [value], list[Segment]()
    while pending:
        path, start = path_above(pending.pop(), any_value=any_value)
        sum_op = _sum_at(start)
        if sum_op is None:
            found.append(Segment(path, _top_at(start), joins=False))
        else:
            found.append(Segment(path, sum_op, joins=True))
            pending += sum_op.operands
    return found


def first_of_all(segments: Sequence[Segment]) -> Operation | None:
    """An op that no top precedes; `None` if the tops are in several blocks."""
    blocks = {id(segment.top.parent): segment.top.parent for segment in segments}
    block = next(iter(blocks.values()))
    if len(segments) == 1 or len(blocks) > 1 or block is None:
        return segments[0].top if len(segments) == 1 else None
    return block.first_op


def _sum_at(value: SSAValue) -> SumOp | None:
    """The sum or difference of two tensors of one type that defines `value`, if `value` has a single use."""
    op = value.owner
    if not isinstance(op, SumOp) or not value.has_one_use():
        return None
    return op if all(operand.type == op.result.type for operand in op.operands) else None


def _top_at(value: SSAValue) -> HeavyOp | MultiplyOp:
    """The heavy op, or the other factor, that defines `value`; raises `Refused` for other ops or further uses."""
    op = value.owner
    name = op.name if isinstance(op, Operation) else "a parameter"
    if not value.has_one_use():
        raise Refused(f"the result of {name} has other uses")
    if isinstance(op, HeavyOp) or (isinstance(op, MultiplyOp) and data_and_factor(op) is not None):
        return op
    raise Refused(f"it scales the result of {name}")
