"""The limits of a call of a model: threads, memory, time."""

from __future__ import annotations

from typing import NamedTuple

from xrelay.errors import ExecutionError, InputError
from xrelay.runtime.abi import Context, Noted


class RunLimits(NamedTuple):
    """The threads, bytes of memory, and seconds that a run may use; `None` is no limit."""

    num_threads: int
    memory: int | None = None
    seconds: float | None = None

    def check_arena(self, size: int, name: str) -> None:
        """Raises `ExecutionError` for the model `name` if an arena of `size` bytes is too large."""
        if self.memory is not None and size > self.memory:
            raise ExecutionError(_too_much(size, self.memory), location=name)

    def buffer_limit(self, arena_size: int) -> int:
        """Returns the limit for dynamic buffers in a context.

        It is at least 1, as 0 is no limit; no buffer is that small.
        """
        return 0 if self.memory is None else max(1, self.memory - arena_size)

    def exceeded(self, context: Context, arena_size: int) -> str | None:
        """Returns the message for a run that exceeded the memory limit, or `None`."""
        if self.memory is None or context.noted != Noted.BUFFER or not 0 <= context.number < 1 << 62:
            return None
        if context.low + context.number <= context.high:
            return None
        return _too_much(arena_size + context.low + context.number, self.memory)


def check_memory_limit(limit: object) -> int | None:
    """Returns a memory limit in bytes. Raises `InputError` unless it is a non-negative integer or `None`."""
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise InputError(f"memory_limit is {limit!r}", help="pass a number of bytes, or None")
    return limit


def _too_much(needed: int, limit: int) -> str:
    return f"out of memory: the run needs {needed} bytes, memory_limit is {limit}"
