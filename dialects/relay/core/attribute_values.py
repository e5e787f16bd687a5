"""Conversion of Python values to attributes, the properties of Relay's operators, and of attributes to Python values.

Equal attributes are one object if they are created here, because results that depend on them are cached by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import index as integer
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.hints import isa

from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.errors import ConstraintError

if TYPE_CHECKING:
    from numpy import dtype as numpy_dtype_class

AttributeValue: TypeAlias = (
    "Attribute | bool | int | float | str | Sequence[float] | Sequence[Sequence[int]] | numpy_dtype_class | None"
)
"""The values that `RelayOp.call` accepts for a property."""

IntArrayAttr = DenseArrayBase[IntegerType]
"""An array of i64, printed as `[2, 2]`."""

FloatArrayAttr = DenseArrayBase[Float64Type]
"""An array of f64, printed as `[0.0, 1.0]`."""


def int_array(values: Sequence[int]) -> IntArrayAttr:
    """Returns the attribute printed as `[2, 2]`."""
    return _int_array(tuple(values))


@lru_cache(maxsize=4096)
def _int_array(values: tuple[int, ...]) -> IntArrayAttr:
    return DenseArrayBase.from_list(i64, values)


def float_array(values: Sequence[float]) -> FloatArrayAttr:
    """Returns the attribute printed as `[0.0, 1.0]`."""
    return DenseArrayBase.from_list(f64, [float(value) for value in values])


@lru_cache(maxsize=4096)
def string_attribute(text: str) -> StringAttr:
    """Returns the attribute printed as `"NCHW"`."""
    return StringAttr(text)


@lru_cache(maxsize=4096)
def int_attribute(value: int) -> IntegerAttr[IntegerType]:
    """Returns an i64 attribute."""
    return IntegerAttr(value, i64)


@lru_cache
def bool_attribute(value: bool) -> IntegerAttr[IntegerType]:
    """Returns the attribute printed as `true` or `false`."""
    return IntegerAttr(int(value), i1)


def listed(value: AttributeValue) -> AttributeValue:
    """Returns a numpy array as lists of numbers; other values unchanged."""
    if value is None or isinstance(value, (int, float, str, list, tuple, Attribute)):
        return value
    from numpy import ndarray  # imported late: compile workers run without numpy

    return cast("AttributeValue", value.tolist()) if isinstance(value, ndarray) else value


def normalized(
    op_name: str,
    normalize: Callable[[dict[str, AttributeValue]], dict[str, AttributeValue]],
    attributes: Mapping[str, AttributeValue],
) -> dict[str, AttributeValue]:
    """Expands shorthands and converts arrays to lists. Raises `ConstraintError` for a shorthand that is not numeric."""
    try:
        return normalize({name: listed(value) for name, value in attributes.items()})
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{name} = {value!r}" for name, value in attributes.items())
        raise ConstraintError(op_name, "C0", f"attributes cannot be {given}: {error}") from error


_FLAGS = (bool_attribute(True), bool_attribute(False))


def to_attribute(name: str, value: AttributeValue, default: Attribute | None) -> Attribute:
    """Converts a Python value to an attribute, by the property's default; dtypes by the property's name."""
    if isinstance(value, Attribute):
        return value
    if value is None:
        raise ValueError(f"attribute {name!r} has no value")
    if name.endswith("dtype") and not isinstance(value, (bool, int, float)):
        return element_type(cast(str, value))
    from numpy import generic  # imported late: compile workers run without numpy

    if isinstance(value, generic):
        return to_attribute(name, cast(AttributeValue, value.item()), default)
    is_flag = default is not None and default in _FLAGS
    if is_flag if isinstance(value, int) and default is not None else isinstance(value, bool):
        return bool_attribute(value)
    if isinstance(default, FloatAttr) and isinstance(value, (int, float)):
        return FloatAttr(float(value), f64)
    if isinstance(default, DenseArrayBase) and cast(FloatArrayAttr, default).elt_type == f64:
        return float_array([value] if isinstance(value, int | float) else cast(Sequence[float], value))
    if isinstance(default, DenseArrayBase) and isinstance(value, int):
        return int_array([value] * len(cast(DenseArrayBase[IntegerType], default)))
    if isinstance(value, int):
        return int_attribute(int(value))
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if isinstance(value, str):
        return string_attribute(value)
    return int_array([integer(item) for item in cast(Sequence[int], value)])


def floats(attribute: Attribute | None) -> tuple[float, ...]:
    """Returns the numbers of an `array<f64: …>` property; an empty tuple for None."""
    if attribute is None:
        return ()
    if not isinstance(attribute, DenseArrayBase):
        raise TypeError(f"{attribute} is not an array of floats")
    return cast(FloatArrayAttr, attribute).get_values()


def ints(attribute: Attribute | None) -> tuple[int, ...]:
    """Returns the integers of an `array<i64: …>` property; an empty tuple for None."""
    if attribute is None:
        return ()
    if not isinstance(attribute, DenseArrayBase):
        raise TypeError(f"{attribute} is not an integer array")
    return cast(DenseArrayBase[IntegerType], attribute).get_values()


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
