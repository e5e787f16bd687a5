"""Which values can be there in front of an op, and moving the ops that make them there."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.types import is_static
from xrelay.passes.graph.value_uses import depth_first

MOST_MOVED = 64
"""How many ops may be moved for one value, so that a pass that asks for each op of a graph stays linear."""


class OpsInFront:
    """Moves ops in front of others, each of which gets new ops in front of it at most once.

    `places` says where each op of the module stands, by pairs of numbers of which the first differ; `barred` ops stay
    where they are.
    """

    def __init__(self, places: dict[Operation, tuple[int, int]], barred: AbstractSet[Operation]):
        self._places, self._barred = places, barred

    def can_have(self, op: Operation, values: Sequence[SSAValue]) -> bool:
        """Whether `values` are there where `op` runs, or can be: of few ops of static types that may be moved."""
        return all(self._behind(op, value) is not None for value in values)

    def bring(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Move what makes `values` in front of `op`; `can_have` said that it can be."""
        block = op.parent
        for value in values:
            for one in self._behind(op, value) or ():
                if block is not None:
                    one.detach()
                    block.insert_op_before(one, op)
                    self._places[one] = (self._places[op][0], -1)

    def note_new(self, op: Operation) -> None:
        """Learn where what now stands in front of `op` stands."""
        number, count = self._places[op][0], 0
        new = op.prev_op
        while new is not None and self._places.get(new, (number, 0))[0] == number:
            count += 1
            self._places[new] = (number, -count)
            new = new.prev_op

    def _behind(self, op: Operation, value: SSAValue) -> list[Operation] | None:
        """The ops behind `op` that make `value`, in order; `None` where one of them has to stay, or they are many."""
        if not isinstance(value, OpResult) or self._is_in_front(value.op, op):
            return []
        seen: set[Operation] = {value.op}
        pending: list[Operation] = [value.op]
        while pending:
            current = pending.pop()
            if current in self._barred or not _is_movable(current) or len(seen) > MOST_MOVED:
                return None
            for maker in _makers(current):
                if maker not in seen and not self._is_in_front(maker, op):
                    seen.add(maker)
                    pending.append(maker)
        return depth_first(
            [value.op], lambda one: [each.op for each in one.operands if isinstance(each, OpResult) and each.op in seen]
        )

    def _is_in_front(self, maker: Operation, op: Operation) -> bool:
        return maker.parent is not op.parent or self._places.get(maker, self._places[op]) < self._places[op]


def _makers(op: Operation) -> list[Operation]:
    """The ops whose results `op` uses."""
    return [value.op for value in op.operands if isinstance(value, OpResult)]


def _is_movable(op: Operation) -> bool:
    """Whether `op` means the same wherever its operands are."""
    static = all(is_static(result.type) for result in op.results)
    return static and isinstance(op, RelayOp | ConstantOp) and not op.regions
