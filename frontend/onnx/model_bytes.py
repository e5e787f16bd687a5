"""The bytes of a model, in memory or in a file, each read once into its final buffer."""

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
    """Immutable bytes in memory."""

    def __init__(self, data: bytes):
        self._data, self.size = data, len(data)

    def read(self, begin: int, end: int) -> memoryview:
        """The bytes from `begin` to `end`."""
        return memoryview(self._data)[begin:end]

    def array(self, begin: int, end: int) -> Array:
        """The same bytes as an array, without a copy."""
        return np.frombuffer(self._data, np.uint8, end - begin, begin)


class FileBytes:
    """The bytes of an open file; reads raise `EOFError` at its end."""

    def __init__(self, descriptor: int):
        status = os.fstat(descriptor)
        self._descriptor, self.size = descriptor, status.st_size
        self.names = status.st_nlink
        """The number of hard links of the file."""

    def read(self, begin: int, end: int) -> bytearray:
        """The bytes from `begin` to `end`."""
        return read_bytes(self._descriptor, begin, end)

    def array(self, begin: int, end: int) -> Array:
        """The same bytes as an array with the alignment of native code."""
        data = aligned_bytes(end - begin)
        read_into(self._descriptor, begin, data.data)
        data.flags.writeable = False
        return data


@contextmanager
def opened(path: Path, *, follow: bool = True) -> Generator[FileBytes]:
    """Opens a regular file for reading; without `follow`, a link is refused.

    The file is read instead of mapped, since truncation of a mapped file ends the process. Raises `OSError` if there is
    no such file, and at the end `EOFError` if the file changed meanwhile.
    """
    with open_regular(path, follow=follow) as descriptor:
        before = os.fstat(descriptor)
        yield FileBytes(descriptor)
        after = os.fstat(descriptor)
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise EOFError("it was changed while it was read")
