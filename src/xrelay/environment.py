"""Environment variables: all that xrelay reads are read here and described in docs/environment.md.

They are read when they are needed, so a program may set them after it has imported xrelay. `InputError` names a
variable that has no meaning.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from xrelay.errors import InputError

CACHE: Final = "XRELAY_CACHE"
CACHE_DIR: Final = "XRELAY_CACHE_DIR"
CACHE_LIMIT: Final = "XRELAY_CACHE_LIMIT"
NUM_THREADS: Final = "XRELAY_NUM_THREADS"
WORKERS: Final = "XRELAY_WORKERS"
DEBUG: Final = "XRELAY_DEBUG"
CALL_LIMIT: Final = "XRELAY_CALL_LIMIT"

_MIB: Final = 1 << 20
_DEFAULT_LIMIT_MIB: Final = 4096
_DEFAULT_CALL_LIMIT: Final = 1 << 17
_MAX_DIGITS: Final = 12
_MAX_WORKERS: Final = 64
_OFF: Final = frozenset({"0", "off", "false", "no"})


def cache_is_on() -> bool:
    """Whether compiled code is kept on disk: `XRELAY_CACHE` is not 0, off, false or no."""
    return os.environ.get(CACHE, "").lower() not in _OFF


def cache_folder() -> Path | None:
    """The folder that `XRELAY_CACHE_DIR` names; `None` where it is unset or empty."""
    text = os.environ.get(CACHE_DIR, "")
    return Path(text).absolute() if text else None


def use_cache_folder(folder: Path) -> None:
    """Set `XRELAY_CACHE_DIR` for this process and those it starts."""
    os.environ[CACHE_DIR] = str(folder)


def with_cache_folder(folder: Path) -> dict[str, str]:
    """Returns the environment for a process of its own whose caches are in `folder`."""
    return {**os.environ, CACHE_DIR: str(folder)}


def cache_limit() -> int:
    """The number of bytes that each store of the cache may take: `XRELAY_CACHE_LIMIT` MiB, else 4 GiB."""
    mebibytes = _number(CACHE_LIMIT, "give a whole number of MiB")
    return _MIB * (_DEFAULT_LIMIT_MIB if mebibytes is None else mebibytes)


def num_threads() -> int | None:
    """The number that `XRELAY_NUM_THREADS` gives; `None` where it is unset or empty."""
    return _number(NUM_THREADS, "give a whole number of threads")


def workers() -> int | None:
    """How many processes may help to compile a large model: `XRELAY_WORKERS`; `None` where it is unset or empty."""
    hint = f"give a whole number of processes, at most {_MAX_WORKERS}"
    number = _number(WORKERS, hint)
    if number is not None and number > _MAX_WORKERS:
        raise InputError(f"{WORKERS} is '{number}'", help=hint)
    return number


def call_limit() -> int:
    """How many calls may be open before a recursion is taken for endless: `XRELAY_CALL_LIMIT`, else 131,072."""
    number = _number(CALL_LIMIT, "give a whole number of calls")
    return _DEFAULT_CALL_LIMIT if number is None else number


def debug() -> bool:
    """Whether `XRELAY_DEBUG` is set to anything but 0, off, false or no."""
    return os.environ.get(DEBUG, "").lower() not in {"", *_OFF}


def _number(name: str, hint: str) -> int | None:
    text = os.environ.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise InputError(f"{name} is '{text}'", help=hint)
    return int(text)
