"""The arena of an `@main` that binds names: offsets are computed at run time from the values of the names.

The size of a buffer is a known number of bytes, rounded up to the alignment, times a unit: the product of its dynamic
extents. If the number is so small that rounding it would waste memory, the unit is rounded up instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from xdsl.builder import Builder
from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f64, i64
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.upstream.arith_extras import CmpfOp, IndexCastOp, SIToFPOp
from xrelay.passes.loop.arena_regions import Region, Request, plan_regions
from xrelay.passes.loop.buffer_size import bytes_and_factors

SMALL: Final = 512
"""Bytes per element of a unit below which the unit, not the number of bytes, is rounded up."""
MAX_ARENA: Final = 1 << 62
"""The largest size of an arena in bytes: half the range of `index`, since sizes are estimated in f64."""
TOO_LARGE: Final = "out of memory: the buffers of @main do not fit in 64 bits"


@dataclass(frozen=True)
class Unit:
    """The product of some extents, rounded up to a multiple of `grain`."""

    extents: tuple[SSAValue, ...] = ()
    grain: int = 1


def request_of(
    alloc: memref.AllocOp, alignment: int, order: Mapping[SSAValue, int], life: tuple[int, int]
) -> Request[Unit]:
    """The request of a buffer that is alive in the steps `life`; `order` numbers the values of the function."""
    size, factors = bytes_and_factors(alloc)
    extents = tuple(sorted(factors, key=order.__getitem__))
    if extents and size < SMALL:
        return Request(Unit(extents, alignment), size, *life)
    return Request(Unit(extents), -(-size // alignment) * alignment, *life, grain=alignment)


@dataclass(frozen=True)
class ArenaCode:
    """The offset of each request and the bytes of the arena, as values."""

    places: Sequence[SSAValue]
    size: SSAValue


def emit_arena(requests: Sequence[Request[Unit]], builder: Builder) -> ArenaCode:
    """Emits the offsets of requests whose units are `Unit`s, and an assertion that the arena is not too large."""
    plan = plan_regions(requests)
    code = _SizeCode(builder)
    code.check(plan.regions)
    begins: list[SSAValue] = []
    end = code.number(0)
    for regions in plan.slots:
        begins.append(end)
        sizes = [code.times(region.unit, region.size) for region in regions]
        end = code.sum(end, reduce(code.larger, sizes))
    slots = [begins[region.slot] for region in plan.regions]
    units = [region.unit for region in plan.regions]
    return ArenaCode([code.sum(slots[n], code.times(units[n], offset)) for n, offset in plan.places], end)


class _SizeCode:
    """Emits sums and products of sizes without duplicates."""

    def __init__(self, builder: Builder):
        self._builder = builder
        self._numbers: dict[int, SSAValue] = {}
        self._units: dict[Unit, SSAValue] = {}
        self._products: dict[tuple[Unit, int], SSAValue] = {}
        self._sums: dict[tuple[SSAValue, SSAValue], SSAValue] = {}

    def number(self, value: int) -> SSAValue:
        if value not in self._numbers:
            self._numbers[value] = self._add(arith.ConstantOp(IntegerAttr(value, IndexType())))
        return self._numbers[value]

    def times(self, unit: Unit, number: int) -> SSAValue:
        """`unit` times `number`."""
        if not unit.extents or not number:
            return self.number(number)
        if (unit, number) not in self._products:
            self._products[unit, number] = self._add(arith.MuliOp(self._unit(unit), self.number(number)))
        return self._products[unit, number]

    def sum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """`lhs + rhs`."""
        zero = self.number(0)
        if zero in (lhs, rhs):
            return rhs if lhs is zero else lhs
        if (lhs, rhs) not in self._sums:
            self._sums[lhs, rhs] = self._add(arith.AddiOp(lhs, rhs))
        return self._sums[lhs, rhs]

    def larger(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The greater of two sizes."""
        return self._add(arith.MaxSIOp(lhs, rhs))

    def check(self, regions: Sequence[Region[Unit]]) -> None:
        """Emits an assertion that the regions, placed one after the other, fit in `MAX_ARENA` bytes."""
        if not any(region.unit.extents for region in regions):
            return
        sizes = [self._estimate(region.unit, region.size) for region in regions]
        total = reduce(lambda lhs, rhs: self._add(arith.AddfOp(lhs, rhs)), sizes)
        fits = self._add(CmpfOp(total, self._real(MAX_ARENA), "olt"))
        self._builder.insert(cf.AssertOp(fits, TOO_LARGE))

    def _unit(self, unit: Unit) -> SSAValue:
        if unit not in self._units:
            value = reduce(lambda lhs, rhs: self._add(arith.MuliOp(lhs, rhs)), unit.extents)
            if unit.grain > 1:
                value = self._add(arith.AddiOp(value, self.number(unit.grain - 1)))
                value = self._add(arith.AndIOp(value, self.number(-unit.grain)))
            self._units[unit] = value
        return self._units[unit]

    def _estimate(self, unit: Unit, number: int) -> SSAValue:
        """`unit` times `number` in f64."""
        value = self._real(number)
        for extent in unit.extents:
            factor = self._add(SIToFPOp(self._add(IndexCastOp(extent, i64)), f64))
            value = self._add(arith.MulfOp(value, factor))
        return self._add(arith.AddfOp(value, self._real(number * unit.grain)))

    def _real(self, number: int) -> SSAValue:
        return self._add(arith.ConstantOp(FloatAttr(float(number), f64)))

    def _add(self, op: Operation) -> SSAValue:
        return self._builder.insert(op).results[0]
