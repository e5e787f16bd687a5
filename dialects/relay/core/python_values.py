"""Conversion of attributes to Python values."""

from __future__ import annotations

from typing import cast

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
from xrelay.dialects.shared.dtypes import numpy_dtype


def to_python(attribute: Attribute | None) -> object:
    """Converts an attribute to a number, boolean, string, list, or the name of a dtype."""
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
