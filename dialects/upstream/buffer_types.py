"""Types of buffers from numbers."""

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
    """Returns `MemRefType(element, extents, layout, space)`.

    The constructor of `MemRefType` asks first whether the extents are an attribute already, which takes ten times as
    long as to make the type.
    """
    return MemRefType.new([_shape(tuple(extents)), element, layout, space])


@lru_cache(maxsize=4096)
def _shape(extents: tuple[int, ...]) -> ArrayAttr[IntAttr]:
    """The attribute for a shape; programs have few, and each number in one takes as long to make as the type."""
    return ArrayAttr([IntAttr(extent) for extent in extents])
