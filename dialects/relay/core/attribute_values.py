"""Python values as attributes and back: what properties of Relay's operators hold.

Equal attributes are one object as far as they are made here: what follows from them is remembered by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import index as integer
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.dtypes import element_type
from xrelay.errors import ConstraintError

if TYPE_CHECKING:
    from numpy import dtype as numpy_dtype_class

AttributeValue: TypeAlias = (
    "Attribute | bool | int | float | str | Sequence[float] | Sequence[Sequence[int]] | numpy_dtype_class | None"
)
"""What `RelayOp.call` takes for a property."""

IntArrayAttr = DenseArrayBase[IntegerType]
"""`[2, 2]` in the text: an array of i64."""

FloatArrayAttr = DenseArrayBase[Float64Type]
"""`[0.0, 1.0]` in the text: an array of f64."""


def int_array(values: Sequence[int]) -> IntArrayAttr:
    """The attribute written `[2, 2]`."""
    return _int_array(tuple(values))


@lru_cache(maxsize=4096)
def _int_array(values: tuple[int, ...]) -> IntArrayAttr:
    return DenseArrayBase.from_list(i64, values)


def float_array(values: Sequence[float]) -> FloatArrayAttr:
    """The attribute written `[0.0, 1.0]`."""
    return DenseArrayBase.from_list(f64, [float(value) for value in values])


@lru_cache(maxsize=4096)
def string_attribute(text: str) -> StringAttr:
    """The attribute written `"NCHW"`."""
    return StringAttr(text)


@lru_cache(maxsize=4096)
def int_attribute(value: int) -> IntegerAttr[IntegerType]:
    """An i64 attribute."""
    return IntegerAttr(value, i64)


@lru_cache
def bool_attribute(value: bool) -> IntegerAttr[IntegerType]:
    """The attribute written `true` or `false`."""
    return IntegerAttr(int(value), i1)


def listed(value: AttributeValue) -> AttributeValue:
    """A numpy array as lists of numbers; anything else as it is."""
    if value is None or isinstance(value, (int, float, str, list, tuple, Attribute)):
        return value
    from numpy import ndarray  # which processes that help to compile do without

    return cast("AttributeValue", value.tolist()) if isinstance(value, ndarray) else value


def normalized(
    op_name: str,
    normalize: Callable[[dict[str, AttributeValue]], dict[str, AttributeValue]],
    attributes: Mapping[str, AttributeValue],
) -> dict[str, AttributeValue]:
    """The attributes without shorthands, arrays as lists; `ConstraintError` where a shorthand holds no numbers."""
    try:
        return normalize({name: listed(value) for name, value in attributes.items()})
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{name} = {value!r}" for name, value in attributes.items())
        raise ConstraintError(op_name, "C0", f"attributes cannot be {given}: {error}") from error


_FLAGS = (bool_attribute(True), bool_attribute(False))


def to_attribute(name: str, value: AttributeValue, default: Attribute | None) -> Attribute:
    """The attribute for a Python value, guided by the property's default; dtypes by the property's name."""
    if isinstance(value, Attribute):
        return value
    if value is None:
        raise ValueError(f"attribute {name!r} has no value")
    if name.endswith("dtype") and not isinstance(value, (bool, int, float)):
        return element_type(cast(str, value))
    from numpy import generic  # which processes that help to compile do without

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
    """The numbers of an `array<f64: …>` property; empty for an absent one."""
    if attribute is None:
        return ()
    if not isinstance(attribute, DenseArrayBase):
        raise TypeError(f"{attribute} is not an array of floats")
    return cast(FloatArrayAttr, attribute).get_values()


def ints(attribute: Attribute | None) -> tuple[int, ...]:
    """The integers of an `array<i64: …>` property; empty for an absent one."""
    if attribute is None:
        return ()
    if not isinstance(attribute, DenseArrayBase):
        raise TypeError(f"{attribute} is not an integer array")
    return cast(DenseArrayBase[IntegerType], attribute).get_values()
