"""Finds the ops that depend on an op because they name an extent that it introduces, even without a use of its value.

The requirements of a `relay.require`, the type of a value and the bindings of a call may name `e`, while a
`relay.closure_captured`, `relay.extents` or call introduces `e`. At lower levels `e` is defined after the op that
introduces it, in its block and in blocks nested there. So naming an extent is a use of that op.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.passes.graph.dim_substitution import DimNamesOfOps
from xrelay.passes.infra.verify import walk_ops


class NameUses:
    """The ops of `function` that name extents which its ops introduce."""

    def __init__(self, function: FuncOp):
        ops = list(walk_ops(function))
        names = DimNamesOfOps()
        self._users: dict[str, dict[Operation, None]] = {extent.name: {} for op in ops for extent in made_extents(op)}
        for op in ops if self._users else ():
            for name in names.of(op):
                if name in self._users:
                    self._users[name][op] = None

    def of(self, op: Operation) -> list[Operation]:
        """Returns the ops outside of `op` that name an extent of `op`, in its block or in nested blocks.

        In other blocks another op may introduce an extent of the same name, as copies of an op in several branches do.
        """
        users = dict.fromkeys(user for extent in made_extents(op) for user in self._users.get(extent.name, ()))
        return [user for user in users if _is_in_scope(op, user)]


def _is_in_scope(op: Operation, user: Operation) -> bool:
    """Whether `user` is in the block of `op` or nested in it, and is neither `op` nor in `op`."""
    current: Operation | None = user
    while current is not None and current.parent is not op.parent:
        current = current.parent_op()
    return current is not None and current is not op
