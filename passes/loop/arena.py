"""Places buffers in one arena: computes offsets from lifetimes. Plain integers, no IR.

The method is a sweep over time with a best-fit free list, like a memory allocator that has all requests in advance. At
each step the buffers that start there are placed, largest first, into the smallest free range that holds them; the
ranges of buffers that end there are freed afterwards and merged with their neighbours. If no range fits, the arena
grows; a free range at its end is extended. With n buffers this takes O(n log n) comparisons. The offsets are not
minimal (that problem is NP-hard), but the arena is never larger than the sum of the buffers.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Lifetime:
    """A request for `size` bytes from step `first` to step `last`, both included."""

    size: int
    first: int
    last: int


@dataclass(frozen=True)
class ArenaPlan:
    """`offsets[i]` is the offset of request `i`; the arena has `size` bytes."""

    offsets: tuple[int, ...]
    size: int


@dataclass
class _FreeList:
    """The free ranges of a growing arena; sizes are multiples of the alignment."""

    end: int = 0
    by_size: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    size_at: dict[int, int] = field(default_factory=dict[int, int])
    begin_of_end: dict[int, int] = field(default_factory=dict[int, int])

    def _add(self, begin: int, size: int) -> None:
        insort(self.by_size, (size, begin))
        self.size_at[begin] = size
        self.begin_of_end[begin + size] = begin

    def _remove(self, begin: int) -> int:
        size = self.size_at.pop(begin)
        del self.begin_of_end[begin + size]
        del self.by_size[bisect_left(self.by_size, (size, begin))]
        return size

    def allocate(self, size: int) -> int:
        """Returns the offset of a range of `size` bytes: the smallest free range that holds it, or bytes at the end."""
        found = bisect_left(self.by_size, (size, 0))
        if found < len(self.by_size):
            begin = self.by_size[found][1]
            if rest := self._remove(begin) - size:
                self._add(begin + size, rest)
            return begin
        begin = self.begin_of_end.get(self.end, self.end)
        if begin != self.end:
            self._remove(begin)
        self.end = begin + size
        return begin

    def release(self, begin: int, size: int) -> None:
        """Frees a range and merges it with free neighbours."""
        if begin + size in self.size_at:
            size += self._remove(begin + size)
        if begin in self.begin_of_end:
            before = self.begin_of_end[begin]
            size += self._remove(before)
            begin = before
        self._add(begin, size)


def assign_offsets(lifetimes: Sequence[Lifetime], alignment: int = 64) -> ArenaPlan:
    """Returns offsets, multiples of `alignment`, such that requests alive at the same step never overlap.

    A request of zero bytes gets an offset but no memory. Steps may be any integers; `first <= last` is required of each
    request, and `alignment >= 1`.
    """
    room = [-(-life.size // alignment) * alignment for life in lifetimes]
    order = sorted(range(len(lifetimes)), key=lambda i: (lifetimes[i].first, -room[i], i))
    ends = sorted(range(len(lifetimes)), key=lambda i: lifetimes[i].last)
    offsets = [0] * len(lifetimes)
    free = _FreeList()
    freed = 0
    for i in order:
        while lifetimes[ends[freed]].last < lifetimes[i].first:
            if room[ends[freed]]:
                free.release(offsets[ends[freed]], room[ends[freed]])
            freed += 1
        if room[i]:
            offsets[i] = free.allocate(room[i])
    return ArenaPlan(tuple(offsets), free.end)
