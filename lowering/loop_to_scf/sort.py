"""Lowers `loop.sort` to scf: insertion sort of runs, then merges of neighbouring runs between two halves of scratch.

Merging n elements takes log2(n / RUN) passes, so the sort takes n log n steps for any order of the elements. If only
the first k elements are kept, no run becomes longer than k: from then on each pass halves the number of elements, and
the sort takes n log k. Of two equal elements, the one of the first run precedes, so the sort is stable. A step of a
merge selects with `arith.select`: a branch on which run continues would be unpredictable.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, MemRefType, i1, i64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.loop import SortOp
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.row_writer import RowWriter, Values

RUN = 8
"""The length of the runs that are sorted by insertion: a cache line of f64."""


class SortWriter(RowWriter):
    """Lowers one `loop.sort`."""

    def __init__(
        self,
        emitter: Emitter,
        op: SortOp,
        get: Callable[[SSAValue], SSAValue],
        index_of: Callable[[SSAValue, ValueMap], ValueMap],
    ):
        super().__init__(emitter, op, get, index_of)
        self._op = op
        self._source, self._values, self._indices = get(op.source), get(op.values), get(op.indices)
        self._keys, self._places = get(op.scratch_values), get(op.scratch_indices)
        self._length, self._count = self._known(op.length), self._known(op.count)
        self._element: Attribute = SSAValue.get(self._keys, type=MemRefType).type.element_type

    def write(self) -> None:
        """Appends the lowered ops."""
        self._write_runs()
        self._write_results(self._write_merges())

    # --- runs

    def _write_runs(self) -> None:
        """Writes the row as runs of `RUN` elements, each sorted by insertion into the first half of the scratch."""

        def insert(position: SSAValue, _: Values) -> Values:
            key = self._load(self._source, self._at(position))
            first = self._arith(arith.SubiOp, position, self._arith(arith.RemUIOp, position, self._index(RUN)))
            free = self._shift_after(key, first, position)
            self._put(free, key, self._emit.add(arith.IndexCastOp(position, i64)).result)
            return []

        self._for(self._extent(self._length), [], insert)

    def _shift_after(self, key: SSAValue, first: SSAValue, last: SSAValue) -> SSAValue:
        """Moves the elements after `key` in the sorted run `[first, last)` one place on; returns the free place."""

        def continues(positions: Values) -> SSAValue:
            is_inside = self._compare(positions[0], first, "sgt")
            return self._if(is_inside, i1, lambda: self._before(key, self._scratch(self._previous(positions[0]))))

        def move(positions: Values) -> Values:
            before = self._previous(positions[0])
            self._put(positions[0], self._scratch(before), self._load(self._places, [*self._row, before]))
            return [before]

        return self._while([last], continues, move)[0]

    def _previous(self, position: SSAValue) -> SSAValue:
        return self._arith(arith.SubiOp, position, self._index(1))

    # --- merges

    def _write_merges(self) -> SSAValue:
        """Writes all passes; returns the position in the scratch where the sorted elements begin."""
        zero, length = self._index(0), self._extent(self._length)
        if isinstance(self._length, int) and isinstance(self._count, int):
            passes = _passes(self._length, self._count)
            if not passes:
                return zero
            most = self._index(self._count)
            first = [self._index(RUN), length, zero]
            return self._for(self._index(passes), first, lambda _, carried: self._merge(most, carried))[2]
        # If no element is kept, a run of one ends the passes.
        most = self._arith(arith.MaxSIOp, self._extent(self._count), self._index(1))
        return self._while(
            [self._index(RUN), length, zero],
            lambda carried: self._compare(carried[1], carried[0], "sgt"),
            lambda carried: self._merge(most, carried),
        )[2]

    def _merge(self, most: SSAValue, carried: Values) -> Values:
        """Writes one pass; `carried` is the width of runs, the number of elements, and their place in the scratch."""
        width, length, source = carried
        target = self._arith(arith.SubiOp, self._extent(self._length), source)
        both = self._arith(arith.AddiOp, width, width)
        kept = self._arith(arith.MinSIOp, both, most)
        self._for(self._quotient_up(length, both), [], lambda pair, _: self._merge_pair(
            pair, width, length, source, self._arith(arith.AddiOp, target, self._arith(arith.MuliOp, pair, kept)),
            kept))  # fmt: skip
        whole = self._previous(self._quotient_up(length, both))
        left = self._arith(arith.SubiOp, length, self._arith(arith.MuliOp, whole, both))
        merged = self._arith(
            arith.AddiOp, self._arith(arith.MuliOp, whole, kept), self._arith(arith.MinSIOp, left, kept)
        )
        return [kept, merged, target]

    def _quotient_up(self, value: SSAValue, by: SSAValue) -> SSAValue:
        return self._arith(arith.DivUIOp, self._arith(arith.AddiOp, value, self._previous(by)), by)

    def _merge_pair(
        self, pair: SSAValue, width: SSAValue, length: SSAValue, source: SSAValue, target: SSAValue, kept: SSAValue
    ) -> Values:
        """Merges a run and the next one, up to `kept` elements."""
        start = self._arith(arith.MuliOp, pair, self._arith(arith.AddiOp, width, width))
        middle = self._arith(arith.MinSIOp, self._arith(arith.AddiOp, start, width), length)
        end = self._arith(arith.MinSIOp, self._arith(arith.AddiOp, middle, width), length)
        last = self._previous(length)

        def step(position: SSAValue, heads: Values) -> Values:
            left, right = heads
            # A head at the end of its run is clamped to a valid place for the load, and not selected.
            positions = [self._arith(arith.AddiOp, source, self._arith(arith.MinSIOp, head, last)) for head in heads]
            a, b = (self._scratch(at) for at in positions)
            is_used_up = self._compare(left, middle, "sge")
            takes_right = self._arith(
                arith.AndIOp,
                self._compare(right, end, "slt"),
                self._arith(arith.OrIOp, is_used_up, self._before(b, a)),
            )
            at = self._select(takes_right, positions[1], positions[0])
            chosen = self._load(self._places, [*self._row, at])
            self._put(self._arith(arith.AddiOp, target, position), self._select(takes_right, b, a), chosen)
            one = self._index(1)
            return [
                self._select(takes_right, left, self._arith(arith.AddiOp, left, one)),
                self._select(takes_right, self._arith(arith.AddiOp, right, one), right),
            ]

        available = self._arith(arith.SubiOp, end, start)
        self._for(self._arith(arith.MinSIOp, available, kept), [start, middle], step)
        return []

    def _write_results(self, first: SSAValue) -> None:
        """Copies the kept elements from the scratch to the results."""

        def copy(position: SSAValue, _: Values) -> Values:
            at = [*self._row, self._arith(arith.AddiOp, first, position)]
            for scratch, result in ((self._keys, self._values), (self._places, self._indices)):
                self._store(self._load(scratch, at), result, self._at(position))
            return []

        self._for(self._extent(self._count), [], copy)

    # --- parts

    def _before(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Whether `a` precedes `b` and is not equal to it."""
        descending = self._op.descending is not None
        word = "gt" if descending else "lt"
        if not isinstance(self._element, AnyFloat):
            return self._compare(a, b, f"{'u' if self._op.unsigned is not None else 's'}{word}")
        # NaN is the greatest: the unordered predicate holds if either is NaN, the test keeps the cases where the
        # greater one is.
        lesser = b if descending else a
        holds = self._emit.add(arith.CmpfOp(a, b, f"u{word}")).result
        return self._arith(arith.AndIOp, holds, self._emit.add(arith.CmpfOp(lesser, lesser, "ord")).result)

    def _at(self, position: SSAValue) -> Values:
        """Returns the indices of a place of the row in the source and in the results."""
        axis = self._op.axis.value.data
        return [*self._row[:axis], position, *self._row[axis:]]

    def _scratch(self, position: SSAValue) -> SSAValue:
        return self._load(self._keys, [*self._row, position])

    def _put(self, position: SSAValue, key: SSAValue, came_from: SSAValue) -> None:
        """Stores an element and its original position in the scratch."""
        at = [*self._row, position]
        self._store(key, self._keys, at)
        self._store(came_from, self._places, at)


def _passes(length: int, count: int) -> int:
    """Returns the number of passes until one run is left."""
    width, passes = RUN, 0
    while length > width:
        kept = min(2 * width, count)
        whole = -(-length // (2 * width)) - 1
        length = whole * kept + min(length - 2 * width * whole, kept)
        width, passes = kept, passes + 1
    return passes
