"""Moves ops before another op, so that their results can be its operands."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.types import is_static
from xrelay.passes.infra.digraph import post_order

MOST_MOVED = 64
"""The maximum number of ops to move for one value, so that a pass that does so for each op takes linear time."""


class OpHoister:
    """Moves ops before other ops; an op may get new ops before it only once.

    `positions` contains the position of each op of the module, a pair whose first number is unique. `barred` ops are
    never moved.
    """

    def __init__(self, positions: dict[Operation, tuple[int, int]], barred: AbstractSet[Operation]):
        self._positions, self._barred = positions, barred

    def can_hoist(self, op: Operation, values: Sequence[SSAValue]) -> bool:
        """Whether `values` are defined before `op`, or by a few ops of static types that may move before it."""
        return all(self._ops_to_hoist(op, value) is not None for value in values)

    def hoist(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Moves the ops that define `values` before `op`; requires `can_hoist`."""
        block = op.parent
        for value in values:
            for one in self._ops_to_hoist(op, value) or ():
                if block is not None:
                    one.detach()
                    block.insert_op_before(one, op)
                    self._positions[one] = (self._positions[op][0], -1)

    def record_new_ops(self, op: Operation) -> None:
        """Records the positions of new ops before `op`."""
        number, count = self._positions[op][0], 0
        new = op.prev_op
        while new is not None and self._positions.get(new, (number, 0))[0] == number:
            count += 1
            self._positions[new] = (number, -count)
            new = new.prev_op

    def _ops_to_hoist(self, op: Operation, value: SSAValue) -> list[Operation] | None:
        """The ops after `op` that define `value`, in order; `None` if they are too many or one of them cannot move."""
        if not isinstance(value, OpResult) or self._precedes(value.op, op):
            return []
        seen: set[Operation] = {value.op}
        pending: list[Operation] = [value.op]
        while pending:
            current = pending.pop()
            if current in self._barred or not _is_movable(current) or len(seen) > MOST_MOVED:
                return None
            for defining in _defining_ops(current):
                if defining not in seen and not self._precedes(defining, op):
                    seen.add(defining)
                    pending.append(defining)
        return post_order(
            [value.op], lambda one: [each.op for each in one.operands if isinstance(each, OpResult) and each.op in seen]
        )

    def _precedes(self, one: Operation, op: Operation) -> bool:
        return one.parent is not op.parent or self._positions.get(one, self._positions[op]) < self._positions[op]


def _defining_ops(op: Operation) -> list[Operation]:
    """The ops that define the operands of `op`."""
    return [value.op for value in op.operands if isinstance(value, OpResult)]


def _is_movable(op: Operation) -> bool:
    """Whether `op` has the same result wherever its operands are defined."""
    static = all(is_static(result.type) for result in op.results)
    return static and isinstance(op, RelayOp | ConstantOp) and not op.regions
