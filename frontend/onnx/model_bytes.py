"""The bytes of a model, in memory or in a file, read once and to where they stay."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from xrelay.dialects.relay.structure.weights import Array
from xrelay.runtime.arena import aligned_bytes
from xrelay.runtime.files import open_regular, read_bytes, read_into


class MemoryBytes:
    """Bytes in memory, which nobody changes."""

    def __init__(self, data: bytes):
        self._data, self.size = data, len(data)

    def read(self, begin: int, end: int) -> memoryview:
        """Some of them."""
        return memoryview(self._data)[begin:end]

    def array(self, begin: int, end: int) -> Array:
        """The same as an array; no copy."""
        return np.frombuffer(self._data, np.uint8, end - begin, begin)


class FileBytes:
    """The bytes of an open file; `EOFError` where it ends before."""

    def __init__(self, descriptor: int):
        status = os.fstat(descriptor)
        self._descriptor, self.size = descriptor, status.st_size
        self.names = status.st_nlink
        """By how many names the file is known."""

    def read(self, begin: int, end: int) -> bytearray:
        """Some of them."""
        return read_bytes(self._descriptor, begin, end)

    def array(self, begin: int, end: int) -> Array:
        """The same as an array that is aligned as native code reads it."""
        data = aligned_bytes(end - begin)
        read_into(self._descriptor, begin, data.data)
        data.flags.writeable = False
        return data


@contextmanager
def opened(path: Path, *, follow: bool = True) -> Generator[FileBytes]:
    """The bytes of a regular file, which nobody changes meanwhile; without `follow`, a link is refused.

    They are read and not mapped: a mapped file that somebody cuts short ends the process. `OSError` where there is no
    such file, `EOFError` where it was changed in the end.
    """
    with open_regular(path, follow=follow) as descriptor:
        before = os.fstat(descriptor)
        yield FileBytes(descriptor)
        after = os.fstat(descriptor)
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise EOFError("it was changed while it was read")
