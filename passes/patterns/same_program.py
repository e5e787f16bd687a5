"""Structural equality of values: equal ops on equal operands, with the same variables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.operator_value import Op
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import BINDS, REQUIRES


@runtime_checkable
class _Handle(Protocol):
    """A handle on a value, such as an expression."""

    @property
    def ssa_value(self) -> SSAValue:
        """The value."""
        ...


def is_same(node: object, expr: object) -> bool:
    """Returns whether `node` is the same operator as `expr`, or a value with the same structure."""
    if isinstance(expr, Op) or isinstance(node, Op):
        return node == expr
    left, right = _value(node), _value(expr)
    return node == expr if left is None or right is None else same_program(left, right)


def _value(node: object) -> SSAValue | None:
    if isinstance(node, SSAValue):
        return node
    return node.ssa_value if isinstance(node, _Handle) else None


def same_program(
    left: SSAValue, right: SSAValue, variables: Mapping[SSAValue, SSAValue] = MappingProxyType({})
) -> bool:
    """Returns whether both values come from equal ops on equal operands, regardless of types and names of values.

    Variables are equal if they are the same, bound at the same position, or mapped by `variables`. Attributes that
    inference records are ignored. Iterative; shared subgraphs are skipped, and each pair is compared once.
    """
    pending, seen = [(left, right)], set[tuple[SSAValue, SSAValue]]()
    bound = dict(variables)
    while pending:
        pair = pending.pop()
        one, other = pair
        if bound.get(one, one) is other or pair in seen:
            continue
        seen.add(pair)
        if not isinstance(one, OpResult) or not isinstance(other, OpResult) or one.index != other.index:
            return False
        if not _same_op(one.op, other.op, bound):
            return False
        pending.extend(zip(reversed(one.op.operands), reversed(other.op.operands), strict=True))
        for region, copy in zip(one.op.regions, other.op.regions, strict=True):
            ends = region.block.last_op, copy.block.last_op
            if ends[0] is not None and ends[1] is not None:
                pending.extend(zip(ends[0].operands, ends[1].operands, strict=True))
    return True


def _same_op(one: Operation, other: Operation, bound: dict[SSAValue, SSAValue]) -> bool:
    """Returns whether both ops are equal apart from operands; records the correspondence of their block arguments."""
    if type(one) is not type(other) or len(one.operands) != len(other.operands):
        return False
    if isinstance(one, ConstantOp) and isinstance(other, ConstantOp):
        return one.result.type == other.result.type and one.array.tobytes() == other.array.tobytes()
    if one.properties != other.properties or _attributes(one) != _attributes(other):
        return False
    for region, copy in zip(one.regions, other.regions, strict=True):
        if len(region.blocks) != 1 or len(copy.blocks) != 1 or len(region.block.args) != len(copy.block.args):
            return False
        bound.update(zip(region.block.args, copy.block.args, strict=True))
    return True


def _attributes(op: Operation) -> dict[str, Attribute]:
    return {name: value for name, value in op.attributes.items() if name not in (REQUIRES, BINDS)}
