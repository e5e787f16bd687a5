"""Construction of buffer types from numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from xdsl.dialects.builtin import ArrayAttr, IntAttr, MemRefLayoutAttr, MemRefType, NoneAttr
from xdsl.ir import Attribute

_NONE = NoneAttr()


def buffer_type(
    element: Attribute,
    extents: Iterable[int],
    layout: MemRefLayoutAttr | NoneAttr = _NONE,
    space: Attribute = _NONE,
) -> MemRefType:
    """Returns `MemRefType(element, extents, layout, space)`, cached: programs have few types of buffers."""
    return _buffer_type(element, tuple(extents), layout, space)


@lru_cache(maxsize=4096)
def _buffer_type(
    element: Attribute, extents: tuple[int, ...], layout: MemRefLayoutAttr | NoneAttr, space: Attribute
) -> MemRefType:
    """Implements `buffer_type`.

    The constructor of `MemRefType` first checks whether the extents are an attribute, which takes ten times as long as
    creating the type.
    """
    return MemRefType.new([ArrayAttr([IntAttr(extent) for extent in extents]), element, layout, space])
