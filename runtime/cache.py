"""The cache on disk: object code and saved models under keys derived from their content.

`xrelay.environment` determines its place and size limit; the default is the user's cache folder. A fault of the cache
never fails a compilation: an entry that is damaged or belongs to another key, and a folder that cannot be used (see
`Store`), count as misses.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from xrelay import environment
from xrelay.runtime import llvm
from xrelay.runtime.abi import ABI_VERSION
from xrelay.runtime.digests import blake2b, content_key
from xrelay.runtime.files import PARTIAL_SUFFIX, open_regular, read_bytes, write_file
from xrelay.runtime.trust import file_fault, folder_fault

_LOG: Final = logging.getLogger(__name__)
_PRIVATE_FOLDER: Final = 0o700
_PARTIAL_SECONDS: Final = 3600.0
_MARKED_SECONDS: Final = 86400.0
"""The age of the mark of a used entry from which on it is set again."""
_SHARE_AFTER_EVICTION: Final = 0.8  # an eviction goes below the limit, so that evictions are rare
_FOLDER_HELP: Final = "set XRELAY_CACHE_DIR to a folder that you own, or set XRELAY_CACHE=0"

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
        fault = while_cleared(lambda: _creation_fault(folder))
    except OSError as error:
        warn_once("unusable", f"compiling without the cache: {_description(folder, error)}; {_FOLDER_HELP}")
        return False
    if fault is not None:
        remedy = f"remove the write access of other users (chmod, chown), or {_FOLDER_HELP}"
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
        """Returns the path of an entry and marks it as used; `None` if it does not exist.

        A mark changes the status of the file, after which its weights are checked again, so it is set once a day.
        """
        path = self.path(key)
        try:
            if not self._root.is_dir() or not usable_folder(self._root):
                return None
            status = path.lstat()
        except OSError:
            return None  # absent, or in an inaccessible folder, which the next write reports
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_mtime < time.time() - _MARKED_SECONDS:
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
            warn_once("unusable", f"the cache cannot be written: {_description(path.parent, error)}; {_FOLDER_HELP}")
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
        while entries and total > self._limit * _SHARE_AFTER_EVICTION:
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


def _creation_fault(folder: Path) -> str | None:
    """Creates a folder if it is missing; returns the reason why it cannot be used, or None."""
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
        raise FileNotFoundError(None, "another process keeps removing it")


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _LOG.debug("cannot remove %s: %s", path, error)


def _description(folder: Path, error: OSError) -> str:
    return f"'{folder}': {error.strerror if error.strerror else error}"


_MAGIC: Final = b"xrelay object 2\n"
_DIGEST_BYTES: Final = 32


def object_key(ir_text: str, *, cpu: str, features: str, opt_level: int) -> str:
    """Returns the key of the object code of LLVM IR text: everything that affects its bytes."""
    machine = f"{sys.platform} {platform.machine()}"
    return content_key((ir_text, cpu, features, str(opt_level), machine, llvm.package_text(), str(ABI_VERSION)))


def cache_root() -> Path | None:
    """Returns the folder of the caches; `None` if the environment disables them, or the user has no home folder."""
    if not environment.cache_is_on():
        return None
    try:
        given = environment.cache_folder()
    except FileNotFoundError:
        warn_once(
            "unusable",
            "compiling without the cache: XRELAY_CACHE_DIR is relative, and the working directory was removed",
        )
        return None
    if given is not None:
        return given
    import platformdirs  # not needed if a folder is given

    with contextlib.suppress(RuntimeError):  # some versions of platformdirs raise it, others return '~/.cache'
        folder = Path(platformdirs.user_cache_dir("xrelay"))
        if folder.is_absolute():
            return folder
    warn_once("homeless", "compiling without the cache: the user has no home folder; set HOME or XRELAY_CACHE_DIR")
    return None


class ObjectCache:
    """Object code on disk. Each entry has a digest of its bytes, so damage is found before the code runs."""

    def __init__(self, root: Path, limit: int):
        """Creates a cache in `root`, which need not exist, of about `limit` bytes at most."""
        self._store = Store(root, ".o", limit)

    @staticmethod
    def default(folder: str = "objects") -> ObjectCache | None:
        """Returns the user's cache in this folder; `None` if the environment disables caches."""
        root = cache_root()
        return None if root is None else ObjectCache(root / folder, environment.cache_limit())

    def path(self, key: str) -> Path:
        """Returns the path of the entry of a key, whether it exists or not."""
        return self._store.path(key)

    def get(self, key: str) -> bytes | None:
        """Returns the object code of a key, or `None`. A damaged entry is removed."""
        data = self._store.read(key)
        if data is None:
            return None
        head, code = data[: len(_MAGIC) + _DIGEST_BYTES], data[len(_MAGIC) + _DIGEST_BYTES :]
        if head != _head(key, code):
            warn_damaged(self._store.path(key), "its content does not match its key")
            self._store.drop(key)
            return None
        return code

    def put(self, key: str, code: bytes) -> None:
        """Stores object code under a key."""

        def fill(file: BinaryIO) -> None:
            file.write(_head(key, code))
            file.write(code)

        self._store.write(key, fill)


class ModelCache:
    """Saved models on disk: maps a key (see `content_key`) to the file of an artifact."""

    def __init__(self, root: Path, limit: int):
        """Creates a cache in `root`, which need not exist, of about `limit` bytes at most."""
        self._store = Store(root, ".xrelay", limit)

    @staticmethod
    def default() -> ModelCache | None:
        """Returns the user's cache; `None` if the environment disables caches."""
        root = cache_root()
        return None if root is None else ModelCache(root / "models", environment.cache_limit())

    def get(self, key: str) -> Path | None:
        """Returns the file of a key, or `None`. If loading it raises `ArtifactError`, `drop` the key and compile."""
        return self._store.find(key)

    def put(self, key: str, fill: Callable[[BinaryIO], object]) -> Path | None:
        """Stores the file that `fill` writes; returns its path, or `None` on failure."""
        return self._store.write(key, fill)

    def drop(self, key: str, reason: str) -> None:
        """Removes the entry of a key and warns of the reason, unless another process has removed it."""
        if os.path.lexists(self._store.path(key)):
            warn_damaged(self._store.path(key), reason)
            self._store.drop(key)


def warn_damaged(path: Path, reason: str) -> None:
    """Warns of a damaged entry, once per process."""
    warn_once(
        "damaged", f"the cache in '{path.parents[1]}' is damaged; the damaged entries are compiled again: {reason}"
    )


def _head(key: str, code: bytes) -> bytes:
    """Returns the head of a file of object code: a digest of the key and the code."""
    return _MAGIC + blake2b(key.encode() + b"\0" + code, digest_size=_DIGEST_BYTES).digest()


_MAX_LINES: Final = 1000
_SETTLED_NANOSECONDS: Final = 2_000_000_000
"""The age in nanoseconds below which a file may change again without a new timestamp."""


def file_mark(status: os.stat_result, details: Sequence[str] = ()) -> str:
    """Returns a digest of a file's status, which identifies its content, and of `details`."""
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
        """Records a value, a text without blanks, for a mark, if there is a cache.

        The mark must be computed from the `steady_status` before the content was read, and the file must still have
        this status.
        """
        root = cache_root()
        if root is None or not usable_folder(root):
            return
        path, lines = root / self._name, self._lines(root)
        lines.pop(mark, None)
        kept = [*list(lines.items())[-_MAX_LINES + 1 :], (mark, value)]
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
