"""Places buffers in one arena if their sizes are known only at run time. No IR.

A size is a known number of bytes times a unit, a value that is computed at run time. Buffers of one unit are placed
like buffers of known size (`arena.py`), as if the unit were 1; the result is a region of the arena whose size scales
with the unit. Regions that are not alive at the same time share a slot, which has the size of the largest. The arena is
the sequence of its slots.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, TypeVar

from xrelay.passes.loop.arena import Lifetime, assign_offsets

_Unit = TypeVar("_Unit", bound=Hashable)


@dataclass(frozen=True)
class Request(Generic[_Unit]):
    """A buffer of `size` times `unit` bytes from step `first` to step `last`, both included.

    Its offset is a multiple of `grain` times `unit`; all requests of one unit have the same grain.
    """

    unit: _Unit
    size: int
    first: int
    last: int
    grain: int = 1


@dataclass(frozen=True)
class Region(Generic[_Unit]):
    """`size` times `unit` bytes in a slot of the arena, alive from step `first` to `last`."""

    unit: _Unit
    size: int
    first: int
    last: int
    slot: int


@dataclass(frozen=True)
class RegionPlan(Generic[_Unit]):
    """`places[i]` is the region of request `i` and its offset there, which is multiplied by the unit."""

    regions: tuple[Region[_Unit], ...]
    places: tuple[tuple[int, int], ...]

    @property
    def slots(self) -> list[list[Region[_Unit]]]:
        """The regions of each slot, in the order of the slots."""
        found: list[list[Region[_Unit]]] = [
            [] for _ in range(max((region.slot + 1 for region in self.regions), default=0))
        ]
        for region in self.regions:
            found[region.slot].append(region)
        return found


def plan_regions(requests: Sequence[Request[_Unit]]) -> RegionPlan[_Unit]:
    """Returns a plan in which requests alive at the same step never overlap.

    With n requests this takes O(n log n) comparisons. `first <= last` is required of each request.
    """
    members: dict[_Unit, list[int]] = {}
    for number, request in enumerate(requests):
        members.setdefault(request.unit, []).append(number)
    places: list[tuple[int, int]] = [(0, 0)] * len(requests)
    sizes: list[int] = []
    for region, numbers in enumerate(members.values()):
        plan = assign_offsets([_lifetime(requests[number]) for number in numbers], requests[numbers[0]].grain)
        sizes.append(plan.size)
        for number, offset in zip(numbers, plan.offsets, strict=True):
            places[number] = (region, offset)
    spans = [
        (min(requests[number].first for number in numbers), max(requests[number].last for number in numbers))
        for numbers in members.values()
    ]
    rows = zip(members, sizes, spans, _slots(spans), strict=True)
    return RegionPlan(tuple(Region(unit, size, *span, slot) for unit, size, span, slot in rows), tuple(places))


def _lifetime(request: Request[_Unit]) -> Lifetime:
    return Lifetime(request.size, request.first, request.last)


def _slots(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Assigns slots to spans such that overlapping spans have different slots, with as few slots as possible."""
    slots = [0] * len(spans)
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    count = 0
    for number in sorted(range(len(spans)), key=lambda n: spans[n]):
        first, last = spans[number]
        while busy and busy[0][0] < first:
            free.append(heappop(busy)[1])
        if not free:
            free.append(count)
            count += 1
        slots[number] = free.pop()
        heappush(busy, (last, slots[number]))
    return slots
