"""The ways between a factor and the heavy ops whose weights it may be moved into, for `relay-fold-scale-axis`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.relay.ops.nn_activation import ReluOp
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.nn_pool import MaxPool1DOp, MaxPool2DOp, MaxPool3DOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.passes.graph.rewriting import constant_of

HeavyOp: TypeAlias = ConvOp | DenseOp
MaxPoolOp: TypeAlias = MaxPool1DOp | MaxPool2DOp | MaxPool3DOp
SumOp: TypeAlias = AddOp | SubtractOp
Step: TypeAlias = ConvOp | DenseOp | SumOp | BiasAddOp | ReluOp | MaxPoolOp

BETWEEN: tuple[type[Step], ...] = (AddOp, SubtractOp, BiasAddOp, ReluOp, MaxPool1DOp, MaxPool2DOp, MaxPool3DOp)
"""What may stand between a heavy op and a factor."""


@dataclass(frozen=True)
class Segment:
    """A way from a factor, or from a sum on its way, up to what made the value: `path` are the ops between.

    `top` is a heavy op or another factor, or, where the segment `joins`, a sum of two values that go on by themselves.
    """

    path: Sequence[Step]
    top: HeavyOp | MultiplyOp | SumOp
    joins: bool

    @property
    def scaled(self) -> Sequence[Step | MultiplyOp]:
        """The ops with something to scale, and those that a factor has to pass."""
        return self.path if self.joins else [*self.path, self.top]


class Refused(Exception):
    """A factor cannot be moved; the message says why."""


def data_and_factor(op: MultiplyOp) -> tuple[SSAValue, Array] | None:
    """The operand that is scaled and the constant that scales it; `None` for a product of another kind."""
    for data, factor in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        array = constant_of(factor)
        if array is not None and data.type == op.result.type and constant_of(data) is None:
            return data, array
    return None


def climb(value: SSAValue, *, any_value: bool, shared: bool = False) -> tuple[list[Step], SSAValue]:
    """The ops of `BETWEEN` from `value` up, each used once only, and the value they start from.

    The first, `value`, may be used more often where it is `shared`.
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
    """The operand through which a factor may be moved up past `op`; `None` where it may not."""
    if isinstance(op, ReluOp | MaxPoolOp):
        return op.data
    if isinstance(op, BiasAddOp):
        return op.data if any_value or constant_of(op.bias) is not None else None
    if isinstance(op, SumOp):
        index = side_index(op, any_value=any_value)
        other = None if index is None else op.operands[1 - index]
        return other if other is not None and other.type == op.result.type else None
    return None


def side_index(op: SumOp | MultiplyOp, *, any_value: bool) -> int | None:
    """Which operand is a constant, or else, with `any_value`, is smaller than the result."""
    found = next((index for index in (1, 0) if constant_of(op.operands[index]) is not None), None)
    if found is None and any_value:
        found = next((index for index in (1, 0) if op.operands[index].type != op.result.type), None)
    return found


def segments_behind(value: SSAValue, *, any_value: bool) -> list[Segment]:
    """The ways from a factor behind `value` to all heavy ops, or other factors, that it is made of."""
    pending, found = [value], list[Segment]()
    while pending:
        path, start = climb(pending.pop(), any_value=any_value)
        joint = _joint(start)
        if joint is None:
            found.append(Segment(path, _top_at(start), joins=False))
        else:
            found.append(Segment(path, joint, joins=True))
            pending += joint.operands
    return found


def first_of_all(segments: Sequence[Segment]) -> Operation | None:
    """An op in front of all tops, where they stand in one block."""
    blocks = {id(segment.top.parent): segment.top.parent for segment in segments}
    block = next(iter(blocks.values()))
    if len(segments) == 1 or len(blocks) > 1 or block is None:
        return segments[0].top if len(segments) == 1 else None
    return block.first_op


def _joint(value: SSAValue) -> SumOp | None:
    """The sum or difference of two tensors of one type that made `value` for this one use."""
    op = value.owner
    if not isinstance(op, SumOp) or not value.has_one_use():
        return None
    return op if all(operand.type == op.result.type for operand in op.operands) else None


def _top_at(value: SSAValue) -> HeavyOp | MultiplyOp:
    """The heavy op, or the other factor, that made `value` for this one use."""
    op = value.owner
    name = op.name if isinstance(op, Operation) else "a parameter"
    if not value.has_one_use():
        raise Refused(f"the result of {name} is used elsewhere too")
    if isinstance(op, HeavyOp) or (isinstance(op, MultiplyOp) and data_and_factor(op) is not None):
        return op
    raise Refused(f"it scales the result of {name}")
