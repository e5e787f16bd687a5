"""An operator as a value: what a call applies, apart from its operands and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xrelay.dialects.relay.core.op_base import RelayOp


@dataclass(frozen=True)
class Op:
    """An operator: `name` is Relay's, `kind` the class of the dialect."""

    name: str
    kind: type[RelayOp]

    @staticmethod
    @cache
    def of(kind: type[RelayOp]) -> Op:
        """The operator whose calls are ops of `kind`."""
        return Op(kind.relay_name(), kind)

    def __repr__(self) -> str:
        return f"Op({self.name})"
