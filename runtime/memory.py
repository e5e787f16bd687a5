"""What a call of a model needs of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BESIDE_ARENA: Final = ("boxes", "kernels", "each_thread")
"""What a plan tells behind the extents of outputs: fields of `MemoryNeeds`."""


@dataclass(frozen=True, slots=True)
class MemoryNeeds:
    """The bytes that a call takes beside inputs, outputs of known extents and weights: upper bounds, for certain sizes.

    A call whose `memory_limit` is `peak` is not short of memory unless it makes what `not_counted` names.
    """

    arena: int
    """What is laid out before a call begins, and kept for the next one."""
    boxes: int = 0
    """The most at a time for buffers whose extents the run makes: those that are bounded by the sizes of the inputs."""
    kernels: int = 0
    """The most that a kernel allocates once, whatever the number of threads."""
    each_thread: int = 0
    """The most that each thread of a kernel allocates for itself, such as a row whose length the sizes tell."""
    threads: int = 1
    """The number of threads that a call may use."""
    not_counted: tuple[str, ...] = ()
    """What a call may allocate besides, in words: nothing that is known before tells how much that is."""

    @property
    def peak(self) -> int:
        """The bytes of all parts together."""
        return self.arena + self.boxes + self.kernels + self.threads * self.each_thread

    def __str__(self) -> str:
        parts = [f"arena {self.arena}"]
        parts += [f"{name} {size}" for name, size in (("boxes", self.boxes), ("kernels", self.kernels)) if size]
        if self.each_thread:
            parts.append(f"each of {self.threads} threads {self.each_thread}")
        more = f"; not counted: {', '.join(self.not_counted)}" if self.not_counted else ""
        return f"{self.peak} bytes at most ({', '.join(parts)}){more}"
