"""An operator as a value: the callee of a call, without operands and attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol, cast

from xdsl.irdl import VarOperandDef

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.support_levels import support_level
from xrelay.dialects.relay.core.user_operator import RELATIONS, UserOperator
from xrelay.errors import InputError

LEVEL = 10
"""The default level of attributes."""


class OperatorAttribute(Protocol):
    """A named attribute of operators."""

    def get(self, kind: type[RelayOp]) -> Any:
        """Returns the value for an operator, or None."""
        ...

    def set(self, kind: type[RelayOp], value: Any, level: int) -> None:
        """Sets the value, unless one of a greater level is set."""
        ...

    def reset(self, kind: type[RelayOp]) -> None:
        """Removes the value."""
        ...


class OperatorArgument(NamedTuple):
    """An operand of an operator."""

    name: str
    type_info: str
    description: str


@dataclass(frozen=True)
class Op:
    """An operator: `name` is Relay's name, `kind` the op class.

    Its attributes are values by name that this package or users register. For instance, `FTVMLegalize` is the
    expression that replaces a call. `relay.op.register_legalize` and similar functions register such hooks; other names
    store any value. `register_op_attr` in `op_attributes.py` lists the attributes that passes use.
    """

    name: str
    kind: type[RelayOp]

    @staticmethod
    @cache
    def of(kind: type[RelayOp]) -> Op:
        """Returns the operator whose calls are ops of `kind`."""
        return Op(kind.relay_name(), kind)

    @property
    def description(self) -> str:
        """The description of the operator, without constraints and example."""
        return inspect.cleandoc(self.kind.__doc__ or "").partition("\n\nConstraints:")[0].partition("\n\nExample:")[0]

    @property
    def arguments(self) -> list[OperatorArgument]:
        """The operands in order, without attributes, as in Relay."""
        if issubclass(self.kind, UserOperator):
            return [OperatorArgument(*argument) for argument in self.kind.ARGUMENTS]
        return [
            OperatorArgument(name, "Tensor", f"Operand {number} of {self.name}: {name.replace('_', ' ')}.")
            for number, (name, _) in enumerate(self.kind.get_irdl_definition().operands)
        ]

    @property
    def num_inputs(self) -> int:
        """The number of operands; -1 if it varies."""
        if issubclass(self.kind, UserOperator):
            return -1 if self.kind.COUNT is None else self.kind.COUNT
        operands = self.kind.get_irdl_definition().operands
        return -1 if any(isinstance(definition, VarOperandDef) for _, definition in operands) else len(operands)

    def get_attr(self, attr_name: str) -> Any:
        """Returns an attribute of the operator, or None."""
        return _attribute(attr_name).get(self.kind)

    def has_attr(self, attr_name: str) -> bool:
        """Returns whether the operator has an attribute."""
        return self.get_attr(attr_name) is not None

    def set_attr(self, attr_name: str, value: Any, plevel: int = LEVEL) -> None:
        """Sets an attribute, unless one of a higher level is set. Raises `InputError` as `register_op_attr`."""
        _attribute(attr_name).set(self.kind, value, plevel)

    def reset_attr(self, attr_name: str) -> None:
        """Removes an attribute, even if this package registered it."""
        _attribute(attr_name).reset(self.kind)

    # --- declaration of operators of `relay.op.register` --------------------------------------------------------------

    @property
    def support_level(self) -> int:
        """Relay's support level: from 1, for the most common operators, to 11."""
        given = self.kind.SUPPORT_LEVEL if issubclass(self.kind, UserOperator) else None
        return support_level(self.name) if given is None else given

    def set_support_level(self, level: int) -> None:
        """Sets the support level."""
        self._registered().SUPPORT_LEVEL = level

    def set_num_inputs(self, n: int) -> None:
        """Sets the number of operands; -1 for any number."""
        self._registered().COUNT = None if n < 0 else n

    def add_argument(self, name: str, type: str, description: str) -> None:
        """Declares the next operand."""
        kind = self._registered()
        kind.ARGUMENTS = (*kind.ARGUMENTS, (name, type, description))

    def add_type_rel(self, rel_name: str, type_rel_func: Callable[[list[Any], Any], Any] | None = None) -> None:
        """Sets the type relation.

        `f(args, attrs)` takes the types of the operands, with Relay's interface, and returns the type of the result.
        Without a function, it is the relation of this name in Relay: "Identity", "Broadcast", "BroadcastComp".
        """
        relation = RELATIONS.get(rel_name) if type_rel_func is None else _attributes().relation_of(type_rel_func)
        if relation is None:
            hint = f"pass a function, or one of {', '.join(RELATIONS)}"
            raise InputError(f"unknown relation {rel_name!r}", help=hint)
        self._registered().RELATION = (relation,)

    def _registered(self) -> type[UserOperator]:
        """Returns the class of a registered operator. Raises `InputError` for an op class."""
        if issubclass(self.kind, UserOperator):
            return self.kind
        raise InputError(f"{self.name} is declared by its class", help="use relay.op.register for new operators")

    def __repr__(self) -> str:
        return f"Op({self.name})"


def _attribute(name: str) -> OperatorAttribute:
    """Returns the attribute of a name."""
    return cast(OperatorAttribute, _attributes().operator_attribute(name))


_loaders: list[Callable[[], Any]] = []


def register_operator_attributes(load: Callable[[], Any]) -> None:
    """Registers a function that loads the module of attributes, which depends on passes.

    The module has the functions `operator_attribute(name)` and `relation_of(function)`.
    """
    _loaders[:] = [load]


def _attributes() -> Any:
    """Returns the module of attributes. Raises `InputError` if no package has registered it."""
    if not _loaders:
        raise InputError("the attributes of operators are unknown", help="import xrelay.relay")
    return _loaders[0]()
