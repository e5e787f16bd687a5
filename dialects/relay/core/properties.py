"""The kinds of properties that Relay's operators have, each with its default, and shorthands for Python values."""

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
    """A property holding an integer array, `default` unless given."""
    return prop_def(IntArrayAttr, default_value=int_array(default))


def required_ints_property() -> IntArrayAttr:
    """A property holding an integer array, without default."""
    return prop_def(IntArrayAttr)


def optional_ints_property() -> IntArrayAttr | None:
    """A property that may hold an integer array."""
    return opt_prop_def(IntArrayAttr)


def int_property(default: int | None = None) -> IntegerAttr[IntegerType]:
    """A property holding an i64; without default it must be given."""
    return prop_def(IntegerAttr[IntegerType], None if default is None else int_attribute(default))


def optional_int_property() -> IntegerAttr[IntegerType] | None:
    """A property that may hold an i64."""
    return opt_prop_def(IntegerAttr[IntegerType])


def bool_property(default: bool) -> IntegerAttr[IntegerType]:
    """A property holding true or false."""
    return prop_def(IntegerAttr[IntegerType], default_value=bool_attribute(default))


def float_property(default: float | None = None) -> FloatAttr[Float64Type]:
    """A property holding an f64; without default it must be given."""
    return prop_def(FloatAttr[Float64Type], None if default is None else FloatAttr(default, f64))


def floats_property(*default: float) -> FloatArrayAttr:
    """A property holding an array of floats, `default` unless given."""
    return prop_def(FloatArrayAttr, default_value=float_array(default))


def string_property(default: str | None = None) -> StringAttr:
    """A property holding a string; without default it must be given."""
    return prop_def(StringAttr, None if default is None else string_attribute(default))


def optional_int(attribute: IntegerAttr[IntegerType] | None) -> int | None:
    """The number in an optional property."""
    return None if attribute is None else attribute.value.data


def image_axes(layout: StringAttr) -> tuple[int, int, int]:
    """The axes of channels, rows and columns of images of a layout: `NCHW` or `NHWC`."""
    return (1, 2, 3) if layout.data == "NCHW" else (3, 1, 2)


def with_flat(attributes: dict[str, AttributeValue], name: str) -> dict[str, AttributeValue]:
    """The attributes with the pairs of one of them, if it has pairs, one after the other."""
    pairs = attributes.get(name)
    if isinstance(pairs, (tuple, list)):
        attributes[name] = flatten(pairs)
    return attributes


def with_both_sides(attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
    """The attributes with `padding` for all sides where it has two numbers, each for both sides of an axis."""
    padding = attributes.get("padding")
    if isinstance(padding, (tuple, list)) and len(padding) == 2:
        attributes["padding"] = flatten((padding, padding))
    return attributes


def without_empty_dtype(attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
    """The attributes without `out_dtype` where it is the empty text, by which Relay writes that there is none."""
    if attributes.get("out_dtype") == "":
        attributes["out_dtype"] = None
    return attributes


def flatten(value: object) -> list[int]:
    """The integers of nested sequences, in order: `((1, 2), (3, 4))` gives `[1, 2, 3, 4]`."""
    if isinstance(value, (list, tuple)):
        return [number for item in cast(Sequence[object], value) for number in flatten(item)]
    return [int(cast(int, value))]
