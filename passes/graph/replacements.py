"""Replaces many values at once, erases ops whose results have no use, and undoes rewrites.

xDSL rewrites the whole list of operands for each replaced operand, so replacing 10,000 fields of a tuple one by one
takes a hundred million steps. Here each user is updated once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, SSAValues
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.structure.constant import ConstantOp


class Replacements:
    """A map of values to their replacements. Nothing changes before `apply`."""

    def __init__(self) -> None:
        self._new: dict[SSAValue, SSAValue] = {}

    def __len__(self) -> int:
        return len(self._new)

    def add(self, old: SSAValue, new: SSAValue) -> None:
        """Replaces `old` by `new` at the next `apply`."""
        self._new[old] = new

    def of(self, value: SSAValue) -> SSAValue:
        """Returns the final replacement of `value`, or `value` itself if there is no replacement."""
        while (new := self._new.get(value)) is not None:
            value = new
        return value

    def apply(self, keeps: Callable[[Operation, SSAValue], bool] | None = None) -> None:
        """Updates the operands of all users, except operands for which `keeps(user, old value)` holds."""
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
    """Erases `op`; raises `ValueError` if a result has a use.

    xDSL's own function first makes an erased value for each result, to replace it in its users. The array of a constant
    is released at once: ops and their results are reference cycles, so ops stay until garbage collection.
    """
    if any(result.first_use is not None for result in op.results):
        raise ValueError(f"a result of {op.name} is used")
    if op.parent is not None:
        op.parent.detach_op(op)
    op.drop_all_references()
    if isinstance(op, ConstantOp):
        op.properties = {}


def retype(types: Mapping[SSAValue, Attribute]) -> None:
    """Changes the types of values. Each is replaced by a new value of the same name, as xDSL's values are immutable."""
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


class Undo:
    """A copy of `module` at the time of creation, which replaces it after a rewrite to contradictory types."""

    def __init__(self, module: ModuleOp):
        self._module, self._copy = module, module.clone()

    def run(self) -> None:
        """Restores the module; its ops are new objects. May be called once."""
        self._module.detach_region(self._module.body)
        self._module.add_region(self._copy.detach_region(self._copy.body))
        self._module.attributes = self._copy.attributes
