"""The known elements of small integer tensors, from which rules infer computed shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.facts import Elements, Facts, UnnamedExtent
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.constant import ConstantOp, elements_of_constant
from xrelay.dialects.shared.requirements import new_extents
from xrelay.index_algebra.dims import ANY, Dim, names_of, substitute, symbol

LIMIT = 64
"""The number of elements up to which elements are tracked. Shapes are short."""


class KnownElements:
    """Known elements by value. Those of constants are read; those of an op's result are computed by `learn`."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Elements] = {}

    def of(self, value: SSAValue) -> Elements | None:
        """Returns the elements of `value`, each a number or an expression; None if they are not known."""
        known = self._known.get(value)
        # Exact types: `isinstance` of an abstract class is slow if the answer is no.
        if known is None and type(value) is OpResult and type(value.op) is ConstantOp:
            known = elements_of_constant(value.op)
        return known

    def of_operands(self, op: Operation) -> list[Elements | None]:
        """Returns the elements of each operand."""
        return [self.of(operand) for operand in op.operands]

    def learn(self, op: RelayOp, types: Sequence[Attribute], names: Mapping[str, str] = MappingProxyType({})) -> bool:
        """Computes the elements of the result of `op`, whose operands have `types`; returns whether they changed.

        Elements may be extents that the op introduces: `names` has the names of those without a recorded name.
        """
        if type(op).infer_elements is RelayOp.infer_elements:
            return False
        facts = Facts(op.name, types, self.of_operands(op))
        found = op.infer_elements(facts)
        if found is None or len(found) > LIMIT:
            return False
        if facts.extents:
            found = substitute(found, _extents_by_placeholder(op, facts.extents, names))
        if found == self._known.get(op.results[0]):
            return False
        self._known[op.results[0]] = found
        return True

    def substitute(self, concerns: Callable[[SSAValue], bool], values: Mapping[str, Dim]) -> None:
        """Replaces names by dimensions in the elements of the values for which `concerns` holds."""
        for value, elements in self._known.items():
            if any(not values.keys().isdisjoint(names_of(element)) for element in elements) and concerns(value):
                self._known[value] = substitute(elements, values)


def _extents_by_placeholder(
    op: Operation, extents: Sequence[UnnamedExtent], names: Mapping[str, str]
) -> dict[str, Dim]:
    """Returns the dimensions of the extents that `op` introduces; Any for those without a name."""
    own = new_extents(op)
    recorded = {each.placeholder: new.name for each, new in zip(extents, own, strict=False)}
    given = {**recorded, **names}
    return {each.placeholder: symbol(given[each.placeholder]) if each.placeholder in given else ANY for each in extents}
