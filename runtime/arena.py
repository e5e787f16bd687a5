"""Memory for native code: aligned blocks, memory for outputs, and pools of objects that one call uses at a time."""

from __future__ import annotations

import contextlib
import math
import mmap
import sys
import weakref
from collections import deque
from collections.abc import Callable
from ctypes import CDLL, Array, addressof, c_char
from typing import Any, Final, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import ExecutionError
from xrelay.runtime.abi import ALIGNMENT

_T = TypeVar("_T")
_BUFFER_OF: Final = cast("Callable[[object], Array[c_char]]", (c_char * 0).from_buffer)
_HUGE_PAGE: Final = 2 << 20
_MAPPED_FROM: Final = 2 * _HUGE_PAGE  # the heap is as fast for smaller blocks
_REUSED_FROM: Final = 1 << 18  # the heap keeps smaller blocks


def address_of(array: NDArray[Any]) -> int:
    """Returns the address of an array's first element.

    The buffer protocol takes a fraction of the time of the array interface, which creates a dictionary. Arrays
    that are read-only or not contiguous, and those of dtypes that numpy does not define, have no such buffer.
    """
    if not array.flags.writeable or array.dtype.isbuiltin != 1:
        return _listed_address(array)
    try:
        return addressof(_BUFFER_OF(array))
    except (BufferError, TypeError, ValueError):
        return _listed_address(array)


def _listed_address(array: NDArray[Any]) -> int:
    return array.__array_interface__["data"][0]


def aligned_bytes(size: int) -> NDArray[np.uint8]:
    """Returns `size` uninitialised bytes, aligned to `ALIGNMENT`; large blocks use huge pages if the system has them.

    Large blocks are returned to the system when they are freed, and are copied on write after a fork. Raises
    `ExecutionError` if the system cannot allocate the block.
    """
    try:
        if size < _MAPPED_FROM:
            return _slice_aligned(np.empty(size + ALIGNMENT, np.uint8), size, ALIGNMENT)
        # Python's default is memory shared between forks, for which most systems have no huge pages.
        memory = mmap.mmap(-1, size + _HUGE_PAGE, access=mmap.ACCESS_COPY)
    except (MemoryError, OSError, OverflowError) as error:
        raise ExecutionError(
            f"cannot allocate {size} bytes: {error}", help="free memory, or use a smaller batch"
        ) from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # small pages are used if there are no huge pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return _slice_aligned(np.frombuffer(memory, np.uint8), size, _HUGE_PAGE)


def align(array: NDArray[Any]) -> NDArray[Any]:
    """Returns the array if it is contiguous and aligned to `ALIGNMENT`, else an aligned copy."""
    if array.flags.c_contiguous and address_of(array) % ALIGNMENT == 0:
        return array
    copy = aligned_bytes(array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def trim_heap() -> None:
    """Returns the memory of freed objects to the system, where the C library keeps it and has a function for that.

    glibc keeps blocks of up to 32 MiB for later allocations.
    """
    if sys.platform == "linux":
        trim = getattr(CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _slice_aligned(block: NDArray[np.uint8], size: int, alignment: int) -> NDArray[np.uint8]:
    start = -address_of(block) % alignment
    return block[start : start + size]


class OutputMemory:
    """Memory for the large outputs of a model, reused after the caller has dropped the array and all of its views.

    The system clears new pages, which takes as long as the copy of a cache of keys and values that a decoder appends
    to. There is at most one free block for each output. A block has room for a growing output, and several threads may
    allocate at a time.
    """

    def __init__(self, count: int):
        """Creates memory for `count` outputs, without blocks."""
        self._free = [deque[NDArray[np.uint8]](maxlen=1) for _ in range(count)]

    def allocate(self, number: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Returns an uninitialised array for output `number`. Raises `ExecutionError` if allocation fails."""
        size = math.prod(shape) * dtype.itemsize
        if size < _REUSED_FROM:
            return np.empty(shape, dtype)
        free = self._free[number]
        try:
            block = free.pop()
        except IndexError:
            block = None
        if block is None or not size <= block.size <= 2 * size:
            block = aligned_bytes(size + size // 8)
        # All views refer to `owner`, since its base is no array.
        owner = np.frombuffer(block.data, np.uint8, count=size)
        weakref.finalize(owner, free.append, block).atexit = False
        return owner.view(dtype).reshape(shape)


class Pool(Generic[_T]):
    """Reusable objects that one call uses at a time, as many as there were concurrent calls.

    `acquire` and `release` are single operations on a deque, so any number of threads may call them without a lock.
    """

    def __init__(self, make: Callable[[], _T]):
        """Creates an empty pool; `make` creates an object if none is free."""
        self._make = make
        self._free: deque[_T] = deque()

    def acquire(self) -> _T:
        """Returns a free object, or a new one."""
        try:
            return self._free.pop()
        except IndexError:
            return self._make()

    def release(self, thing: _T) -> None:
        """Returns an acquired object to the pool."""
        self._free.append(thing)
