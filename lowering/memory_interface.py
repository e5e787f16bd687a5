"""What a module below the loop level says of the memory of a run: its attribute `xrelay.memory`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from xrelay.dialects.shared.is_attribute import is_attribute

_SIZES: Final = ("boxes", "kernels", "each_thread")
_NONE: Final = ArrayAttr[Attribute]([])


@dataclass(frozen=True)
class MemoryEntry:
    """The most bytes that a run needs beside the arena, as far as they are known, and what is not among them."""

    boxes: int = 0
    kernels: int = 0
    each_thread: int = 0
    uncounted: tuple[str, ...] = ()


def read_memory(needs: Attribute) -> MemoryEntry | None:
    """What an attribute says that `loop-plan-memory` wrote; `None` where it is none."""
    if not isinstance(needs, DictionaryAttr):
        return None
    told = [needs.data.get(name, IntegerAttr(0, i64)) for name in _SIZES]
    sizes = [each.value.data for each in told if isinstance(each, IntegerAttr)]
    uncounted = needs.data.get("uncounted", _NONE)
    if len(sizes) < len(told) or not is_attribute(uncounted, ArrayAttr[StringAttr]):
        return None
    return MemoryEntry(*sizes, uncounted=tuple(text.data for text in uncounted))
