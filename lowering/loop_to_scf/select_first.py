"""Lowers a `loop.sort` that selects to scf: the row is read once, and most of its elements are only compared.

An element is a candidate if it precedes the limit, the last of the `k` first elements so far; an equal element comes
too late. If `k` is small, the `k` first elements so far are in order in the scratch, and a candidate is inserted.
Otherwise candidates are collected, and when the scratch is full, a sort keeps the `k` first of them:

    while position < n:
        while position < n and the scratch has room:
            if any of source[position : position + LANES] precedes the limit:
                append those that do
            position += LANES
        sort the candidates, keep the first k, limit = the last of these

About `k log(n / k)` elements of a row in random order are candidates. Even if all are, each sort removes more elements
than it keeps, so that the selection takes about twice the time of a sort of the row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import FixedBitwidthType, VectorType, i64

from xrelay.dialects.loop import SortOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.loop.row_ops import INSERTION_LIMIT
from xrelay.lowering.arithmetic import Number
from xrelay.lowering.loop_to_scf.buffers import FlatBuffers, element_strides
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import Mask, any_lane, splat
from xrelay.lowering.loop_to_scf.row_writer import Values
from xrelay.lowering.loop_to_scf.sort import SortWriter

Test: TypeAlias = Callable[[Number], Number]
"""Returns whether the element of a key, or each of a vector of keys, is a candidate."""

LANES = 16
"""The number of elements that are compared with the limit at a time."""


class SelectWriter(SortWriter):
    """Lowers one `loop.sort` with `selects`."""

    def __init__(self, emitter: Emitter, op: SortOp, flat: FlatBuffers):
        super().__init__(emitter, op, flat)
        self._end = self._index(self._length)
        self._vector = VectorType(memref_type(self._source).element_type, [LANES])

    def write(self) -> None:
        """Appends the lowered ops."""
        if isinstance(self._count, int) and self._count <= INSERTION_LIMIT:
            self._select_few(self._count)
        else:
            self._select_many(self._index(self._known(extents_of(self._op.scratch_keys)[-1]) // 2))
        self._write_results(self._index(0))

    # --- few elements

    def _select_few(self, count: int) -> None:
        """Inserts the first `count` elements of the row, then each element that precedes the last of those so far."""
        first, last = self._index(count), self._index(count - 1)

        def insert_first(position: Number, _: Values) -> Values:
            self._insert(position, position)
            return []

        def insert_candidates(start: Number, position: Number, _: Values) -> Values:
            self._insert_candidate(start + position, last)
            return []

        def insert_from_vector(number: Number, _: Values) -> Values:
            start = first + number * LANES
            limit = self._number(splat(self._emit, self._key(last).value, LANES))
            found = any_lane(self._emit, Mask(self._chunk_keys(start).compare("ult", limit).value), LANES)
            with self._emit.when(found):
                self._for(self._index(LANES), [], partial(insert_candidates, start))
            return []

        self._for(first, [], insert_first)
        rest = first
        if self._has_lanes:
            vectors = (self._end - first) // LANES
            self._for(vectors, [], insert_from_vector)
            rest = first + vectors * LANES
        self._for(self._end - rest, [], partial(insert_candidates, rest))

    def _insert(self, position: Number, last: Number) -> None:
        """Inserts an element of the row before the elements at `[0, last)` of the scratch that it precedes."""
        key = self._key_of(self._element(position))
        self._put(self._shift_after(key, last), key, position.convert(arith.IndexCastOp, i64))

    def _insert_candidate(self, position: Number, last: Number) -> None:
        """Inserts an element of the row if it precedes the element at `last`, which is dropped."""
        is_candidate = self._key_of(self._element(position)).compare("ult", self._key(last))
        with self._emit.when(is_candidate.value):
            self._insert(position, last)

    # --- many elements

    def _select_many(self, room: Number) -> None:
        """Collects up to `room` candidates and cuts them to the number of kept ones, until the row ends."""
        most = self._index(self._count).maximum(1)

        def collect_and_cut(carried: Values) -> Values:
            position, number, limit, is_open = carried
            test = partial(self._is_candidate, limit, is_open)
            position, number = self._collect(room, [position, number], test)
            kept = number.minimum(most)
            self._move_to_front(self._sort(number, room), kept)
            return [position, kept, self._key(kept - 1), kept.compare("slt", most)]

        # Until as many elements as are kept have been read, the limit is undefined.
        unlimited = self._number(self._constant(0, self._key_type))
        start = [self._index(0), self._index(0), unlimited, self._truth(True)]
        self._while(start, lambda carried: carried[0].compare("slt", self._end), collect_and_cut)

    def _collect(self, room: Number, heads: Values, test: Test) -> Values:
        """Appends candidates until the row ends or the room is full; `heads` are the position and their number."""
        if not self._has_lanes:
            return self._collect_up_to(self._end, 1, room, heads, test)
        whole = self._end - self._end % LANES
        heads = self._collect_up_to(whole, LANES, room, heads, test)
        # If the room is full, the next vector waits for the next time.
        rest = heads[0].compare("slt", whole).select(heads[0], self._end)
        return self._collect_up_to(rest, 1, room, heads, test)

    def _collect_up_to(self, end: Number, step: int, room: Number, heads: Values, test: Test) -> Values:
        """Appends the candidates before `end`, `step` elements at a time, until the room is full."""

        def continues(heads: Values) -> Number:
            return heads[0].compare("slt", end) & (heads[1] + step).compare("sle", room)

        def advance(heads: Values) -> Values:
            position, number = heads
            if step == 1:
                return [position + 1, self._append(position, number, test)]
            found = any_lane(self._emit, Mask(test(self._chunk_keys(position)).value), step)

            def append_each() -> Number:
                each = self._index(step)
                return self._for(each, [number], lambda lane, last: [self._append(position + lane, last[0], test)])[0]

            return [position + step, self._choose(self._number(found), append_each, lambda: number)]

        return self._while(heads, continues, advance)

    def _append(self, position: Number, number: Number, test: Test) -> Number:
        """Stores an element after `number` candidates; returns their number with the element if it is one."""
        key = self._key_of(self._element(position))
        self._put(number, key, position.convert(arith.IndexCastOp, i64))
        return test(key).select(number + 1, number)

    def _move_to_front(self, first: Number, count: Number) -> None:
        """Moves `count` elements of the scratch to its beginning."""

        def move(position: Number, _: Values) -> Values:
            self._put(position, self._key(first + position), self._origin(first + position))
            return []

        self._for(count, [], move)

    def _is_candidate(self, limit: Number, is_open: Number, key: Number) -> Number:
        """Whether an element of this key, or each of a vector of keys, is a candidate."""
        if isinstance(key.value.type, VectorType):
            limit, is_open = (self._number(splat(self._emit, each.value, LANES)) for each in (limit, is_open))
        return key.compare("ult", limit) | is_open

    # --- lanes

    @property
    def _has_lanes(self) -> bool:
        """Whether the row is contiguous, and its elements are bytes or more."""
        source = memref_type(self._op.source)
        element, strides = source.element_type, element_strides(source)
        is_contiguous = strides[self._op.axis.value.data] == 1
        return is_contiguous and isinstance(element, FixedBitwidthType) and element.bitwidth >= 8

    def _chunk_keys(self, position: Number) -> Number:
        """Returns the keys of `LANES` elements of the row."""
        indices = self._indices_in(self._source, self._at(position))
        return self._key_of(self._number(self._emit.add(vector.LoadOp(self._source, indices, self._vector)).result))
