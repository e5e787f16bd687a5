"""Lowers `loop.sort` to scf: insertion sort of runs, then merges of neighbouring runs between two halves of scratch.

Merging n elements takes log2(n / RUN) passes, so the sort takes n log n steps for any order of the elements. If only
the first k elements are kept, no run becomes longer than k: from then on each pass halves the number of elements, and
the sort takes n log k. Of two equal elements, the one of the first run precedes, so the sort is stable. A step of a
merge selects with `arith.select`: a branch on which run continues would be unpredictable.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, MemRefType, i64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.loop import SortOp
from xrelay.lowering.arithmetic import Number
from xrelay.lowering.loop_to_scf.buffers import FlatBuffers
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.row_writer import RowWriter, Values

RUN = 8
"""The length of the runs that are sorted by insertion: a cache line of f64."""


class SortWriter(RowWriter):
    """Lowers one `loop.sort`."""

    def __init__(self, emitter: Emitter, op: SortOp, flat: FlatBuffers):
        super().__init__(emitter, op, flat)
        buffers = (op.source, op.values, op.indices, op.scratch_values, op.scratch_indices)
        self._source, self._values, self._indices, self._keys, self._places = map(flat.accessed, buffers)
        self._op, self._length, self._count = op, self._known(op.length), self._known(op.count)
        self._element: Attribute = SSAValue.get(self._keys, type=MemRefType).type.element_type

    def write(self) -> None:
        """Appends the lowered ops."""
        self._write_runs()
        self._write_results(self._write_merges())

    # --- runs

    def _write_runs(self) -> None:
        """Writes the row as runs of `RUN` elements, each sorted by insertion into the first half of the scratch."""

        def insert(position: Number, _: Values) -> Values:
            key = self._load(self._source, self._at(position))
            free = self._shift_after(key, position - position % RUN, position)
            self._put(free, key, position.convert(arith.IndexCastOp, i64))
            return []

        self._for(self._index(self._length), [], insert)

    def _shift_after(self, key: Number, first: Number, last: Number) -> Number:
        """Moves the elements after `key` in the sorted run `[first, last)` one place on; returns the free place."""

        def continues(positions: Values) -> Number:
            is_inside = positions[0].compare("sgt", first)
            return self._if(is_inside, lambda: self._before(key, self._scratch(positions[0] - 1)))

        def move(positions: Values) -> Values:
            before = positions[0] - 1
            self._put(positions[0], self._scratch(before), self._load(self._places, [*self._row, before]))
            return [before]

        return self._while([last], continues, move)[0]

    # --- merges

    def _write_merges(self) -> Number:
        """Writes all passes; returns the position in the scratch where the sorted elements begin."""
        zero, length = self._index(0), self._index(self._length)
        if isinstance(self._length, int) and isinstance(self._count, int):
            passes = _passes(self._length, self._count)
            if not passes:
                return zero
            most = self._index(self._count)
            first = [self._index(RUN), length, zero]
            return self._for(self._index(passes), first, lambda _, carried: self._merge(most, carried))[2]
        # If no element is kept, a run of one ends the passes.
        most = self._index(self._count).maximum(1)
        return self._while(
            [self._index(RUN), length, zero],
            lambda carried: carried[1].compare("sgt", carried[0]),
            lambda carried: self._merge(most, carried),
        )[2]

    def _merge(self, most: Number, carried: Values) -> Values:
        """Writes one pass; `carried` is the width of runs, the number of elements, and their place in the scratch."""
        width, length, source = carried
        target = self._index(self._length) - source
        both = width + width
        kept = both.minimum(most)

        def merge_pair(pair: Number, _: Values) -> Values:
            return self._merge_pair(pair, width, length, source, target + pair * kept, kept)

        self._for(_quotient_up(length, both), [], merge_pair)
        whole = _quotient_up(length, both) - 1
        left = length - whole * both
        return [kept, whole * kept + left.minimum(kept), target]

    def _merge_pair(
        self, pair: Number, width: Number, length: Number, source: Number, target: Number, kept: Number
    ) -> Values:
        """Merges a run and the next one, up to `kept` elements."""
        start = pair * (width + width)
        middle = (start + width).minimum(length)
        end = (middle + width).minimum(length)
        last = length - 1

        def step(position: Number, heads: Values) -> Values:
            left, right = heads
            # A head at the end of its run is clamped to a valid place for the load, and not selected.
            positions = [source + head.minimum(last) for head in heads]
            a, b = map(self._scratch, positions)
            is_used_up = left.compare("sge", middle)
            takes_right = right.compare("slt", end) & (is_used_up | self._before(b, a))
            at = takes_right.select(positions[1], positions[0])
            chosen = self._load(self._places, [*self._row, at])
            self._put(target + position, takes_right.select(b, a), chosen)
            return [takes_right.select(left, left + 1), takes_right.select(right + 1, right)]

        self._for((end - start).minimum(kept), [start, middle], step)
        return []

    def _write_results(self, first: Number) -> None:
        """Copies the kept elements from the scratch to the results."""

        def copy(position: Number, _: Values) -> Values:
            at = [*self._row, first + position]
            for scratch, result in ((self._keys, self._values), (self._places, self._indices)):
                self._store(self._load(scratch, at), result, self._at(position))
            return []

        self._for(self._index(self._count), [], copy)

    # --- elements

    def _before(self, a: Number, b: Number) -> Number:
        """Whether `a` precedes `b` and is not equal to it."""
        descending = self._op.descending is not None
        word = "gt" if descending else "lt"
        if not isinstance(self._element, AnyFloat):
            return a.compare(f"{'u' if self._op.unsigned is not None else 's'}{word}", b)
        # NaN is the greatest: the unordered predicate holds if either is NaN, the test keeps the cases where the
        # greater one is.
        lesser = b if descending else a
        return a.compare(f"u{word}", b) & lesser.compare("ord", lesser)

    def _at(self, position: Number) -> Values:
        """Returns the indices of a place of the row in the source and in the results."""
        axis = self._op.axis.value.data
        return [*self._row[:axis], position, *self._row[axis:]]

    def _scratch(self, position: Number) -> Number:
        return self._load(self._keys, [*self._row, position])

    def _put(self, position: Number, key: Number, origin: Number) -> None:
        """Stores an element and its original position in the scratch."""
        at = [*self._row, position]
        self._store(key, self._keys, at)
        self._store(origin, self._places, at)


def _quotient_up(value: Number, by: Number) -> Number:
    return (value + (by - 1)) // by


def _passes(length: int, count: int) -> int:
    """Returns the number of passes until one run is left."""
    width, passes = RUN, 0
    while length > width:
        kept = min(2 * width, count)
        whole = -(-length // (2 * width)) - 1
        length = whole * kept + min(length - 2 * width * whole, kept)
        width, passes = kept, passes + 1
    return passes
