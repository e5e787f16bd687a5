"""Compiled things on disk, by content: object code of modules, and saved models.

The folder is `XRELAY_CACHE_DIR`, or the user's cache folder; `XRELAY_CACHE=0` turns both caches off and
`XRELAY_CACHE_LIMIT` sets the size in MiB that each may take. Entries appear by an atomic rename, so processes share a
folder without locks; when a store outgrows its limit the entries unused for longest go. A cache never fails a
compilation: an entry that is damaged or a folder that cannot be written is a miss.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import platformdirs

from xrelay.errors import InputError
from xrelay.runtime import llvm
from xrelay.runtime.abi import ABI_VERSION

_LOG: Final = logging.getLogger(__name__)
_MAGIC: Final = b"xrelay object 1\n"
_DIGEST_BYTES: Final = 32
_MIB: Final = 1 << 20
_DEFAULT_LIMIT_MIB: Final = 4096
_PARTIAL: Final = ".part"
_PARTIAL_SECONDS: Final = 3600.0
_KEPT_SHARE: Final = 0.8  # evicting down to less than the limit makes evictions rare


def content_key(parts: Iterable[str | bytes]) -> str:
    """A key for content: equal sequences of parts, and only those, have equal keys."""
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def object_key(ir_text: str, *, cpu: str, features: str, opt_level: int) -> str:
    """The key of the object code of LLVM IR text: everything that decides its bytes."""
    triple = llvm.binding().get_default_triple()
    return content_key((ir_text, cpu, features, str(opt_level), triple, llvm.version(), str(ABI_VERSION)))


def cache_root() -> Path | None:
    """The folder of the caches; `None` where the environment turns them off."""
    if os.environ.get("XRELAY_CACHE", "1").lower() in ("0", "off", "false", "no"):
        return None
    folder = os.environ.get("XRELAY_CACHE_DIR", "")
    return Path(folder) if folder else Path(platformdirs.user_cache_dir("xrelay"))


def cache_limit() -> int:
    """How many bytes each store may take; `InputError` where `XRELAY_CACHE_LIMIT` is not a number of MiB."""
    text = os.environ.get("XRELAY_CACHE_LIMIT", str(_DEFAULT_LIMIT_MIB))
    if not text.isdecimal():
        raise InputError(f"XRELAY_CACHE_LIMIT is '{text}'", help="give a whole number of MiB")
    return int(text) * _MIB


class _Store:
    """A folder of files named by key, bounded in size, evicting what was unused for longest."""

    def __init__(self, root: Path, suffix: str, limit: int):
        self._root, self._suffix, self._limit = root, suffix, limit
        self._size: int | None = None  # unknown until the first write looks
        self._lock = threading.Lock()

    def path(self, key: str) -> Path:
        """Where an entry lies or would lie."""
        return self._root / key[:2] / f"{key}{self._suffix}"

    def touch(self, path: Path) -> None:
        """Mark an entry as used now."""
        try:
            os.utime(path)
        except OSError as error:
            _LOG.debug("cannot mark %s as used: %s", path, error)

    def write(self, key: str, fill: Callable[[Path], None]) -> Path | None:
        """Add or replace an entry: `fill` writes a temporary file that is then renamed. `None` where that fails."""
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".", suffix=_PARTIAL, dir=path.parent)
            os.close(handle)
            try:
                fill(Path(name))
                size = os.stat(name).st_size
                os.replace(name, path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError as error:
            _LOG.warning("the cache at %s cannot be written: %s", self._root, error)
            return None
        self._grow(size, path)
        return path

    def drop(self, path: Path) -> None:
        """Remove an entry; one that is gone already is fine."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            _LOG.debug("cannot remove %s: %s", path, error)

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
                self.drop(path)
                total -= size
        return total

    def _entries(self) -> list[tuple[float, int, Path]]:
        """Time of last use, size and path of every entry."""
        found: list[tuple[float, int, Path]] = []
        for path in self._root.glob("*/*"):
            try:
                status = path.stat()
            except OSError:
                continue  # another process removed it meanwhile
            if path.suffix == self._suffix:
                found.append((status.st_mtime, status.st_size, path))
            elif path.suffix == _PARTIAL and status.st_mtime < time.time() - _PARTIAL_SECONDS:
                self.drop(path)  # its writer was killed
        return found


class ObjectCache:
    """Object code on disk. Each entry carries a digest of its bytes, so damage is found before code is run."""

    def __init__(self, root: Path, limit: int):
        """A cache in a folder of its own (`root` need not exist), of at most about `limit` bytes."""
        self._store = _Store(root, ".o", limit)

    @staticmethod
    def default() -> ObjectCache | None:
        """The user's cache; `None` where the environment turns caches off."""
        root = cache_root()
        return None if root is None else ObjectCache(root / "objects", cache_limit())

    def path(self, key: str) -> Path:
        """Where the entry of a key lies or would lie."""
        return self._store.path(key)

    def get(self, key: str) -> bytes | None:
        """The object code of a key; `None` where there is none or it is damaged (then it is removed)."""
        path = self._store.path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        head, body = data[: len(_MAGIC) + _DIGEST_BYTES], data[len(_MAGIC) + _DIGEST_BYTES :]
        if head != _MAGIC + _digest(body):
            _LOG.warning("the cache entry %s is damaged; it is compiled again", path)
            self._store.drop(path)
            return None
        self._store.touch(path)
        return body

    def put(self, key: str, code: bytes) -> None:
        """Store object code under a key."""
        data = _MAGIC + _digest(code) + code
        self._store.write(key, lambda path: _write(path, data))


class ModelCache:
    """Saved models on disk: from a key (see `content_key`) to the file of an artifact."""

    def __init__(self, root: Path, limit: int):
        """A cache in a folder of its own (`root` need not exist), of at most about `limit` bytes."""
        self._store = _Store(root, ".xrelay", limit)

    @staticmethod
    def default() -> ModelCache | None:
        """The user's cache; `None` where the environment turns caches off."""
        root = cache_root()
        return None if root is None else ModelCache(root / "models", cache_limit())

    def get(self, key: str) -> Path | None:
        """The file of a key, or `None`. Loading it may still raise `ArtifactError`: then `drop` the key and compile."""
        path = self._store.path(key)
        if not path.is_file():
            return None
        self._store.touch(path)
        return path

    def put(self, key: str, save: Callable[[Path], None]) -> Path | None:
        """Store the file that `save` writes to the path it is given; the entry's path, `None` where that failed."""
        return self._store.write(key, save)

    def drop(self, key: str) -> None:
        """Forget a key."""
        self._store.drop(self._store.path(key))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
