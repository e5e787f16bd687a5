"""A folder of files named by key: bounded in size, shared by processes, and trusted only where nobody else may write.

Entries appear by an atomic rename, so processes share a folder without locks; when a store outgrows its limit the
entries unused for longest go. A store never raises: a folder that cannot be used, an entry that cannot be read or
written is a miss, and the first of each kind in a process is logged as a warning.
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
_KEPT_SHARE: Final = 0.8  # evicting down to less than the limit makes evictions rare
_ELSEWHERE: Final = "set XRELAY_CACHE_DIR to a folder of your own, or XRELAY_CACHE=0"

_CLEARED_TIMES: Final = 2
_Result = TypeVar("_Result")

_warned: set[str] = set()
_warning = threading.Lock()


def warn_once(kind: str, message: str) -> None:
    """Log a warning, and no more of its kind in this process: thirty entries may share one fault."""
    with _warning:
        level = logging.DEBUG if kind in _warned else logging.WARNING
        _warned.add(kind)
    _LOG.log(level, "%s", message)


def usable_folder(folder: Path) -> bool:
    """Whether the cache may use a folder, which is made where it is missing, for the user alone."""
    try:
        fault = while_cleared(lambda: _made_fault(folder))
    except OSError as error:
        warn_once("unusable", f"compiling without the cache: {_said(folder, error)}; {_ELSEWHERE}")
        return False
    if fault is not None:
        remedy = f"take that right away (chmod, chown), or {_ELSEWHERE}"
        warn_once("unsafe", f"compiling without the cache in '{folder}': {fault}; {remedy}")
        return False
    return True


def while_cleared(work: Callable[[], _Result]) -> _Result:
    """What `work` gives, which makes the folders that it needs: done again where somebody removes them meanwhile."""
    for _ in range(_CLEARED_TIMES):
        with suppress(FileNotFoundError):
            return work()
    return work()


def read_entry(path: Path) -> bytes | None:
    """The bytes of a file in a usable folder; `None` where there is none that may be used.

    A link, or a file that others may write, is none.
    """
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
    warn_once("entry", f"an entry of the cache is not used: {fault}")
    return None


class Store:
    """The entries of one kind, in subfolders of a folder."""

    def __init__(self, root: Path, suffix: str, limit: int):
        """Entries in `root`, which need not exist, with names that end in `suffix`, of about `limit` bytes at most."""
        self._root, self._suffix, self._limit = root, suffix, limit
        self._size: int | None = None  # unknown until the first write looks
        self._lock = threading.Lock()

    def path(self, key: str) -> Path:
        """The place of an entry, whether it is there or not."""
        return self._root / key[:2] / f"{key}{self._suffix}"

    def read(self, key: str) -> bytes | None:
        """The bytes of an entry, which counts as used now; `None` where there is none."""
        path = self.find(key)
        return None if path is None else read_entry(path)

    def find(self, key: str) -> Path | None:
        """The place of an entry that is there, which counts as used now; `None` where there is none."""
        path = self.path(key)
        try:
            if not self._root.is_dir() or not usable_folder(self._root) or not stat.S_ISREG(path.lstat().st_mode):
                return None
        except OSError:
            return None  # absent, or in a folder that hides it: writing says so
        try:
            os.utime(path, follow_symlinks=False)
        except OSError as error:
            _LOG.debug("cannot mark %s as used: %s", path, error)
        return path

    def write(self, key: str, fill: Callable[[BinaryIO], object]) -> Path | None:
        """Add or replace an entry, which `fill` writes; its place, or `None` where that fails."""
        path = self.path(key)
        if not usable_folder(self._root):
            return None
        try:
            size = while_cleared(lambda: _write(path, fill))
        except OSError as error:
            warn_once("unusable", f"the cache cannot be written: {_said(path.parent, error)}; {_ELSEWHERE}")
            return None
        self._grow(size, path)
        return path

    def drop(self, key: str) -> None:
        """Remove an entry; one that is gone already is fine."""
        _remove(self.path(key))

    def _grow(self, size: int, newest: Path) -> None:
        with self._lock:
            if self._size is not None:
                self._size += size
            if self._size is None or self._size > self._limit:
                self._size = self._evict(newest)

    def _evict(self, newest: Path) -> int:
        """Remove the oldest entries, but never the newest, where the store is too large; its size afterwards."""
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
        """Time of last use, size and path of every entry; what a killed writer left long ago is removed."""
        # `os.walk` passes over folders that another process removes meanwhile, `Path.glob` raises.
        for path in (Path(folder, name) for folder, _, names in os.walk(self._root) for name in names):
            try:
                status = path.lstat()
            except OSError:
                continue  # another process removed it meanwhile
            if path.suffix == self._suffix:
                yield status.st_mtime, status.st_size, path
            elif path.suffix == PARTIAL_SUFFIX and status.st_mtime < time.time() - _PARTIAL_SECONDS:
                _remove(path)


def _write(path: Path, fill: Callable[[BinaryIO], object]) -> int:
    """Writes an entry; its size."""
    _make(path.parent)
    write_file(path, fill, private=True)
    return path.lstat().st_size


def _made_fault(folder: Path) -> str | None:
    """The fault of a folder, which is made where it is missing."""
    _make(folder)
    return folder_fault(folder)


def _make(folder: Path) -> None:
    """Make a folder and those above it that are missing, each for the user alone; `OSError` where that fails."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    if not folder.is_dir():
        if folder.exists():
            raise NotADirectoryError(None, "it is no folder")
        raise FileNotFoundError(None, "somebody removes it")


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _LOG.debug("cannot remove %s: %s", path, error)


def _said(folder: Path, error: OSError) -> str:
    return f"'{folder}': {error.strerror if error.strerror else error}"
