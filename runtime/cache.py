"""Compiled things on disk, by content: object code of modules, and saved models.

`xrelay.environment` says where and how large; the user's cache folder is the default. A cache never fails a
compilation: an entry that is damaged, or one of another key put in its place, or a folder that cannot be used
(see `cache_store`) is a miss.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from xrelay import environment
from xrelay.runtime import llvm
from xrelay.runtime.abi import ABI_VERSION
from xrelay.runtime.cache_store import Store, warn_once
from xrelay.runtime.digests import content_key

_MAGIC: Final = b"xrelay object 2\n"
_DIGEST_BYTES: Final = 32


def object_key(ir_text: str, *, cpu: str, features: str, opt_level: int) -> str:
    """The key of the object code of LLVM IR text: everything that decides its bytes."""
    triple = llvm.binding().get_default_triple()
    return content_key((ir_text, cpu, features, str(opt_level), triple, llvm.version(), str(ABI_VERSION)))


def cache_root() -> Path | None:
    """The folder of the caches; `None` where the environment turns them off, or the user has no home."""
    if not environment.cache_is_on():
        return None
    try:
        given = environment.cache_folder()
    except FileNotFoundError:
        warn_once("unusable", "compiling without the cache: XRELAY_CACHE_DIR is relative to a folder that is removed")
        return None
    if given is not None:
        return given
    import platformdirs  # which a folder that is given spares

    with contextlib.suppress(RuntimeError):  # raised by some versions of platformdirs, others give '~/.cache'
        folder = Path(platformdirs.user_cache_dir("xrelay"))
        if folder.is_absolute():
            return folder
    warn_once("homeless", "compiling without the cache: the user has no home folder; set HOME or XRELAY_CACHE_DIR")
    return None


class ObjectCache:
    """Object code on disk. Each entry carries a digest of its bytes, so damage is found before code is run."""

    def __init__(self, root: Path, limit: int):
        """A cache in a folder of its own (`root` need not exist), of at most about `limit` bytes."""
        self._store = Store(root, ".o", limit)

    @staticmethod
    def default(folder: str = "objects") -> ObjectCache | None:
        """The user's cache in a folder of its own; `None` where the environment turns caches off."""
        root = cache_root()
        return None if root is None else ObjectCache(root / folder, environment.cache_limit())

    def path(self, key: str) -> Path:
        """The place of the entry of a key, whether it is there or not."""
        return self._store.path(key)

    def get(self, key: str) -> bytes | None:
        """The object code of a key; `None` where there is none or it is damaged (then it is removed)."""
        data = self._store.read(key)
        if data is None:
            return None
        head, code = data[: len(_MAGIC) + _DIGEST_BYTES], data[len(_MAGIC) + _DIGEST_BYTES :]
        if head != _head(key, code):
            warn_damaged(self._store.path(key), "it is not what was written under its key")
            self._store.drop(key)
            return None
        return code

    def put(self, key: str, code: bytes) -> None:
        """Store object code under a key."""

        def fill(file: BinaryIO) -> None:
            file.write(_head(key, code))
            file.write(code)

        self._store.write(key, fill)


class ModelCache:
    """Saved models on disk: from a key (see `content_key`) to the file of an artifact."""

    def __init__(self, root: Path, limit: int):
        """A cache in a folder of its own (`root` need not exist), of at most about `limit` bytes."""
        self._store = Store(root, ".xrelay", limit)

    @staticmethod
    def default() -> ModelCache | None:
        """The user's cache; `None` where the environment turns caches off."""
        root = cache_root()
        return None if root is None else ModelCache(root / "models", environment.cache_limit())

    def get(self, key: str) -> Path | None:
        """The file of a key, or `None`. Loading it may still raise `ArtifactError`: then `drop` the key and compile."""
        return self._store.find(key)

    def put(self, key: str, fill: Callable[[BinaryIO], object]) -> Path | None:
        """Store the file that `fill` writes; the entry's path, `None` where that failed."""
        return self._store.write(key, fill)

    def drop(self, key: str, reason: str) -> None:
        """Remove the entry of a key, and warn of the reason; one that somebody removed meanwhile is no damage."""
        if os.path.lexists(self._store.path(key)):
            warn_damaged(self._store.path(key), reason)
            self._store.drop(key)


def warn_damaged(path: Path, reason: str) -> None:
    """Warn of a damaged entry, once in a process."""
    warn_once(
        "damaged", f"the cache in '{path.parents[1]}' is damaged, and what is damaged is compiled again: {reason}"
    )


def _head(key: str, code: bytes) -> bytes:
    """The head of a file with object code: a digest of the key and the code."""
    return _MAGIC + hashlib.blake2b(key.encode() + b"\0" + code, digest_size=_DIGEST_BYTES).digest()
