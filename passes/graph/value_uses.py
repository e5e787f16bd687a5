"""The values that ops use, also in their regions, and orders of ops by their uses."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.shared.op_lists import block_of
from xrelay.passes.graph.scopes import enclosing_op
from xrelay.passes.infra.digraph import post_order
from xrelay.passes.infra.verify import walk_ops


class ValueUses:
    """The values that each op of `function` uses: its operands, and values from outside that its regions use."""

    def __init__(self, function: FuncOp):
        self._captured: dict[Operation, dict[SSAValue, None]] = {}
        for op in walk_ops(function):
            for value in op.operands:
                block = block_of(value)
                if block is not op.parent:
                    self._captured.setdefault(enclosing_op(op, block), {})[value] = None

    def of(self, op: Operation) -> list[SSAValue]:
        """Returns the operands, then the captured values of the regions."""
        return [*op.operands, *self._captured.get(op, ())]

    def needed_ops(self, op: Operation) -> list[Operation]:
        """Returns the ops of the block of `op` whose results `op` uses."""
        owners = (value.owner for value in self.of(op))
        return [owner for owner in owners if isinstance(owner, Operation) and owner.parent is op.parent]


def visit_order(function: FuncOp) -> list[Operation]:
    """Returns the ops of `function` in the order in which Relay visits its expression.

    The traversal starts at the results. Operands precede their users, the first operand first, and ops in regions
    precede the op around them. Ops without uses are last.
    """
    ends = [block.last_op for block in function.body.blocks if block.last_op is not None]
    inside = (op for op in walk_ops(function) if op is not function)
    return post_order([*ends, *inside], _dependencies_of)


def _dependencies_of(op: Operation) -> list[Operation]:
    owners = [value.owner for value in op.operands]
    ends = [block.last_op for region in op.regions for block in region.blocks]
    return [part for part in (*owners, *ends) if isinstance(part, Operation)]
