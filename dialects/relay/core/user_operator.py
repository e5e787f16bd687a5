"""Operators that a program registers only by name; `relay.op.register` creates them, as in Relay.

Later declarations, such as the number of operands and the type relation, are stored in the class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, var_operand_def

from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.inference import Inference
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.shared.types import tensor_type

Relation: TypeAlias = Callable[[Facts], Attribute]
"""Returns the result type for the operands' types; it may raise `ConstraintError`."""


class UserOperator(RelayOp):
    """Base of the operators that are registered by name.

    Constraints:
    - C1: there are as many operands as arguments were declared.
    - C2: the type relation accepts the types of the operands.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    COUNT: ClassVar[int | None] = None
    """The number of operands; None for any number."""
    ARGUMENTS: ClassVar[Sequence[tuple[str, str, str]]] = ()
    """The declared name, type and description of each operand."""
    SUPPORT_LEVEL: ClassVar[int | None] = None
    """The declared support level."""
    RELATION: ClassVar[Sequence[Relation]] = ()
    """The type relation, or empty before its declaration."""

    inputs = var_operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the result of the relation; C1 and C2."""
        count = self.COUNT
        found = len(facts)
        facts.require(count is None or found == count, "C1", f"it takes {count} operands, found {found}")
        facts.require(
            bool(self.RELATION),
            "C2",
            "it has no type relation",
            help=f'add one: relay.op.get("{self.relay_name()}").add_type_rel',
        )
        return self.RELATION[0](facts)

    def inference(self, operand_types: Sequence[Attribute], elements: Sequence[Elements | None] = ()) -> Inference:
        """Applies the current relation, without a cache because it may be replaced."""
        return self._apply_rule(Facts(self.name, operand_types, elements))


def make_operator(name: str, description: str) -> type[UserOperator]:
    """Creates a class for the operator called `name` in Relay."""
    title = "".join(part.capitalize() for part in name.replace(".", "_").split("_"))
    fields = {"name": f"relay.{name}", "__doc__": description, "__module__": __name__}
    return irdl_op_definition(type(f"{title}Op", (UserOperator,), fields))


def identity(facts: Facts) -> Attribute:
    """Returns the common type of all operands."""
    facts.require(len(facts) > 0, "C2", "an op without operands has no inferred type")
    first = facts[0]
    for index in range(1, len(facts)):
        facts.require(facts[index] == first, "C2", f"operands of types {first} and {facts[index]}")
    return first


def broadcast(facts: Facts) -> Attribute:
    """Returns the broadcast shape of two operands, in their element type."""
    facts.require(len(facts) == 2, "C2", f"two operands are expected, found {len(facts)}")
    elements = [facts.element(index) for index in range(2)]
    facts.require(elements[0] == elements[1], "C2", f"element types {elements[0]} and {elements[1]}")
    return tensor_type(facts.broadcast("C2", 0, 1), elements[0])


def compared(facts: Facts) -> Attribute:
    """Returns the broadcast shape of two operands, with boolean elements."""
    broadcast(facts)
    return tensor_type(facts.broadcast("C2", 0, 1), i1)


RELATIONS: dict[str, Relation] = {"Identity": identity, "Broadcast": broadcast, "BroadcastComp": compared}
"""The predefined relations by Relay's name."""
