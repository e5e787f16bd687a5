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
    """Returns `MemRefType(element, extents, layout, space)`.

    The constructor of `MemRefType` first checks whether the extents are an attribute, which takes ten times as long as
    creating the type.
    """
    return MemRefType.new([_shape(tuple(extents)), element, layout, space])


@lru_cache(maxsize=4096)
def _shape(extents: tuple[int, ...]) -> ArrayAttr[IntAttr]:
    """The attribute for a shape, cached: programs have few shapes, and each number takes as long as the type."""
    return ArrayAttr([IntAttr(extent) for extent in extents])
