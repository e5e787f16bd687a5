"""Places buffers in one arena: computes offsets from lifetimes, as numbers or as code.

Buffers of known size are placed by a sweep over time with a best-fit free list, like a memory allocator that knows all
requests in advance. At each step the buffers that start there are placed, largest first, into the smallest free range
that holds them; the ranges of buffers that end there are freed afterwards and merged with their neighbours. If no range
fits, the arena grows; a free range at its end is extended. With n buffers this takes O(n log n) comparisons. The
offsets are not minimal (that problem is NP-hard), but the arena is never larger than the sum of the buffers.

In an `@main` that binds names, offsets are computed at run time from the values of the names. The size of a buffer is
then a constant number of bytes times its *unit*, the product of its dynamic extents. The number is rounded up to the
alignment; if it is so small that this would waste memory, the unit is rounded up instead. Buffers of one unit are
placed like buffers of known size, as if the unit were 1; the result is a region of the arena whose size scales with the
unit. Regions that are not alive at the same time share a slot, which has the size of the largest. The arena is the
sequence of its slots.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from heapq import heappop, heappush
from itertools import groupby
from typing import Final, NamedTuple

from xdsl.builder import Builder
from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f64, i64
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.upstream.arith_extras import CmpfOp, IndexCastOp, SIToFPOp
from xrelay.passes.loop.memory.buffer_size import bytes_and_factors


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


# --- sizes that are known only at run time


SMALL_BYTES: Final = 512
"""The number of bytes per unit below which the unit is rounded up instead of the number."""
MAX_ARENA: Final = 1 << 62
"""The largest size of an arena in bytes. It is half the range of `index`, because sizes are estimated in f64."""
TOO_LARGE: Final = "out of memory: the buffers of @main do not fit in 64 bits"


@dataclass(frozen=True)
class Unit:
    """The product of some extents, rounded up to a multiple of `grain`."""

    extents: tuple[SSAValue, ...] = ()
    grain: int = 1


@dataclass(frozen=True)
class Request(Lifetime):
    """A buffer of `size` times `unit` bytes.

    Its offset is a multiple of `grain` times `unit`; all requests of one unit have the same grain.
    """

    unit: Unit
    grain: int = 1


class Region(NamedTuple):
    """`size` times `unit` bytes in a slot of the arena."""

    unit: Unit
    size: int
    slot: int


def request_of(alloc: memref.AllocOp, alignment: int, order: Mapping[SSAValue, int], life: tuple[int, int]) -> Request:
    """The request of a buffer that is alive in the steps `life`; `order` numbers the values of the function."""
    size, factors = bytes_and_factors(alloc)
    extents = tuple(sorted(factors, key=order.__getitem__))
    if extents and size < SMALL_BYTES:
        return Request(size, *life, Unit(extents, alignment))
    return Request(-(-size // alignment) * alignment, *life, Unit(extents), grain=alignment)


def plan_regions(requests: Sequence[Request]) -> tuple[list[Region], list[tuple[int, int]]]:
    """Returns the regions, and for each request its region, by number, and its offset there, in units.

    Requests alive at the same step never overlap. With n requests this takes O(n log n) comparisons. `first <= last` is
    required of each request.
    """
    members: dict[Unit, list[int]] = {}
    for number, request in enumerate(requests):
        members.setdefault(request.unit, []).append(number)
    places: list[tuple[int, int]] = [(0, 0)] * len(requests)
    sizes: list[int] = []
    spans: list[tuple[int, int]] = []
    for region, numbers in enumerate(members.values()):
        own = [requests[number] for number in numbers]
        plan = assign_offsets(own, own[0].grain)
        sizes.append(plan.size)
        spans.append((min(request.first for request in own), max(request.last for request in own)))
        for number, offset in zip(numbers, plan.offsets, strict=True):
            places[number] = (region, offset)
    return [Region(*row) for row in zip(members, sizes, _slots(spans), strict=True)], places


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


def emit_arena(requests: Sequence[Request], builder: Builder) -> tuple[list[SSAValue], SSAValue]:
    """Emits the offset of each request and the bytes of the arena, and an assertion that the arena is not too large."""
    regions, places = plan_regions(requests)
    code = _SizeCode(builder)
    code.check(regions)
    begins: list[SSAValue] = []
    end = code.number(0)
    for _, group in groupby(sorted(regions, key=_slot_of), _slot_of):
        begins.append(end)
        sizes = [code.times(region.unit, region.size) for region in group]
        end = code.sum(end, reduce(lambda lhs, rhs: code.add(arith.MaxSIOp(lhs, rhs)), sizes))
    found = [(regions[number], offset) for number, offset in places]
    return [code.sum(begins[region.slot], code.times(region.unit, offset)) for region, offset in found], end


def _slot_of(region: Region) -> int:
    return region.slot


class _SizeCode:
    """Emits sums and products of sizes without duplicates."""

    def __init__(self, builder: Builder):
        self._builder = builder
        self._known: dict[Hashable, SSAValue] = {}

    def number(self, value: int) -> SSAValue:
        return self._once(value, lambda: self.add(arith.ConstantOp(IntegerAttr(value, IndexType()))))

    def times(self, unit: Unit, number: int) -> SSAValue:
        """`unit` times `number`."""
        if not unit.extents or not number:
            return self.number(number)
        value = self._once(unit, lambda: self._rounded(unit))
        return self._once((unit, number), lambda: self.add(arith.MuliOp(value, self.number(number))))

    def sum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """`lhs + rhs`."""
        zero = self.number(0)
        if zero in (lhs, rhs):
            return rhs if lhs is zero else lhs
        return self._once((lhs, rhs), lambda: self.add(arith.AddiOp(lhs, rhs)))

    def check(self, regions: Sequence[Region]) -> None:
        """Emits an assertion that the regions, placed one after the other, fit in `MAX_ARENA` bytes."""
        if not any(region.unit.extents for region in regions):
            return
        # A sum of two constants would fold, for which `scf-simplify` canonicalizes the whole function.
        known = sum(size + size * unit.grain for unit, size, _ in regions if not unit.extents)
        sizes = [real_number(self._builder, known)] if known else list[SSAValue]()
        for unit, size in ((unit, size) for unit, size, _ in regions if unit.extents):
            product = real_product(self._builder, size, unit.extents)
            sizes.append(self.add(arith.AddfOp(product, real_number(self._builder, size * unit.grain))))
        total = reduce(lambda lhs, rhs: self.add(arith.AddfOp(lhs, rhs)), sizes)
        fits = self.add(CmpfOp(total, real_number(self._builder, MAX_ARENA), "olt"))
        self._builder.insert(cf.AssertOp(fits, TOO_LARGE))

    def add(self, op: Operation) -> SSAValue:
        """Emits an op; returns its result."""
        return self._builder.insert(op).results[0]

    def _once(self, key: Hashable, emit: Callable[[], SSAValue]) -> SSAValue:
        if key not in self._known:
            self._known[key] = emit()
        return self._known[key]

    def _rounded(self, unit: Unit) -> SSAValue:
        value = reduce(lambda lhs, rhs: self.add(arith.MuliOp(lhs, rhs)), unit.extents)
        if unit.grain > 1:
            value = self.add(arith.AddiOp(value, self.number(unit.grain - 1)))
            value = self.add(arith.AndIOp(value, self.number(-unit.grain)))
        return value


def real_product(builder: Builder, number: int, values: Iterable[SSAValue]) -> SSAValue:
    """Emits the product of a number and of values of type `index` in f64, which cannot overflow."""
    product = real_number(builder, number)
    for value in values:
        factor = builder.insert(SIToFPOp(builder.insert(IndexCastOp(value, i64)).result, f64))
        product = builder.insert(arith.MulfOp(product, factor.result)).result
    return product


def real_number(builder: Builder, number: int) -> SSAValue:
    """Emits a number in f64."""
    return builder.insert(arith.ConstantOp(FloatAttr(float(number), f64))).result
