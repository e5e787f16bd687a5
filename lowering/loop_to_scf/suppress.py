"""Lowers `loop.suppress` to scf: each candidate box is compared with the selected boxes, several in lanes at a time.

Selected boxes are contiguous in the scratch buffer. The areas of a new chunk are initialised to NaN, which overlaps
nothing, so comparisons need no mask. The row ends at the first score that is too low, or when enough boxes are
selected; the comparisons of a box end with the first chunk that it overlaps.
"""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.loop import SuppressOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.row_ops import CHUNK
from xrelay.lowering.arithmetic import Number
from xrelay.lowering.loop_to_scf.buffers import FlatBuffers
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import Mask, any_lane, splat
from xrelay.lowering.loop_to_scf.row_writer import RowWriter, Values

AREA, KIND = 4, 5
"""The positions of the area and the kind of a box in the scratch buffer; the kind is optional, as in
`loop.suppress`."""


class SuppressWriter(RowWriter):
    """Lowers one `loop.suppress`."""

    def __init__(self, emitter: Emitter, op: SuppressOp, flat: FlatBuffers):
        super().__init__(emitter, op, flat)
        reads = map(flat.accessed, op.read_buffers)
        self._sides, self._order, self._scores, self._most, self._overlap, self._least = reads
        self._kept, self._room = map(flat.accessed, op.writes)
        self._length = self._index(self._known(op.length))
        room = memref_type(op.room)
        self._element: Attribute = room.element_type
        self._count = room.get_shape()[2]

    def write(self) -> None:
        """Appends the lowered ops."""
        none, zero = self._truth(False), self._index(0)

        def clear(position: Number, _: Values) -> Values:
            self._store(none, self._kept, [*self._row, position])
            return []

        self._for(self._length, [], clear)
        most = self._load(self._most, []).convert(arith.IndexCastOp, IndexType())
        least, overlap = self._load(self._least, []), self._lanes(self._load(self._overlap, []))

        def continues(carried: Values) -> Number:
            position, number = carried

            def is_candidate() -> Number:
                score = self._load(self._scores, [*self._row, position])
                return score.compare("ogt", least) & number.compare("slt", most)

            return self._if(position.compare("slt", self._length), is_candidate)

        def visit(carried: Values) -> Values:
            position, number = carried
            following = number + 1
            is_free = self._visit(position, number, overlap)
            return [position + 1, is_free.select(following, number)]

        self._while([zero, zero], continues, visit)

    def _visit(self, position: Number, number: Number, overlap: Number) -> Number:
        """Selects the box at `position` unless it overlaps a selected box; returns whether it did."""
        box = self._load(self._order, [*self._row, position]).convert(arith.IndexCastOp, IndexType())
        own = [self._load(self._sides, [self._row[0], self._index(side), box]) for side in range(self._count)]
        spread = [self._lanes(side) for side in own]

        def continues(carried: Values) -> Number:
            first, found = carried
            return first.compare("slt", number) & (found ^ True)

        def compare(carried: Values) -> Values:
            first, _ = carried
            others = [self._chunk(side, first) for side in range(self._count)]
            found = any_lane(self._emit, Mask(self._overlaps(spread, others, overlap).value), CHUNK)
            return [first + CHUNK, self._number(found)]

        is_free = self._while([self._index(0), self._truth(False)], continues, compare)[1] ^ True
        self._store(is_free, self._kept, [*self._row, position])
        with self._emit.when(is_free.value):
            self._append(own, number)
        return is_free

    def _append(self, own: Values, number: Number) -> None:
        """Appends a box to the `number` selected boxes."""
        with self._emit.when((number % CHUNK).compare("eq", 0).value):
            none = self._constant(float("nan"), VectorType(self._element, [CHUNK]))
            self._emit.add(vector.StoreOp(none, self._room, self._indices_of(AREA, number)))
        for side, value in enumerate(own):
            self._store(value, self._room, [*self._row, self._index(side), number])

    def _overlaps(self, one: Values, others: Values, overlap: Number) -> Number:
        """Returns the lanes in which boxes overlap; see `topi.suppress`."""
        zero = one[0].like(0.0)
        lengths: Values = []
        for axis in (0, 1):
            end = one[axis + 2].compare("ogt", others[axis + 2]).select(others[axis + 2], one[axis + 2])
            start = one[axis].compare("ogt", others[axis]).select(one[axis], others[axis])
            length = end - start
            lengths.append(length.compare("ogt", zero).select(length, zero))
        shared = lengths[0] * lengths[1]
        union = one[AREA] + others[AREA] - shared
        ratio = shared / union
        some = shared.compare("ogt", zero) & union.compare("ogt", zero)
        if self._count > KIND:
            some &= one[KIND].compare("oeq", others[KIND])
        return some & ratio.compare("ogt", overlap)

    # --- lanes

    def _indices_of(self, side: int, first: Number) -> list[SSAValue]:
        return self._indices_in(self._room, [*self._row, self._index(side), first])

    def _chunk(self, side: int, first: Number) -> Number:
        """Loads one coordinate of each of the selected boxes from `first` on."""
        type = VectorType(self._element, [CHUNK])
        return self._number(self._emit.add(vector.LoadOp(self._room, self._indices_of(side, first), type)).result)

    def _lanes(self, value: Number) -> Number:
        return self._number(splat(self._emit, value.value, CHUNK))
