"""The attribute `xrelay.memory`: the memory that a run of a module below the loop level needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from xrelay.dialects.shared.is_attribute import is_attribute

_SIZES: Final = ("dynamic_buffers", "kernels", "each_thread")
_NONE: Final = ArrayAttr[Attribute]([])


@dataclass(frozen=True)
class MemoryEntry:
    """An upper bound of the bytes that a run needs beside the arena, as far as known, and descriptions of the rest."""

    dynamic_buffers: int = 0
    kernels: int = 0
    each_thread: int = 0
    uncounted: tuple[str, ...] = ()


def read_memory(needs: Attribute) -> MemoryEntry | None:
    """Reads an attribute that `loop-plan-memory` wrote; returns None if it is malformed."""
    if not isinstance(needs, DictionaryAttr):
        return None
    numbers = [needs.data.get(name, IntegerAttr(0, i64)) for name in _SIZES]
    sizes = [each.value.data for each in numbers if isinstance(each, IntegerAttr)]
    uncounted = needs.data.get("uncounted", _NONE)
    if len(sizes) < len(numbers) or not is_attribute(uncounted, ArrayAttr[StringAttr]):
        return None
    return MemoryEntry(*sizes, uncounted=tuple(text.data for text in uncounted))
