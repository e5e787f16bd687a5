"""Memory for native code: aligned blocks, and pools of objects that one call uses at a time."""

from __future__ import annotations

import contextlib
import mmap
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import ExecutionError
from xrelay.runtime.abi import ALIGNMENT

_T = TypeVar("_T")
_HUGE_PAGE: Final = 2 << 20
_MAPPED_FROM: Final = 2 * _HUGE_PAGE  # below, the heap is as good


def address_of(array: NDArray[Any]) -> int:
    """The address of an array's first element."""
    return array.__array_interface__["data"][0]


def aligned_bytes(size: int) -> NDArray[np.uint8]:
    """`size` bytes, uninitialised, aligned to `ALIGNMENT`; large blocks lie on huge pages where the system has them.

    Large blocks go back to the system when they are freed. The child of a fork has its own copy of each.
    `ExecutionError` where the system has no such block.
    """
    try:
        if size < _MAPPED_FROM:
            return _slice_aligned(np.empty(size + ALIGNMENT, np.uint8), size, ALIGNMENT)
        # Python's default is memory that forks share, which has no huge pages on most systems either.
        memory = mmap.mmap(-1, size + _HUGE_PAGE, access=mmap.ACCESS_COPY)
    except (MemoryError, OSError, OverflowError) as error:
        raise ExecutionError(
            f"cannot allocate {size} bytes: {error}", help="free memory, or use a smaller batch"
        ) from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a system without huge pages: small ones work as well
            memory.madvise(mmap.MADV_HUGEPAGE)
    return _slice_aligned(np.frombuffer(memory, np.uint8), size, _HUGE_PAGE)


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself where it is contiguous and aligned to `ALIGNMENT`, else such a copy."""
    if array.flags.c_contiguous and address_of(array) % ALIGNMENT == 0:
        return array
    copy = aligned_bytes(array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _slice_aligned(block: NDArray[np.uint8], size: int, alignment: int) -> NDArray[np.uint8]:
    start = -address_of(block) % alignment
    return block[start : start + size]


class Pool(Generic[_T]):
    """Things that are used by one call at a time and kept for the next; as many exist as calls ran at once.

    `acquire` and `release` are single operations on a deque, so any number of threads may use them without a lock.
    """

    def __init__(self, make: Callable[[], _T]):
        """An empty pool; `make` gives a new thing where none is free."""
        self._make = make
        self._free: deque[_T] = deque()

    def acquire(self) -> _T:
        """A free thing, or a new one."""
        try:
            return self._free.pop()
        except IndexError:
            return self._make()

    def release(self, thing: _T) -> None:
        """Give back what `acquire` gave."""
        self._free.append(thing)
