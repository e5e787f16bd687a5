"""An operator as a value: what a call applies, apart from its operands and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast

from xdsl.irdl import VarOperandDef

from xrelay.dialects.relay.core.op_base import RelayOp

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
    def num_inputs(self) -> int:
        """How many operands it has; -1 where calls differ in that."""
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

    def __repr__(self) -> str:
        return f"Op({self.name})"


def _attribute(name: str) -> OperatorAttribute:
    """The attribute of a name. Attributes stand above expressions, of which operators are a part."""
    return cast(OperatorAttribute, import_module("xrelay.relay.op_attributes").operator_attribute(name))
