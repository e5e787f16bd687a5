"""Lowers `loop.suppress` to scf: each candidate box is compared with the selected boxes, several in lanes at a time.

Selected boxes are contiguous in the scratch buffer. The areas of a new chunk are initialised to NaN, which overlaps
nothing, so comparisons need no mask. The row ends at the first score that is too low, or when enough boxes are
selected; the comparisons of a box end with the first chunk that it overlaps.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, VectorType, i1
from xdsl.ir import Attribute, Block, Region, SSAValue

from xrelay.dialects.loop import SuppressOp
from xrelay.dialects.loop.row_ops import CHUNK
from xrelay.dialects.topi.build import scalar_attr
from xrelay.dialects.upstream.arith_extras import CmpfOp, SelectOp
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import Mask, any_lane, splat
from xrelay.lowering.loop_to_scf.row_writer import RowWriter, Values

AREA, KIND = 4, 5
"""The positions of the area of a box, and of its kind if it has one."""


class SuppressWriter(RowWriter):
    """Lowers one `loop.suppress`."""

    def __init__(
        self,
        emitter: Emitter,
        op: SuppressOp,
        get: Callable[[SSAValue], SSAValue],
        index_of: Callable[[SSAValue, ValueMap], ValueMap],
    ):
        super().__init__(emitter, op, get, index_of)
        self._sides, self._order, self._scores, self._most, self._overlap, self._least = map(get, op.read_buffers)
        self._kept, self._room = map(get, op.writes)
        self._length = self._extent(self._known(op.length))
        room = SSAValue.get(op.room, type=MemRefType).type
        self._element: Attribute = room.element_type
        self._count = room.get_shape()[2]

    def write(self) -> None:
        """Appends the lowered ops."""
        none, zero = self._truth(False), self._index(0)

        def clear(position: SSAValue, _: Values) -> Values:
            self._store(none, self._kept, [*self._row, position])
            return []

        self._for(self._length, [], clear)
        most = self._emit.add(arith.IndexCastOp(self._load(self._most, []), IndexType())).result
        least, overlap = self._load(self._least, []), self._lanes(self._load(self._overlap, []))

        def continues(carried: Values) -> SSAValue:
            position, number = carried

            def is_candidate() -> SSAValue:
                score = self._load(self._scores, [*self._row, position])
                return self._and(self._greater(score, least), self._compare(number, most, "slt"))

            return self._if(self._compare(position, self._length, "slt"), i1, is_candidate)

        def visit(carried: Values) -> Values:
            position, number = carried
            one, following = self._index(1), self._arith(arith.AddiOp, number, self._index(1))
            is_free = self._visit(position, number, overlap)
            return [self._arith(arith.AddiOp, position, one), self._select(is_free, following, number)]

        self._while([zero, zero], continues, visit)

    def _visit(self, position: SSAValue, number: SSAValue, overlap: SSAValue) -> SSAValue:
        """Appends the box at a place to the `number` selected ones unless it overlaps one; returns whether it did."""
        box = self._emit.add(arith.IndexCastOp(self._load(self._order, [*self._row, position]), IndexType())).result
        own = [self._load(self._sides, [self._row[0], self._index(side), box]) for side in range(self._count)]
        spread = [self._lanes(side) for side in own]

        def continues(carried: Values) -> SSAValue:
            first, found = carried
            return self._and(self._compare(first, number, "slt"), self._not(found))

        def compare(carried: Values) -> Values:
            first, _ = carried
            others = [self._chunk(side, first) for side in range(self._count)]
            found = any_lane(self._emit, Mask(self._overlaps(spread, others, overlap)), CHUNK)
            return [self._arith(arith.AddiOp, first, self._index(CHUNK)), found]

        is_free = self._not(self._while([self._index(0), self._truth(False)], continues, compare)[1])
        self._store(is_free, self._kept, [*self._row, position])
        self._when(is_free, lambda: self._append(own, number))
        return is_free

    def _append(self, own: Values, number: SSAValue) -> None:
        """Appends a box to the `number` selected ones."""
        rest = self._arith(arith.RemUIOp, number, self._index(CHUNK))

        def begin() -> None:
            none = self._lanes(self._emit.constant(scalar_attr(float("nan"), self._element)))
            self._emit.add(vector.StoreOp(none, self._room, self._indices(AREA, number)))

        self._when(self._compare(rest, self._index(0), "eq"), begin)
        for side, value in enumerate(own):
            self._store(value, self._room, [*self._row, self._index(side), number])

    def _overlaps(self, one: Values, others: Values, overlap: SSAValue) -> SSAValue:
        """Returns the lanes in which boxes overlap; see `topi.suppress`."""
        zero = self._lanes(self._emit.constant(scalar_attr(0.0, self._element)))
        lengths: Values = []
        for axis in (0, 1):
            end = self._choose(self._greater(one[axis + 2], others[axis + 2]), others[axis + 2], one[axis + 2])
            start = self._choose(self._greater(one[axis], others[axis]), one[axis], others[axis])
            length = self._emit.add(arith.SubfOp(end, start)).result
            lengths.append(self._choose(self._greater(length, zero), length, zero))
        shared = self._emit.add(arith.MulfOp(lengths[0], lengths[1])).result
        areas = self._emit.add(arith.AddfOp(one[AREA], others[AREA])).result
        union = self._emit.add(arith.SubfOp(areas, shared)).result
        ratio = self._emit.add(arith.DivfOp(shared, union)).result
        some = self._and(self._greater(shared, zero), self._greater(union, zero))
        if self._count > KIND:
            some = self._and(some, self._emit.add(CmpfOp(one[KIND], others[KIND], "oeq")).result)
        return self._and(some, self._greater(ratio, overlap))

    # --- parts

    def _indices(self, side: int, first: SSAValue) -> list[SSAValue]:
        return self._indices_in(self._room, [*self._row, self._index(side), first])

    def _chunk(self, side: int, first: SSAValue) -> SSAValue:
        """Loads one coordinate of each of the selected boxes from `first` on."""
        type = VectorType(self._element, [CHUNK])
        return self._emit.add(vector.LoadOp(self._room, self._indices(side, first), type)).result

    def _lanes(self, value: SSAValue) -> SSAValue:
        return splat(self._emit, value, CHUNK)

    def _greater(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._emit.add(CmpfOp(a, b, "ogt")).result

    def _choose(self, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        return self._emit.add(SelectOp(condition, then, otherwise)).result

    def _and(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._emit.add(arith.AndIOp(a, b)).result

    def _not(self, condition: SSAValue) -> SSAValue:
        return self._emit.add(arith.XOrIOp(condition, self._truth(True))).result

    def _truth(self, value: bool) -> SSAValue:
        return self._emit.constant(IntegerAttr(int(value), i1))

    def _when(self, condition: SSAValue, then: Callable[[], None]) -> None:
        """Writes `then` under a condition."""
        block = Block()
        with self._emit.inside(block):
            then()
            self._emit.add(scf.YieldOp())
        self._emit.add(scf.IfOp(condition, [], Region(block)))
