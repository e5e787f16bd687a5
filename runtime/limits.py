"""What a call of a model may take: threads, memory, time."""

from __future__ import annotations

from typing import NamedTuple

from xrelay.errors import ExecutionError, InputError
from xrelay.runtime.abi import Context, Noted


class RunLimits(NamedTuple):
    """Threads, bytes of arena and boxes, and seconds that a run may take; `None`: as much as there is."""

    num_threads: int
    memory: int | None = None
    seconds: float | None = None

    def check_arena(self, size: int, name: str) -> None:
        """`ExecutionError` of the model `name` where an arena of `size` bytes is too large."""
        if self.memory is not None and size > self.memory:
            raise ExecutionError(_too_much(size, self.memory), location=name)

    def box_limit(self, arena_size: int) -> int:
        """The bytes of boxes beside an arena, as a context has them; the smallest box takes more than 1."""
        return 0 if self.memory is None else max(1, self.memory - arena_size)

    def exceeded(self, context: Context, arena_size: int) -> str | None:
        """What a run needed and was allowed, where its boxes met the limit; else `None`."""
        if self.memory is None or context.noted != Noted.BOX or not 0 <= context.number < 1 << 62:
            return None
        if context.low + context.number <= context.high:
            return None
        return _too_much(arena_size + context.low + context.number, self.memory)


def check_memory_limit(limit: object) -> int | None:
    """A limit of memory in bytes; `InputError` unless it is an integer from 0, or `None`."""
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise InputError(f"memory_limit is {limit!r}", help="give a number of bytes, or None")
    return limit


def _too_much(needed: int, limit: int) -> str:
    return f"out of memory: the run needs {needed} bytes, memory_limit is {limit}"
