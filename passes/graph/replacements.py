"""Replaces many values at once, and erases ops whose results have no use.

xDSL writes the whole list of operands anew for each operand that is replaced, so a tuple of 10,000 fields whose fields
are replaced one by one costs a hundred million steps. Here every user is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Attribute, Operation, OpResult, SSAValue, SSAValues
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.structure.constant import ConstantOp


class Replacements:
    """Values that are to stand for others; nothing changes before `apply`."""

    def __init__(self) -> None:
        self._new: dict[SSAValue, SSAValue] = {}

    def __len__(self) -> int:
        return len(self._new)

    def add(self, old: SSAValue, new: SSAValue) -> None:
        """Let `new` stand for `old`."""
        self._new[old] = new

    def of(self, value: SSAValue) -> SSAValue:
        """What stands for `value`, itself where nothing does."""
        while (new := self._new.get(value)) is not None:
            value = new
        return value

    def apply(self, keeps: Callable[[Operation, SSAValue], bool] | None = None) -> None:
        """Enter the values into all users, but those for which `keeps(user, old value)` says that they keep it."""
        users = {
            use.operation: None
            for old in self._new
            for use in old.uses
            if keeps is None or not keeps(use.operation, old)
        }
        for user in users:
            user.operands = [
                operand if keeps is not None and keeps(user, operand) else self.of(operand) for operand in user.operands
            ]
        self._new.clear()


def erase_op(op: Operation) -> None:
    """Erase `op`, whose results have no use; `ValueError` where one has.

    xDSL's way makes an erased value for each result first, which would stand for it in its users. A constant lets go of
    its array at once: an op and its results refer to each other, so the op itself waits for the garbage collector.
    """
    if any(result.first_use is not None for result in op.results):
        raise ValueError(f"a result of {op.name} is still used")
    if op.parent is not None:
        op.parent.detach_op(op)
    op.drop_all_references()
    if isinstance(op, ConstantOp):
        op.properties = {}


def retype(types: Mapping[SSAValue, Attribute]) -> None:
    """Give values other types. Each becomes a new value of the same name and place, as xDSL's values are immutable."""
    replaced = Replacements()
    for value, type in types.items():
        if not isinstance(value, OpResult):
            Rewriter.replace_value_with_new_type(value, type)
            continue
        new = OpResult(type, value.op, value.index)
        new.name_hint = value.name_hint
        results = value.op.results
        value.op.results = SSAValues((*results[: value.index], new, *results[value.index + 1 :]))
        replaced.add(value, new)
    replaced.apply()
