"""Reads and writes files: only regular files are opened, and written files appear atomically."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO, Final

PARTIAL_SUFFIX: Final = ".part"
"""The suffix of files that are being written."""

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0)
_PRIVATE: Final = 0o600
_SHARED: Final = 0o644


class NotAFileError(OSError):
    """A path refers to a folder, a pipe or a device instead of a regular file."""


@contextlib.contextmanager
def open_regular(path: Path, *, follow: bool = True) -> Generator[int]:
    """Opens a regular file for reading and yields its descriptor; unless `follow`, a link is refused.

    Never blocks on a pipe. Raises `OSError` if the file is missing or not regular.
    """
    flags = os.O_RDONLY | _BINARY | _NO_WAITING | (0 if follow else _NO_FOLLOW)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotAFileError("it is not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def sibling(path: Path, suffix: str) -> Path:
    """Returns the path with another suffix.

    Raises `IsADirectoryError` for a path without a name, such as `.` and `/`.
    """
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return path.with_suffix(suffix)


def write_file(path: Path, fill: Callable[[BinaryIO], object], *, private: bool = False) -> None:
    """Writes a file through `fill`, atomically: it appears complete or not at all, and replaces an existing file.

    The partial file has a random name in the same folder. Processes that have the old file open or mapped keep it. Only
    the owner may write the file. A link is followed. A target that is not a regular file, such as `/dev/null`, is
    written to and not replaced. A `private` file is readable by the owner alone, and replaces a link or anything else
    at its path. Raises `OSError` and any error of `fill`.
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
    """Fills `buffer` from an offset of a file. Raises `EOFError` if the file is too short. Thread-safe."""
    while len(buffer):
        count = os.preadv(descriptor, [buffer], offset)
        if count == 0:
            raise EOFError(f"the file ends at byte {offset}")
        buffer, offset = buffer[count:], offset + count


def read_bytes(descriptor: int, begin: int, end: int) -> bytearray:
    """Returns the bytes of a file between two offsets. Raises `EOFError` if the file is too short."""
    data = bytearray(end - begin)
    with memoryview(data) as view:
        read_into(descriptor, begin, view)
    return data
