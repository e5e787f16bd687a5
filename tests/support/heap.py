"""Counts the bytes that the C library has allocated and not freed, in all threads."""

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
    """The bytes of blocks in use: those on heaps, and those with their own mapping.

    Unlike resident memory, the number does not depend on the allocator's reserves, on fragmentation, or on the stacks
    of other threads. Blocks that a thread caches for reuse count until it ends, a few KiB each. Cycles of Python
    objects (an error and its frames) are collected first.
    """
    assert _mallinfo2 is not None, REASON
    gc.collect()
    info = _mallinfo2()
    return info.uordblks + info.hblkhd


def kept_bytes(action: Callable[[], object], rounds: int = 4) -> int:
    """Returns the fewest bytes that one of `rounds` calls of `action` leaves allocated, after a first call.

    A leak grows in every round. A table of the interpreter that doubles, or a module that is imported late, does not.

    Objects that exist before the rounds are frozen, which excludes them from these and all later collections: in a
    process that has run hundreds of tests, each collection would take a third of a second.
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
