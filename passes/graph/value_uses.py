"""The values that ops use, those used in their regions included, and orders of ops that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.passes.graph.scopes import enclosing_op
from xrelay.passes.infra.verify import walk_ops


def block_of(value: SSAValue) -> Block | None:
    """The block that the value's op stands in, or whose argument it is."""
    return value.owner.parent if isinstance(value.owner, Operation) else value.owner


class ValueUses:
    """The values that each op of `function` uses: its operands, and what its regions use from the block around it."""

    def __init__(self, function: FuncOp):
        self._captured: dict[Operation, dict[SSAValue, None]] = {}
        for op in walk_ops(function):
            for value in op.operands:
                home = block_of(value)
                if home is not op.parent:
                    self._captured.setdefault(enclosing_op(op, home), {})[value] = None

    def of(self, op: Operation) -> list[SSAValue]:
        """The operands, then what the regions use."""
        return [*op.operands, *self._captured.get(op, ())]

    def needed_ops(self, op: Operation) -> list[Operation]:
        """The ops of its own block whose results `op` uses."""
        owners = (value.owner for value in self.of(op))
        return [owner for owner in owners if isinstance(owner, Operation) and owner.parent is op.parent]


def visit_order(function: FuncOp) -> list[Operation]:
    """The ops of `function` in the order in which Relay visits the expression that it is.

    Operands come before their users, the first operand first, from what the function gives; ops in regions come
    before the op that has these. What nothing needs comes last.
    """
    ends = [block.last_op for block in function.body.blocks if block.last_op is not None]
    inside = (op for op in walk_ops(function) if op is not function)
    return depth_first([*ends, *inside], _parts_of)


def _parts_of(op: Operation) -> list[Operation]:
    owners = [value.owner for value in op.operands]
    ends = [block.last_op for region in op.regions for block in region.blocks]
    return [part for part in (*owners, *ends) if isinstance(part, Operation)]


def depth_first(starts: Iterable[Operation], needs: Callable[[Operation], Sequence[Operation]]) -> list[Operation]:
    """`starts` and all that they need, each once and behind what it needs itself, as far as that is in no circle."""
    done: dict[Operation, None] = {}
    entered = set[Operation]()
    for start in starts:
        pending = [start]
        while pending:
            op = pending[-1]
            if op in entered:
                done.setdefault(pending.pop())
                continue
            entered.add(op)
            pending += (need for need in reversed(needs(op)) if need not in entered)
    return list(done)
