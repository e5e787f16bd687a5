"""Operators that a program registers by name alone, as Relay's `op.register` does; `relay.op.register` makes them.

What is said of one later, how many operands it takes and how its type follows, is kept by its class.
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
from xrelay.dialects.relay.core.types import tensor_type

Relation: TypeAlias = Callable[[Facts], Attribute]
"""How the result's type follows from those of the operands; it may raise `ConstraintError`."""


class UserOperator(RelayOp):
    """Base of the operators that are registered by name.

    Constraints:
    - C1: there are as many operands as arguments were declared.
    - C2: the operands have types from which the relation makes one.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    COUNT: ClassVar[int | None] = None
    """How many operands there are; None for any number."""
    ARGUMENTS: ClassVar[Sequence[tuple[str, str, str]]] = ()
    """Name, kind and meaning of each operand, as far as they were told."""
    SUPPORT_LEVEL: ClassVar[int | None] = None
    """The level that it was given."""
    RELATION: ClassVar[Sequence[Relation]] = ()
    """The relation, or none yet."""

    inputs = var_operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """What the relation says; C1 and C2."""
        count = self.COUNT
        found = len(facts)
        facts.require(count is None or found == count, "C1", f"it takes {count} operands, found {found}")
        facts.require(
            bool(self.RELATION),
            "C2",
            "nobody has said how its type follows from its operands",
            help=f'relay.op.get("{self.relay_name()}").add_type_rel says it',
        )
        return self.RELATION[0](facts)

    def inference(self, operand_types: Sequence[Attribute], elements: Sequence[Elements | None] = ()) -> Inference:
        """What the relation gives now: another may be set."""
        return self._apply_rule(Facts(self.name, operand_types, elements))


def make_operator(name: str, description: str) -> type[UserOperator]:
    """A class for the operator called `name` in Relay."""
    title = "".join(part.capitalize() for part in name.replace(".", "_").split("_"))
    fields = {"name": f"relay.{name}", "__doc__": description, "__module__": __name__}
    return irdl_op_definition(type(f"{title}Op", (UserOperator,), fields))


def identity(facts: Facts) -> Attribute:
    """The type of all operands, which are alike."""
    facts.require(len(facts) > 0, "C2", "without operands there is no type")
    first = facts[0]
    for index in range(1, len(facts)):
        facts.require(facts[index] == first, "C2", f"operands of types {first} and {facts[index]}")
    return first


def broadcast(facts: Facts) -> Attribute:
    """The shape that two operands broadcast to, in their element type."""
    facts.require(len(facts) == 2, "C2", f"two operands broadcast, found {len(facts)}")
    elements = [facts.element(index) for index in range(2)]
    facts.require(elements[0] == elements[1], "C2", f"element types {elements[0]} and {elements[1]}")
    return tensor_type(facts.broadcast("C2", 0, 1), elements[0])


def compared(facts: Facts) -> Attribute:
    """As `broadcast`, in truth values."""
    broadcast(facts)
    return tensor_type(facts.broadcast("C2", 0, 1), i1)


RELATIONS: dict[str, Relation] = {"Identity": identity, "Broadcast": broadcast, "BroadcastComp": compared}
"""The relations that have names in Relay, which no function has to be given for."""
