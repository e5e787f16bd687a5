"""An operator as a value: what a call applies, apart from its operands and attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from xdsl.irdl import VarOperandDef

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.support_levels import support_level
from xrelay.dialects.relay.core.user_operator import RELATIONS, UserOperator
from xrelay.errors import InputError

LEVEL = 10
"""The level of what is set without one."""


class OperatorAttribute(Protocol):
    """What is said of operators under one name."""

    def get(self, kind: type[RelayOp]) -> Any:
        """What is said of an operator; None for nothing."""
        ...

    def set(self, kind: type[RelayOp], value: Any, level: int) -> None:
        """Say it, unless something of a greater level is said already."""
        ...

    def reset(self, kind: type[RelayOp]) -> None:
        """Have nothing said."""
        ...


class OperatorArgument(NamedTuple):
    """An operand of an operator."""

    name: str
    type_info: str
    description: str


@dataclass(frozen=True)
class Op:
    """An operator: `name` is Relay's, `kind` the class of the dialect.

    Its attributes are what is said of it by name, from here or from outside: `FTVMLegalize` what takes its place, say.
    They are the hooks that `relay.op.register_legalize` and its kin register; a name that no pass knows keeps a value
    of its user's. `register_op_attr` in `op_attributes.py` says which there are.
    """

    name: str
    kind: type[RelayOp]

    @staticmethod
    @cache
    def of(kind: type[RelayOp]) -> Op:
        """The operator whose calls are ops of `kind`."""
        return Op(kind.relay_name(), kind)

    @property
    def description(self) -> str:
        """The semantics of the operator, without constraints and example."""
        return inspect.cleandoc(self.kind.__doc__ or "").partition("\n\nConstraints:")[0].partition("\n\nExample:")[0]

    @property
    def arguments(self) -> list[OperatorArgument]:
        """Its operands in order; attributes are not among them, as in Relay."""
        if issubclass(self.kind, UserOperator):
            return [OperatorArgument(*argument) for argument in self.kind.ARGUMENTS]
        return [
            OperatorArgument(name, "Tensor", f"Operand {number} of {self.name}: {name.replace('_', ' ')}.")
            for number, (name, _) in enumerate(self.kind.get_irdl_definition().operands)
        ]

    @property
    def num_inputs(self) -> int:
        """How many operands it has; -1 where calls differ in that."""
        if issubclass(self.kind, UserOperator):
            return -1 if self.kind.COUNT is None else self.kind.COUNT
        operands = self.kind.get_irdl_definition().operands
        return -1 if any(isinstance(definition, VarOperandDef) for _, definition in operands) else len(operands)

    def get_attr(self, attr_name: str) -> Any:
        """What is said of the operator under the name; None for nothing."""
        return _attribute(attr_name).get(self.kind)

    def has_attr(self, attr_name: str) -> bool:
        """Whether something is said of the operator under the name."""
        return self.get_attr(attr_name) is not None

    def set_attr(self, attr_name: str, value: Any, plevel: int = LEVEL) -> None:
        """Say it, in the place of what was said at a lower or the same level; `InputError` as `register_op_attr`."""
        _attribute(attr_name).set(self.kind, value, plevel)

    def reset_attr(self, attr_name: str) -> None:
        """Have nothing said under the name, also not what this package says."""
        _attribute(attr_name).reset(self.kind)

    # --- what is said of operators that `relay.op.register` makes ---------------------------------------------------

    @property
    def support_level(self) -> int:
        """How common it is in Relay: from 1, which all need, to 11."""
        given = self.kind.SUPPORT_LEVEL if issubclass(self.kind, UserOperator) else None
        return support_level(self.name) if given is None else given

    def set_support_level(self, level: int) -> None:
        """Say how common it is."""
        self._registered().SUPPORT_LEVEL = level

    def set_num_inputs(self, n: int) -> None:
        """Say how many operands it takes; -1 for any number."""
        self._registered().COUNT = None if n < 0 else n

    def add_argument(self, name: str, type: str, description: str) -> None:
        """Say what the next operand is."""
        kind = self._registered()
        kind.ARGUMENTS = (*kind.ARGUMENTS, (name, type, description))

    def add_type_rel(self, rel_name: str, type_rel_func: Callable[[list[Any], Any], Any] | None = None) -> None:
        """Say how its type follows from those of its operands.

        `f(args, attrs)` gets the types of the operands, with Relay's names for what they have, and gives that of the
        result. Without a function it is the relation that Relay calls so: "Identity", "Broadcast", "BroadcastComp".
        """
        relation = RELATIONS.get(rel_name) if type_rel_func is None else _attributes().relation_of(type_rel_func)
        if relation is None:
            hint = f"give a function, or one of {', '.join(RELATIONS)}"
            raise InputError(f"no relation is called {rel_name!r}", help=hint)
        self._registered().RELATION = (relation,)

    def _registered(self) -> type[UserOperator]:
        """The class of an operator that was registered; `InputError` for one that is declared."""
        if issubclass(self.kind, UserOperator):
            return self.kind
        raise InputError(f"{self.name} is declared by its class", help="relay.op.register makes operators")

    def __repr__(self) -> str:
        return f"Op({self.name})"


def _attribute(name: str) -> OperatorAttribute:
    """The attribute of a name."""
    return cast(OperatorAttribute, _attributes().operator_attribute(name))


def _attributes() -> Any:
    """The module of attributes: it stands above expressions, of which operators are a part."""
    return import_module("xrelay.relay.op_attributes")
