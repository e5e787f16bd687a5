"""The kinds of properties of Relay's operators, with defaults, and expansion of shorthands in Python values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    f64,
)
from xdsl.irdl import opt_prop_def, prop_def

from xrelay.dialects.relay.core.attribute_values import (
    AttributeValue,
    FloatArrayAttr,
    IntArrayAttr,
    bool_attribute,
    float_array,
    int_array,
    int_attribute,
    string_attribute,
)


def ints_property(*default: int) -> IntArrayAttr:
    """Declares an integer array property with a default."""
    return prop_def(IntArrayAttr, default_value=int_array(default))


def required_ints_property() -> IntArrayAttr:
    """Declares a required integer array property."""
    return prop_def(IntArrayAttr)


def optional_ints_property() -> IntArrayAttr | None:
    """Declares an optional integer array property."""
    return opt_prop_def(IntArrayAttr)


def int_property(default: int | None = None) -> IntegerAttr[IntegerType]:
    """Declares an i64 property, which is required if there is no default."""
    return prop_def(IntegerAttr[IntegerType], None if default is None else int_attribute(default))


def optional_int_property() -> IntegerAttr[IntegerType] | None:
    """Declares an optional i64 property."""
    return opt_prop_def(IntegerAttr[IntegerType])


def bool_property(default: bool) -> IntegerAttr[IntegerType]:
    """Declares a boolean property."""
    return prop_def(IntegerAttr[IntegerType], default_value=bool_attribute(default))


def float_property(default: float | None = None) -> FloatAttr[Float64Type]:
    """Declares an f64 property, which is required if there is no default."""
    return prop_def(FloatAttr[Float64Type], None if default is None else FloatAttr(default, f64))


def floats_property(*default: float) -> FloatArrayAttr:
    """Declares a float array property with a default."""
    return prop_def(FloatArrayAttr, default_value=float_array(default))


def string_property(default: str | None = None) -> StringAttr:
    """Declares a string property, which is required if there is no default."""
    return prop_def(StringAttr, None if default is None else string_attribute(default))


def optional_int(attribute: IntegerAttr[IntegerType] | None) -> int | None:
    """Returns the number in an optional property, or None."""
    return None if attribute is None else attribute.value.data


def image_axes(layout: StringAttr) -> tuple[int, int, int]:
    """Returns the axes of channels, rows and columns for the layout `NCHW` or `NHWC`."""
    return (1, 2, 3) if layout.data == "NCHW" else (3, 1, 2)


def with_flat(attributes: dict[str, AttributeValue], name: str) -> dict[str, AttributeValue]:
    """Flattens the pairs in the attribute `name`, if it has pairs; returns the attributes."""
    pairs = attributes.get(name)
    if isinstance(pairs, (tuple, list)):
        attributes[name] = flatten(pairs)
    return attributes


def with_both_sides(attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
    """Repeats a `padding` of two numbers, each for both sides of an axis, to four; returns the attributes."""
    padding = attributes.get("padding")
    if isinstance(padding, (tuple, list)) and len(padding) == 2:
        attributes["padding"] = flatten((padding, padding))
    return attributes


def without_empty_dtype(attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
    """Replaces an empty `out_dtype`, Relay's notation for no dtype, by None; returns the attributes."""
    if attributes.get("out_dtype") == "":
        attributes["out_dtype"] = None
    return attributes


def flatten(value: object) -> list[int]:
    """Returns the integers of nested sequences, in order: `[1, 2, 3, 4]` for `((1, 2), (3, 4))`."""
    if isinstance(value, (list, tuple)):
        return [number for item in cast(Sequence[object], value) for number in flatten(item)]
    return [int(cast(int, value))]
