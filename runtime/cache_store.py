"""A folder of files named by key: limited in size, shared by processes, and used only if no other user may write it.

Entries appear by an atomic rename, so processes share a folder without locks. When a store exceeds its limit, the least
recently used entries are removed. A store never raises: a folder that cannot be used, and an entry that cannot be read
or written, are misses. The first fault of each kind in a process is logged as a warning.
"""

from __future__ import annotations

import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from xrelay.runtime.files import PARTIAL_SUFFIX, open_regular, read_bytes, write_file
from xrelay.runtime.trust import file_fault, folder_fault

_LOG: Final = logging.getLogger(__name__)
_PRIVATE_FOLDER: Final = 0o700
_PARTIAL_SECONDS: Final = 3600.0
_KEPT_SHARE: Final = 0.8  # evicting below the limit makes evictions rare
_ELSEWHERE: Final = "set XRELAY_CACHE_DIR to a folder that you own, or set XRELAY_CACHE=0"

_CLEARED_TIMES: Final = 2
_Result = TypeVar("_Result")

_warned: set[str] = set()
_warning = threading.Lock()


def warn_once(kind: str, message: str) -> None:
    """Logs a warning, but further ones of its kind at debug level, since many entries may have the same fault."""
    with _warning:
        level = logging.DEBUG if kind in _warned else logging.WARNING
        _warned.add(kind)
    _LOG.log(level, "%s", message)


def usable_folder(folder: Path) -> bool:
    """Whether the cache may use a folder. A missing folder is created, accessible by the user alone."""
    try:
        fault = while_cleared(lambda: _made_fault(folder))
    except OSError as error:
        warn_once("unusable", f"compiling without the cache: {_description(folder, error)}; {_ELSEWHERE}")
        return False
    if fault is not None:
        remedy = f"remove the write access of other users (chmod, chown), or {_ELSEWHERE}"
        warn_once("unsafe", f"compiling without the cache in '{folder}': {fault}; {remedy}")
        return False
    return True


def while_cleared(work: Callable[[], _Result]) -> _Result:
    """Returns the result of `work`, which creates folders, and repeats it if another process removes them meanwhile."""
    for _ in range(_CLEARED_TIMES):
        with suppress(FileNotFoundError):
            return work()
    return work()


def read_entry(path: Path) -> bytes | None:
    """Returns the bytes of a file in a usable folder; `None` if it is missing, a link, or writable by others."""
    try:
        with open_regular(path, follow=False) as descriptor:
            status = os.fstat(descriptor)
            fault = file_fault(path, status)
            if fault is None:
                return bytes(read_bytes(descriptor, 0, status.st_size))
    except FileNotFoundError:
        return None
    except (OSError, EOFError) as error:
        fault = f"'{path}' cannot be read: {error}"
    warn_once("entry", f"ignoring a cache entry: {fault}")
    return None


class Store:
    """The entries of one kind, in subfolders of a folder."""

    def __init__(self, root: Path, suffix: str, limit: int):
        """Creates a store in `root`, which need not exist, of files with `suffix` and about `limit` bytes at most."""
        self._root, self._suffix, self._limit = root, suffix, limit
        self._size: int | None = None  # unknown until the first write
        self._lock = threading.Lock()

    def path(self, key: str) -> Path:
        """Returns the path of an entry, whether it exists or not."""
        return self._root / key[:2] / f"{key}{self._suffix}"

    def read(self, key: str) -> bytes | None:
        """Returns the bytes of an entry and marks it as used; `None` if it does not exist."""
        path = self.find(key)
        return None if path is None else read_entry(path)

    def find(self, key: str) -> Path | None:
        """Returns the path of an entry and marks it as used; `None` if it does not exist."""
        path = self.path(key)
        try:
            if not self._root.is_dir() or not usable_folder(self._root) or not stat.S_ISREG(path.lstat().st_mode):
                return None
        except OSError:
            return None  # absent, or in an inaccessible folder, which the next write reports
        try:
            os.utime(path, follow_symlinks=False)
        except OSError as error:
            _LOG.debug("cannot mark %s as used: %s", path, error)
        return path

    def write(self, key: str, fill: Callable[[BinaryIO], object]) -> Path | None:
        """Adds or replaces an entry, which `fill` writes; returns its path, or `None` on failure."""
        path = self.path(key)
        if not usable_folder(self._root):
            return None
        try:
            size = while_cleared(lambda: _write(path, fill))
        except OSError as error:
            warn_once("unusable", f"the cache cannot be written: {_description(path.parent, error)}; {_ELSEWHERE}")
            return None
        self._grow(size, path)
        return path

    def drop(self, key: str) -> None:
        """Removes an entry, if it exists."""
        _remove(self.path(key))

    def _grow(self, size: int, newest: Path) -> None:
        with self._lock:
            if self._size is not None:
                self._size += size
            if self._size is None or self._size > self._limit:
                self._size = self._evict(newest)

    def _evict(self, newest: Path) -> int:
        """Removes the oldest entries except `newest` if the store is too large; returns its size."""
        entries = sorted(self._entries(), reverse=True)
        total = sum(size for _, size, _ in entries)
        if total <= self._limit:
            return total
        while entries and total > self._limit * _KEPT_SHARE:
            _, size, path = entries.pop()
            if path != newest:
                _remove(path)
                total -= size
        return total

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yields time of last use, size and path of every entry. Removes old partial files of killed writers."""
        # `os.walk` skips folders that another process removes meanwhile, where `Path.glob` raises.
        for path in (Path(folder, name) for folder, _, names in os.walk(self._root) for name in names):
            try:
                status = path.lstat()
            except OSError:
                continue  # another process removed it
            if path.suffix == self._suffix:
                yield status.st_mtime, status.st_size, path
            elif path.suffix == PARTIAL_SUFFIX and status.st_mtime < time.time() - _PARTIAL_SECONDS:
                _remove(path)


def _write(path: Path, fill: Callable[[BinaryIO], object]) -> int:
    """Writes an entry; returns its size."""
    _make(path.parent)
    write_file(path, fill, private=True)
    return path.lstat().st_size


def _made_fault(folder: Path) -> str | None:
    """Creates a folder if it is missing, and returns its fault."""
    _make(folder)
    return folder_fault(folder)


def _make(folder: Path) -> None:
    """Creates a folder and its missing parents, accessible by the user alone. Raises `OSError` on failure."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    if not folder.is_dir():
        if folder.exists():
            raise NotADirectoryError(None, "it is not a folder")
        raise FileNotFoundError(None, "another process removes it")


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _LOG.debug("cannot remove %s: %s", path, error)


def _description(folder: Path, error: OSError) -> str:
    return f"'{folder}': {error.strerror if error.strerror else error}"
