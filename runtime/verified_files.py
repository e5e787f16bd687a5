"""Files whose weights have been checked against their digest: remembered, so that large ones are read once.

The record is a text of keys, one a line, in the user's cache; it holds the last thousand. A key names a file by device,
inode, size and times of change, together with the digest it was checked against. Without a usable cache nothing is
remembered, and files are checked whenever they are loaded.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from xrelay.runtime.cache import cache_root
from xrelay.runtime.cache_store import read_entry, usable_folder, warn_once
from xrelay.runtime.digests import content_key
from xrelay.runtime.files import write_file

_NAME: Final = "verified"
_KEPT: Final = 1000
_SETTLED_NANOSECONDS: Final = 2_000_000_000
"""A file that changed less than this ago may change again without its times showing it."""


def file_mark(status: os.stat_result, digest: str) -> str:
    """The key of a file's content, as far as its status tells, and of the digest it was checked against."""
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return content_key(map(str, (status.st_dev, status.st_ino, status.st_size, *times, digest)))


def is_verified(mark: str) -> bool:
    """Whether the file of this mark has been checked before."""
    root = cache_root()
    return root is not None and root.is_dir() and usable_folder(root) and mark in _marks(root / _NAME)


def remember_verified(mark: str, status: os.stat_result) -> None:
    """Note that a file of this status was checked; nothing happens where it changed just now or there is no cache."""
    if max(status.st_mtime_ns, status.st_ctime_ns) > time.time_ns() - _SETTLED_NANOSECONDS:
        return
    root = cache_root()
    if root is None or not usable_folder(root):
        return
    path = root / _NAME
    marks = [known for known in _marks(path) if known != mark][-_KEPT + 1 :]
    text = "".join(f"{known}\n" for known in (*marks, mark)).encode()
    try:
        write_file(path, lambda file: file.write(text), private=True)
    except OSError as error:
        warn_once("unusable", f"the cache cannot be written: '{path}': {error.strerror}")


def _marks(path: Path) -> list[str]:
    """The marks in the record; what is none of them does no harm, as it equals no mark."""
    data = read_entry(path)
    return [] if data is None else data.decode("ascii", errors="replace").split()
