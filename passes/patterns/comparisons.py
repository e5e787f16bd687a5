"""Compares attributes and types that patterns require with those of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from numpy.typing import DTypeLike
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.attribute_values import to_python
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import ANY, symbol


def same_attribute(expected: object, found: object) -> bool:
    """Returns whether both values are equal; lists equal tuples, and MLIR attributes their Python values."""
    return _plain(expected) == _plain(found)


def _plain(value: object) -> object:
    if isinstance(value, Attribute):
        value = to_python(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return value


def has_type(type: Attribute | None, expected: object) -> bool:
    """Returns whether `type` is the required type."""
    return type is not None and type == expected


def has_shape(type: Attribute | None, expected: Sequence[object]) -> bool:
    """Returns whether `type` is a tensor type of the required shape: numbers, expressions, names, None for unknown."""
    return isinstance(type, TensorType) and shape_of(type) == tuple(map(_extent, expected))


def has_dtype(type: Attribute | None, expected: object) -> bool:
    """Returns whether `type` is a tensor type of the required element type, a name, a numpy dtype or an MLIR type."""
    if not isinstance(type, TensorType):
        return False
    dtype = expected if isinstance(expected, Attribute) else element_type(cast(DTypeLike, expected))
    return bool(type.element_type == dtype)


def _extent(extent: object) -> object:
    if extent is None:
        return ANY
    return symbol(extent) if isinstance(extent, str) else extent
