"""A record of facts about files in the user's cache, by their status, so that large files are read once.

A record is a text with one line per file: its mark and a value. It keeps the last thousand. A mark identifies the
content of a file by device, inode, size, and modification and status-change times; the status-change time (ctime)
cannot be set back. Without a usable cache nothing is recorded.
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
"""A file that changed more recently than this may change again without a new timestamp."""


def file_mark(status: os.stat_result, details: Sequence[str] = ()) -> str:
    """Returns the mark of a file's content as identified by its status, combined with `details`."""
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return content_key((*map(str, (status.st_dev, status.st_ino, status.st_size, *times)), *details))


def steady_status(descriptor: int) -> os.stat_result | None:
    """Returns the status of an open file, which any later change will alter; `None` if the file changed just now.

    A store to a mapped page that is already dirty does not update the times, so dirty pages are flushed first. File
    systems in memory, such as tmpfs, do not flush, so such a store goes unnoticed there.
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
        """Returns the value recorded for a mark, or `None`."""
        root = cache_root()
        if root is None or not os.path.isdir(root) or not usable_folder(root):
            return None
        return self._lines(root).get(mark)

    def put(self, mark: str, value: str) -> None:
        """Records a value without blanks for a mark, if there is a cache.

        The mark must be that of `steady_status` before the content was read, and still be that of the file.
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
        """Returns the values in the record by mark. A damaged line is harmless, since it matches no mark."""
        data = read_entry(root / self._name)
        if data is None:
            return {}
        rows = (line.partition(" ") for line in data.decode("ascii", errors="replace").splitlines())
        return {mark: value for mark, _, value in rows}
