"""Reports a shortage of memory, which Python, numpy and LLVM signal in many ways, as one error.

Besides `MemoryError` there are OS errors, imports whose libraries cannot be mapped, threads without a stack, and
exceptions that CPython had no memory to create. LLVM and OpenBLAS abort the process, so memory is checked beforehand.
"""

from __future__ import annotations

import mmap
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from xrelay.errors import OutOfMemoryError, XRelayError, one_line

NUMPY: Final = 256 << 20
"""The bytes of address space needed to import numpy; without them OpenBLAS aborts the process."""
LLVM: Final = 32 << 20
"""The bytes that LLVM may need for a kernel; without them it aborts the process."""

_SIGNS: Final = (
    "cannot allocate memory",
    "failed to map segment",
    "can't start new thread",
    "bad_alloc",
    "without exception set",
    "without setting an exception",
)
_HELP: Final = "close other programs, or raise the memory limit (ulimit -v)"


def shortage_of(error: BaseException) -> OutOfMemoryError | None:
    """Returns the error to raise for an error caused by a shortage of memory or threads; `None` for any other error."""
    cause: BaseException | None = error
    while cause is not None:
        text = one_line(str(cause))
        if isinstance(cause, MemoryError) or any(sign in text.lower() for sign in _SIGNS):
            return OutOfMemoryError(f"out of memory: {type(cause).__name__}{': ' if text else ''}{text}", help=_HELP)
        cause = cause.__cause__ if cause.__cause__ is not None else cause.__context__
    return None


@contextmanager
def reporting_shortage() -> Generator[None]:
    """Converts errors that a shortage caused to `OutOfMemoryError`, except those of the project."""
    try:
        yield
    except XRelayError:
        raise
    except Exception as error:
        found = shortage_of(error)
        if found is None:
            raise
        raise found from error


def check_memory(size: int, purpose: str) -> None:
    """Raises `OutOfMemoryError` unless `size` bytes can be allocated; they are freed at once."""
    try:
        mmap.mmap(-1, size).close()
    except (OSError, MemoryError) as error:
        raise OutOfMemoryError(f"out of memory: {purpose} needs {size >> 20} MiB", help=_HELP) from error
