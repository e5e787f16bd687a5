"""What is known of the elements of small integer tensors, value by value: how rules learn of computed shapes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.constant import ConstantOp, elements_of_constant

LIMIT = 64
"""The number of elements of which anything is noted: shapes are short."""


class KnownElements:
    """Elements by value. Those of constants are read off; those of an op's result are learnt when the op is met."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Elements] = {}

    def of(self, value: SSAValue) -> Elements | None:
        """The elements of `value`, a number or an expression each; `None` where they are not known."""
        known = self._known.get(value)
        if known is None and isinstance(value, OpResult) and isinstance(value.op, ConstantOp):
            known = elements_of_constant(value.op)
        return known

    def of_operands(self, op: Operation) -> list[Elements | None]:
        """The elements of each operand."""
        return [self.of(operand) for operand in op.operands]

    def learn(self, op: RelayOp, types: Sequence[Attribute]) -> bool:
        """Ask `op`, whose operands have `types`, for the elements of its result; whether there is news."""
        if type(op).infer_elements is RelayOp.infer_elements:
            return False
        found = op.infer_elements(Facts(op.name, types, self.of_operands(op)))
        if found is None or len(found) > LIMIT or found == self._known.get(op.results[0]):
            return False
        self._known[op.results[0]] = found
        return True
