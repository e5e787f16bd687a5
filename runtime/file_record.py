"""What is known of files by their status, so that large ones are read once: a record in the user's cache.

A record is a text with a line for each file: its mark, and a value. It holds the last thousand. A mark names the
content of a file by device, inode, size and times of change: nobody can set the time of the last change of status
(ctime) back. Without a usable cache nothing is remembered.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from xrelay.runtime.cache import cache_root
from xrelay.runtime.cache_store import read_entry, usable_folder, warn_once, while_cleared
from xrelay.runtime.digests import content_key
from xrelay.runtime.files import write_file

_KEPT: Final = 1000
_SETTLED_NANOSECONDS: Final = 2_000_000_000
"""A file that changed less than this ago may change again without its times showing it."""


def file_mark(status: os.stat_result, details: Sequence[str] = ()) -> str:
    """The mark of a file's content, as far as its status tells, together with what was asked of it."""
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return content_key((*map(str, (status.st_dev, status.st_ino, status.st_size, *times)), *details))


def steady_status(descriptor: int) -> os.stat_result | None:
    """The status of an open file that shows each change from now on; `None` if the file changed just now.

    A store to a mapped page that is dirty already leaves the times as they are, so dirty pages are written first. File
    systems in memory, such as tmpfs, write none: there such a store goes unnoticed.
    """
    status = os.fstat(descriptor)
    if max(status.st_mtime_ns, status.st_ctime_ns) > time.time_ns() - _SETTLED_NANOSECONDS:
        return None
    with contextlib.suppress(OSError):
        os.fsync(descriptor)
    return os.fstat(descriptor)


class FileRecord:
    """The record called `name` in the user's cache."""

    def __init__(self, name: str):
        self._name = name

    def get(self, mark: str) -> str | None:
        """The value noted for a mark; `None` where there is none."""
        root = cache_root()
        if root is None or not os.path.isdir(root) or not usable_folder(root):
            return None
        return self._lines(root).get(mark)

    def put(self, mark: str, value: str) -> None:
        """Stores a value, a word, for the file of this mark, if there is a cache.

        The mark is that of `steady_status` before the content was read, and still that of the file.
        """
        root = cache_root()
        if root is None:
            return
        path, lines = root / self._name, self._lines(root)
        lines.pop(mark, None)
        kept = [*list(lines.items())[-_KEPT + 1 :], (mark, value)]
        text = "".join(f"{key} {noted}\n" for key, noted in kept).encode()

        def write() -> None:
            if usable_folder(root):
                write_file(path, lambda file: file.write(text), private=True)

        try:
            while_cleared(write)
        except OSError as error:
            warn_once("unusable", f"the cache cannot be written: '{path}': {error.strerror}")

    def _lines(self, root: Path) -> dict[str, str]:
        """The values in the record by mark; a damaged line does no harm, as its mark equals none."""
        data = read_entry(root / self._name)
        if data is None:
            return {}
        rows = (line.partition(" ") for line in data.decode("ascii", errors="replace").splitlines())
        return {mark: value for mark, _, value in rows}
