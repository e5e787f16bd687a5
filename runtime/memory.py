"""The memory that a call of a model needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BESIDE_ARENA: Final = ("dynamic_buffers", "kernels", "each_thread")
"""The sizes that a plan has after the extents of outputs: fields of `MemoryNeeds`."""


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
    """The maximum that a kernel allocates once, whatever the number of threads."""
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
