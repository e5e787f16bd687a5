"""Operators and attributes of calls as Relay's users read them: `call.op.name`, `call.attrs.strides`, `dict(attrs)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.hints import isa

from xrelay.dialects.relay.core.attribute_values import IntArrayAttr
from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.errors import XRelayError, did_you_mean


class NoAttributeError(XRelayError, AttributeError):
    """The op has no attribute of the name."""


class Attrs(Mapping[str, Any]):
    """The attributes of an op as Python values, by name or as Python's attributes; those that are unset are None."""

    def __init__(self, op: RelayOp):
        names = op.get_irdl_definition().properties
        self._op_name = op.relay_name()
        self._values = {name: to_python(op.properties.get(name)) for name in names}

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


@dataclass(frozen=True)
class Op:
    """An operator: `name` is Relay's, `kind` the class of the dialect."""

    name: str
    kind: type[RelayOp]

    @staticmethod
    def of(kind: type[RelayOp]) -> Op:
        """The operator whose calls are ops of `kind`."""
        return Op(kind.relay_name(), kind)

    def __repr__(self) -> str:
        return f"Op({self.name})"


def to_python(attribute: Attribute | None) -> Any:
    """The Python value that a property holds: number, flag, text, list of integers, or the name of a dtype."""
    match attribute:
        case None:
            return None
        case StringAttr():
            return attribute.data
        case FloatAttr():
            return attribute.value.data
        case IntegerAttr():
            is_flag = isa(attribute.type, IntegerType) and attribute.type.width.data == 1
            return bool(attribute.value.data) if is_flag else attribute.value.data
        case DenseArrayBase():
            return list(cast(IntArrayAttr, attribute).get_values())
        case ArrayAttr():
            return [to_python(item) for item in attribute.data]
        case UnitAttr():
            return True
        case _:
            return str(numpy_dtype(attribute)) if isinstance(attribute, TypeAttribute) else attribute
