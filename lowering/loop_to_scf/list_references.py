"""Reference counts of lists: calls of `@xrelay_list_retain` and `@xrelay_list_release`.

Ops that change a list consume a reference to it, and so do ops that hand it on. A value that is used again after such
an op is retained before it; a value whose last use does not consume it is released after that use. So a list that grows
in a loop is changed in place. A branch takes over a list that is not used after it. Arguments of functions belong to
the caller.

    %m = loop.list_insert %x[] in %l at %i        func.call @xrelay_list_retain(%l)
    %n = loop.list_length %l                 →    %m = loop.list_insert %x[] in %l at %i
                                                  %n = loop.list_length %l
                                                  func.call @xrelay_list_release(%l)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xdsl.dialects import func, scf
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop.list_ops import ListEraseOp, ListInsertOp, ListType
from xrelay.dialects.loop.list_part_ops import ListInsertPartOp
from xrelay.passes.infra.verify import walk_ops

RETAIN: Final = "xrelay_list_retain"
RELEASE: Final = "xrelay_list_release"

_USES_UP = (
    ListInsertOp, ListInsertPartOp, ListEraseOp, scf.YieldOp, scf.ConditionOp, scf.WhileOp, scf.ForOp, func.ReturnOp,
)  # fmt: skip
"""The ops that consume a reference to each list among their operands."""


def count_references(function: func.FuncOp) -> None:
    """Adds the calls to a function; its arguments belong to the caller."""
    _References(function).run()


class _References:
    def __init__(self, function: func.FuncOp):
        self._function = function
        ops = list(walk_ops(function))
        self._order = {op: number for number, op in enumerate(ops)}
        self._owned: list[tuple[SSAValue, Block]] = [(value, block) for op in ops for value, block in _made_by(op)]

    def run(self) -> None:
        """Adds the calls for every list, first in its own block, then in branches that take it over."""
        for argument in self._function.body.block.args:
            for use in argument.uses if isinstance(argument.type, ListType) else ():
                self._retain(use)
        while self._owned:
            self._settle(*self._owned.pop())

    def _settle(self, value: SSAValue, block: Block) -> None:
        """Adds the calls for `value` in `block`, which owns one reference to it."""
        ancestors = [(self._ancestor_in(use.operation, block), use) for use in value.uses]
        inside = [(ancestor, use) for ancestor, use in ancestors if ancestor is not None]
        if not inside:
            self._release(value, block, None)
            return
        last = max((ancestor for ancestor, _ in inside), key=self._order.__getitem__)
        ends = [use for ancestor, use in inside if ancestor is last]
        direct = [use for use in ends if use.operation is last]
        taken = isinstance(last, scf.IfOp) and not direct and all(region.blocks for region in last.regions)
        if taken:
            self._owned += [(value, region.block) for region in last.regions]
        moved = direct[0] if len(direct) == len(ends) and isinstance(last, _USES_UP) else None
        for ancestor, use in inside:
            if use != moved and not (taken and ancestor is last):
                self._retain(use)
        if moved is None and not taken:
            self._release(value, block, last)

    def _ancestor_in(self, op: Operation, block: Block) -> Operation | None:
        """Returns `op` or its ancestor in `block`."""
        current: Operation | None = op
        while current is not None and current.parent is not block:
            current = current.parent_op()
        return current

    def _retain(self, use: Use) -> None:
        """Retains a list before an op that consumes a reference."""
        if isinstance(use.operation, _USES_UP):
            call = func.CallOp(RETAIN, [use.operation.operands[use.index]], [])
            Rewriter.insert_op(call, InsertPoint.before(use.operation))

    def _release(self, value: SSAValue, block: Block, last: Operation | None) -> None:
        """Releases a list after `last`, or after its definition."""
        if last is None and isinstance(value.owner, Operation) and value.owner.parent is block:
            last = value.owner
        point = InsertPoint.at_start(block) if last is None else InsertPoint.after(last)
        Rewriter.insert_op(func.CallOp(RELEASE, [value], []), point)


def _made_by(op: Operation) -> Iterator[tuple[SSAValue, Block]]:
    """Yields the lists that an op defines, each with the block that owns it."""
    for result in op.results:
        if isinstance(result.type, ListType) and op.parent is not None:
            yield result, op.parent
    for region in op.regions if not isinstance(op, func.FuncOp) else ():
        for block in region.blocks:
            yield from ((argument, block) for argument in block.args if isinstance(argument.type, ListType))
