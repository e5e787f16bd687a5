"""The environment variables that xrelay reads, described in docs/environment.md.

Each is read when it is used, so a program may set it after importing xrelay. An invalid value raises an `InputError`
that names the variable.
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
SPECIALIZE: Final = "XRELAY_SPECIALIZE"
DEBUG: Final = "XRELAY_DEBUG"
PERF_MAP: Final = "XRELAY_PERF_MAP"
CALL_LIMIT: Final = "XRELAY_CALL_LIMIT"

_MIB: Final = 1 << 20
_DEFAULT_LIMIT_MIB: Final = 4096
_DEFAULT_CALL_LIMIT: Final = 1 << 17
_MAX_DIGITS: Final = 12
_MAX_WORKERS: Final = 64
_OFF: Final = frozenset({"0", "off", "false", "no"})


def cache_is_on() -> bool:
    """Whether compiled code is cached on disk: `XRELAY_CACHE` is not 0, off, false or no."""
    return os.environ.get(CACHE, "").lower() not in _OFF


def cache_folder() -> Path | None:
    """Returns the folder in `XRELAY_CACHE_DIR`; `None` if it is unset or empty."""
    text = os.environ.get(CACHE_DIR, "")
    return Path(text).absolute() if text else None


def use_cache_folder(folder: Path) -> None:
    """Sets `XRELAY_CACHE_DIR` for this process and its future child processes."""
    os.environ[CACHE_DIR] = str(folder)


def with_cache_folder(folder: Path) -> dict[str, str]:
    """Returns a copy of the environment for a child process that caches in `folder`."""
    return {**os.environ, CACHE_DIR: str(folder)}


def with_one_thread() -> dict[str, str]:
    """Returns a copy of the environment for a child process that compiles in one thread, without workers."""
    return {**os.environ, NUM_THREADS: "1", WORKERS: "0"}


def cache_limit() -> int:
    """Returns the size limit of each store of the cache in bytes: `XRELAY_CACHE_LIMIT` MiB, or 4 GiB by default."""
    mebibytes = _number(CACHE_LIMIT, "set a number of MiB")
    return _MIB * (_DEFAULT_LIMIT_MIB if mebibytes is None else mebibytes)


def num_threads() -> int | None:
    """Returns the number in `XRELAY_NUM_THREADS`; `None` if it is unset or empty."""
    return _number(NUM_THREADS, "set a number of threads")


def workers() -> int | None:
    """Returns the maximum number of compile workers for a large model, `XRELAY_WORKERS`; `None` if unset or empty."""
    hint = f"set a number of processes, at most {_MAX_WORKERS}"
    number = _number(WORKERS, hint)
    if number is not None and number > _MAX_WORKERS:
        raise InputError(f"{WORKERS} is '{number}'", help=hint)
    return number


def specialize_is_on() -> bool:
    """Whether models compile versions for sizes of their runs: `XRELAY_SPECIALIZE` is not 0, off, false or no."""
    return os.environ.get(SPECIALIZE, "").lower() not in _OFF


def call_limit() -> int:
    """Returns the maximum depth of nested calls, `XRELAY_CALL_LIMIT`, or 131,072 by default."""
    number = _number(CALL_LIMIT, "set a number of calls")
    return _DEFAULT_CALL_LIMIT if number is None else number


def debug() -> bool:
    """Whether `XRELAY_DEBUG` is set to anything but 0, off, false or no."""
    return _is_set(DEBUG)


def perf_map() -> bool:
    """Whether loaded code is added to `/tmp/perf-PID.map`: `XRELAY_PERF_MAP` is set, not to 0, off, false or no."""
    return _is_set(PERF_MAP)


def _is_set(name: str) -> bool:
    return os.environ.get(name, "").lower() not in {"", *_OFF}


def _number(name: str, hint: str) -> int | None:
    text = os.environ.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise InputError(f"{name} is '{text}'", help=hint)
    return int(text)
