"""Which ops need an op because they name an extent that it makes, whether they use its value or not.

A requirement that inlining leaves behind (`relay.require`), the type of a value or what a call binds may say `e`, where
`relay.closure_captured`, `relay.extents` or a call makes `e`. Lower levels know `e` behind the op that makes it, in its
block and in the blocks in there; so naming an extent is a use of that op.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.passes.graph.dim_substitution import DimNamesOfOps
from xrelay.passes.infra.verify import walk_ops


class NameUses:
    """The ops of `function` that name extents which ops in there make."""

    def __init__(self, function: FuncOp):
        ops = list(walk_ops(function))
        names = DimNamesOfOps()
        self._users: dict[str, dict[Operation, None]] = {extent.name: {} for op in ops for extent in made_extents(op)}
        for op in ops if self._users else ():
            for name in names.of(op):
                if name in self._users:
                    self._users[name][op] = None

    def of(self, op: Operation) -> list[Operation]:
        """The ops that name an extent which `op` makes, in its block and the blocks in there; not those in `op`.

        Elsewhere another op may make an extent of that name, as copies in several branches do.
        """
        users = dict.fromkeys(user for extent in made_extents(op) for user in self._users.get(extent.name, ()))
        return [user for user in users if _stands_beside(op, user)]


def _stands_beside(op: Operation, user: Operation) -> bool:
    """Whether `user` stands in the block of `op` or in a block in there, but not in `op`, nor is it `op`."""
    place: Operation | None = user
    while place is not None and place.parent is not op.parent:
        place = place.parent_op()
    return place is not None and place is not op
