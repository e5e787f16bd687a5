"""Reading and writing of files: regular files alone are opened, and written ones appear in one step."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO, Final

PARTIAL_SUFFIX: Final = ".part"
"""The end of the names of files that are being written."""

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0)
_PRIVATE: Final = 0o600
_SHARED: Final = 0o644


class NotAFileError(OSError):
    """A path leads to a folder, a pipe or a device where a file was expected."""


@contextlib.contextmanager
def open_regular(path: Path, *, follow: bool = True) -> Generator[int]:
    """The descriptor of a regular file, open for reading; without `follow`, a link is refused.

    Never waits for the other end of a pipe. `OSError` where there is no such file, or something else.
    """
    flags = os.O_RDONLY | _BINARY | _NO_WAITING | (0 if follow else _NO_FOLLOW)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotAFileError("it is no regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def beside(path: Path, suffix: str) -> Path:
    """The path with another ending; `IsADirectoryError` for one without a name, such as `.` and `/`."""
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return path.with_suffix(suffix)


def write_file(path: Path, fill: Callable[[BinaryIO], object], *, private: bool = False) -> None:
    """Write a file through `fill`; it appears whole or not at all, and one that is there is replaced in one step.

    The parts lie beside it under a name that nobody can foresee. Whoever has the old file open or mapped keeps it.
    Nobody but the owner may write the file. A link is followed; what is no regular file, such as `/dev/null`, is
    written to and not replaced. A `private` file nobody else may read, and it replaces a link or anything else that
    stands in its place. `OSError` passes through, as does what `fill` raises.
    """
    target = path if private else Path(os.path.realpath(path))
    if not private and target.exists() and not target.is_file():
        with target.open("wb") as stream:
            fill(stream)
        return
    partial = target.with_name(f".{os.urandom(8).hex()}{PARTIAL_SUFFIX}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
    descriptor = os.open(partial, flags, _PRIVATE if private else _SHARED)
    try:
        with os.fdopen(descriptor, "wb") as file:
            fill(file)
        os.replace(partial, target)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def read_into(descriptor: int, offset: int, buffer: memoryview) -> None:
    """Fill `buffer` from a place in a file; `EOFError` where the file ends before. Any number of threads may read."""
    while len(buffer):
        count = os.preadv(descriptor, [buffer], offset)
        if count == 0:
            raise EOFError(f"the file ends at byte {offset}")
        buffer, offset = buffer[count:], offset + count


def read_bytes(descriptor: int, begin: int, end: int) -> bytearray:
    """The bytes of a file between two places; `EOFError` where the file ends before."""
    data = bytearray(end - begin)
    with memoryview(data) as view:
        read_into(descriptor, begin, view)
    return data
