"""How many bytes the C library has handed out and not taken back, in every thread."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable

FIELDS = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


class _MallocInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc (mallinfo(3))."""

    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS]


_mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)
if _mallinfo2 is not None:
    _mallinfo2.restype = _MallocInfo

COUNTED = _mallinfo2 is not None
REASON = "the C library does not count its allocations (mallinfo2, glibc 2.33)"


def allocated_bytes() -> int:
    """Bytes of blocks in use: those on heaps, and those that have a mapping of their own.

    Unlike resident memory it does not depend on what the allocator keeps for later, on fragments, or on other threads'
    stacks; blocks that a thread holds back to reuse count until it ends, a few KiB each. Cycles of Python objects (an
    error and the frames it went through) are collected first.
    """
    assert _mallinfo2 is not None, REASON
    gc.collect()
    info = _mallinfo2()
    return info.uordblks + info.hblkhd


def kept_bytes(action: Callable[[], object], rounds: int = 4) -> int:
    """What each of `rounds` calls of `action` leaves behind, after a first one: the least of them.

    A leak grows in every round. A table of the interpreter that doubles, or a module that is imported late, does not.

    What there is before the rounds is kept out of their collections, and all later ones: in a process that has run
    hundreds of tests, each would take a third of a second.
    """
    action()
    gc.collect()
    gc.freeze()
    found: list[int] = []
    for _ in range(rounds):
        before = allocated_bytes()
        action()
        found.append(allocated_bytes() - before)
    return min(found)
