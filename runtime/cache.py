"""The cache on disk: object code and saved models, by content.

`xrelay.environment` determines its place and size limit; the default is the user's cache folder. A fault of the cache
never fails a compilation: an entry that is damaged or belongs to another key, and a folder that cannot be used (see
`cache_store`), count as misses.
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
    """Returns the key of the object code of LLVM IR text: everything that affects its bytes."""
    triple = llvm.binding().get_default_triple()
    return content_key((ir_text, cpu, features, str(opt_level), triple, llvm.version(), str(ABI_VERSION)))


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
    return _MAGIC + hashlib.blake2b(key.encode() + b"\0" + code, digest_size=_DIGEST_BYTES).digest()
