"""The memory that a call of a model needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from xrelay.errors import ExecutionError, InputError
from xrelay.runtime.abi import Context, ContextWord

BESIDE_ARENA: Final = ("dynamic_buffers", "kernels", "each_thread")
"""The fields of `MemoryNeeds` whose values follow the extents of outputs in the result of `xrelay_plan`."""


@dataclass(frozen=True, slots=True)
class MemoryNeeds:
    """Upper bounds of the bytes that a call allocates, without inputs, outputs of static shape and weights.

    With `memory_limit` equal to `peak`, a call runs out of memory only if it allocates objects that `not_counted`
    names.
    """

    arena: int
    """The arena, which is laid out before a call begins and reused by the next one."""
    dynamic_buffers: int = 0
    """The peak size of the dynamic buffers whose size is bounded by the sizes of the inputs."""
    kernels: int = 0
    """The maximum that a kernel allocates once, independent of the number of threads."""
    each_thread: int = 0
    """The maximum that each thread of a kernel allocates, such as a row of dynamic length."""
    threads: int = 1
    """The number of threads that a call may use."""
    not_counted: tuple[str, ...] = ()
    """Descriptions of further allocations of a call, which have no upper bound."""

    @property
    def peak(self) -> int:
        """The sum of all parts in bytes."""
        return self.arena + self.dynamic_buffers + self.kernels + self.threads * self.each_thread

    def __str__(self) -> str:
        parts = [f"arena {self.arena}"]
        parts += [
            f"{name} {size}"
            for name, size in (("dynamic buffers", self.dynamic_buffers), ("kernels", self.kernels))
            if size
        ]
        if self.each_thread:
            parts.append(f"each of {self.threads} threads {self.each_thread}")
        more = f"; not counted: {', '.join(self.not_counted)}" if self.not_counted else ""
        return f"{self.peak} bytes at most ({', '.join(parts)}){more}"


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

        It is at least 1, since 0 means no limit, and no buffer has one byte.
        """
        return 0 if self.memory is None else max(1, self.memory - arena_size)

    def exceeded(self, context: Context, arena_size: int) -> str | None:
        """Returns the message for a run that exceeded the memory limit, or `None`."""
        if self.memory is None or context.noted != ContextWord.BUFFER or not 0 <= context.number < 1 << 62:
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
