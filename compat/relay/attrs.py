"""Operators and attributes of calls with Relay's interface: `call.op.name`, `call.attrs.strides`, `dict(attrs)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.ir import Operation

from xrelay.dialects.relay.core.attribute_values import to_python
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.operator_value import Op
from xrelay.errors import XRelayError, did_you_mean

__all__ = ["Attrs", "NoAttributeError", "Op"]


class NoAttributeError(XRelayError, AttributeError):
    """The op has no attribute of this name."""


class Attrs(Mapping[str, Any]):
    """The attributes of an op as Python values, by key or as Python attributes; None if unset.

    For a call of a function, they are the attributes of the call itself.
    """

    def __init__(self, op: Operation):
        is_operator = isinstance(op, RelayOp)
        names = op.get_irdl_definition().properties if is_operator else op.attributes
        self._op_name = op.relay_name() if is_operator else op.name
        self._values = {name: to_python((op.properties if is_operator else op.attributes).get(name)) for name in names}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        hint = did_you_mean(name, values, f"it has: {', '.join(values) or 'none'}")
        raise NoAttributeError(f"{self.__dict__.get('_op_name')} has no attribute {name!r}", help=hint)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{self._op_name}({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"
