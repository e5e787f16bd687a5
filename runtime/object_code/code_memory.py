"""Memory for machine code on Linux. No page is ever writable and executable at once."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from functools import cache
from typing import Final

from xrelay.errors import ArtifactError
from xrelay.runtime.object_code.object_image import Access, Segment

_READ, _WRITE, _EXECUTE = 1, 2, 4
_PROTECTIONS: Final = {Access.EXECUTE: _READ | _EXECUTE, Access.READ: _READ, Access.WRITE: _READ | _WRITE}
_PRIVATE_ANONYMOUS: Final = 0x22
_FAILED: Final = ctypes.c_void_p(-1).value


class CodeMemory:
    """A block of memory that is writable first and executable after `protect`. It exists until `free`.

    Python's `mmap` serves neither purpose: it cannot change the access of pages, and it frees them when the process
    ends, while threads may still run the code.
    """

    def __init__(self, size: int):
        """Allocates zeroed memory. Raises `OSError` if the system refuses."""
        self._size = size
        self.address: int = _system().mmap(None, size, _READ | _WRITE, _PRIVATE_ANONYMOUS, -1, 0)
        if self.address == _FAILED:
            raise _failure()

    def view(self) -> memoryview:
        """Returns the bytes, which may be written until `protect`."""
        return memoryview((ctypes.c_ubyte * self._size).from_address(self.address)).cast("B")

    def protect(self, segments: Iterable[Segment]) -> None:
        """Sets the access to segments. Raises `OSError` if the system refuses it, as hardened ones do."""
        for access, begin, end in segments:
            if access is Access.EXECUTE:
                _synchronise(self.address + begin, self.address + end)
            if _system().mprotect(self.address + begin, end - begin, _PROTECTIONS[access]) != 0:
                raise _failure()

    def free(self) -> None:
        """Frees the memory. Nothing may use it afterwards."""
        _system().munmap(self.address, self._size)


@cache
def _system() -> ctypes.CDLL:
    """Returns the C library with the types of the functions that map memory."""
    library, pointer, number = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p, ctypes.c_int
    library.mmap.argtypes = [pointer, ctypes.c_size_t, number, number, number, ctypes.c_long]
    library.mmap.restype = pointer
    library.mprotect.argtypes = [pointer, ctypes.c_size_t, number]
    library.munmap.argtypes = [pointer, ctypes.c_size_t]
    return library


def _synchronise(begin: int, end: int) -> None:
    """Makes written code visible to the instruction cache, which x86-64 does by itself."""
    if os.uname().machine == "x86_64":
        return
    try:
        clear = ctypes.CDLL("libgcc_s.so.1")["__clear_cache"]
    except (OSError, AttributeError) as error:
        raise ArtifactError(f"cannot link without libgcc: {error}") from error
    clear(ctypes.c_void_p(begin), ctypes.c_void_p(end))


def _failure() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
