"""Types of buffers from numbers."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, IntAttr, MemRefLayoutAttr, MemRefType, NoneAttr
from xdsl.ir import Attribute

_NONE = NoneAttr()


def buffer_type(
    element: Attribute,
    extents: Iterable[int],
    layout: MemRefLayoutAttr | NoneAttr = _NONE,
    space: Attribute = _NONE,
) -> MemRefType:
    """Returns `MemRefType(element, extents, layout, space)`.

    The constructor of `MemRefType` asks first whether the extents are an attribute already, which takes ten times as
    long as to make the type.
    """
    return MemRefType.new([ArrayAttr([IntAttr(extent) for extent in extents]), element, layout, space])
