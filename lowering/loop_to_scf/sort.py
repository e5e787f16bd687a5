"""Lowers `loop.sort` to scf: a stable radix sort of integer keys, or insertion if the row is short.

The key of an element is an unsigned integer whose order is the order of the sort, so that equal elements have equal
keys: for f32 `bits ^ (bits >> 31 | 0x80000000)`, where 0.0 and -0.0 have the key of 0.0, NaN has the greatest key, and
a descending sort inverts the bits. The scratch has two halves of keys and original positions. A pass for each byte of
the key, from the lowest, moves all elements to the other half, ordered by this byte:

    starts[b] = the number of elements whose byte is less than b
    for each element: other[starts[byte]++] = element

The sort takes n steps a byte, without branches that depend on elements. A pass is skipped if all bytes are equal.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, MemRefType, i64
from xdsl.ir import SSAValue

from xrelay.dialects.loop import SortOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.upstream.arith_extras import IndexCastUIOp, element_type
from xrelay.lowering.arithmetic import Number
from xrelay.lowering.loop_to_scf.buffers import FlatBuffers, on_stack
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.row_writer import RowWriter, Values

INSERTION_LIMIT = 32
"""The greatest number of elements that are sorted by insertion."""

BYTES = 256
"""The number of values of a byte."""


class SortWriter(RowWriter):
    """Lowers one `loop.sort`."""

    def __init__(self, emitter: Emitter, op: SortOp, flat: FlatBuffers):
        super().__init__(emitter, op, flat)
        buffers = (op.source, op.values, op.indices, op.scratch_keys, op.scratch_indices)
        self._source, self._values, self._indices, self._keys, self._places = map(flat.accessed, buffers)
        self._op, self._length, self._count = op, self._known(op.length), self._known(op.count)
        key = memref_type(self._keys).element_type
        assert isinstance(key, IntegerType), "the verifier has checked the keys"
        self._key_type = key

    def write(self) -> None:
        """Appends the lowered ops."""
        length = self._index(self._length)

        def fill(position: Number, _: Values) -> Values:
            self._put(position, self._key_of(self._element(position)), position.convert(arith.IndexCastOp, i64))
            return []

        self._for(length, [], fill)
        self._write_results(self._sort(self._length, length))

    def _sort(self, length: int | Number, half: Number) -> Number:
        """Sorts the first `length` elements of the scratch, whose second half begins at `half`.

        Returns the position in the scratch where the sorted elements begin.
        """
        number = self._index(length)
        if isinstance(length, int):
            return self._insertion_sort(number) if length <= INSERTION_LIMIT else self._radix_sort(number, half)
        is_short = number.compare("sle", INSERTION_LIMIT)
        return self._choose(is_short, lambda: self._insertion_sort(number), lambda: self._radix_sort(number, half))

    # --- insertion

    def _insertion_sort(self, length: Number) -> Number:
        """Sorts in place; returns 0."""

        def insert(position: Number, _: Values) -> Values:
            key, origin = self._key(position), self._origin(position)
            self._put(self._shift_after(key, position), key, origin)
            return []

        self._for(length, [], insert)
        return self._index(0)

    def _shift_after(self, key: Number, last: Number) -> Number:
        """Moves the elements after `key` in the sorted elements `[0, last)` one place on; returns the free place."""

        def continues(positions: Values) -> Number:
            is_inside = positions[0].compare("sgt", 0)
            return self._if(is_inside, lambda: key.compare("ult", self._key(positions[0] - 1)))

        def move(positions: Values) -> Values:
            before = positions[0] - 1
            self._put(positions[0], self._key(before), self._origin(before))
            return [before]

        return self._while([last], continues, move)[0]

    # --- passes by bytes

    def _radix_sort(self, length: Number, half: Number) -> Number:
        """Sorts by each byte of the keys; returns the position of the half that has the sorted elements."""
        number = self._key_type.width.data // 8
        counts = self._emit.on_stack(on_stack(MemRefType(IndexType(), [number * BYTES]))).memref
        self._count_bytes(length, number, counts)

        def sort_by(byte: Number, halves: Values) -> Values:
            source = halves[0]
            first = byte * BYTES
            shift = (byte * 8).convert(arith.IndexCastOp, self._key_type)
            common = self._load(counts, [first + self._byte(self._key(source), shift)])
            return [
                self._choose(
                    common.compare("eq", length),
                    lambda: source,
                    lambda: self._pass(length, counts, first, shift, source, half - source),
                )
            ]

        return self._for(self._index(number), [self._index(0)], sort_by)[0]

    def _count_bytes(self, length: Number, number: int, counts: SSAValue) -> None:
        """Counts how often each byte of the keys has each value."""
        zero, one = self._index(0), self._index(1)

        def clear(place: Number, _: Values) -> Values:
            self._store(zero, counts, [place])
            return []

        def count(position: Number, _: Values) -> Values:
            key = self._key(position)
            for byte in range(number):
                at = [self._byte(key, key.like(8 * byte)) + BYTES * byte]
                self._store(self._load(counts, at) + one, counts, at)
            return []

        self._for(self._index(number * BYTES), [], clear)
        self._for(length, [], count)

    def _pass(
        self, length: Number, counts: SSAValue, first: Number, shift: Number, source: Number, target: Number
    ) -> Number:
        """Moves all elements from one half to the other, ordered by a byte; returns the position of the other half.

        The counts of the byte's values, from `first` on, become the place of the next element with this value.
        """

        def start(value: Number, places: Values) -> Values:
            following = places[0] + self._load(counts, [first + value])
            self._store(places[0], counts, [first + value])
            return [following]

        def move(position: Number, _: Values) -> Values:
            key, origin = self._key(source + position), self._origin(source + position)
            at = [first + self._byte(key, shift)]
            place = self._load(counts, at)
            self._store(place + 1, counts, at)
            self._put(place, key, origin)
            return []

        self._for(self._index(BYTES), [target], start)
        self._for(length, [], move)
        return target

    def _byte(self, key: Number, shift: Number) -> Number:
        return (key.shift_right_logical(shift) & (BYTES - 1)).convert(IndexCastUIOp, IndexType())

    # --- elements

    def _key_of(self, element: Number) -> Number:
        """Returns the key of an element, or the keys of a vector of elements; see the module's description."""
        width = self._key_type.width.data
        sign = -(1 << (width - 1))
        if isinstance(element_type(element.value.type), AnyFloat):
            bits = element.bits(self._key_type)
            ordered = bits ^ ((bits >> (width - 1)) | sign)
            ordered = element.compare("oeq", 0.0).select(bits.like(sign), ordered)
            key = element.compare("uno", element).select(bits.like(-1), ordered)
        elif self._op.unsigned is not None:
            key = self._widened(element, arith.ExtUIOp)
        else:
            key = self._widened(element, arith.ExtSIOp) ^ sign
        return key ^ -1 if self._op.descending is not None else key

    def _widened(self, element: Number, extend: type[arith.ExtUIOp | arith.ExtSIOp]) -> Number:
        """Returns an integer that may have fewer bits than a key as an integer of the keys' type."""
        if element_type(element.value.type) == self._key_type:
            return element
        return self._number(self._emit.add(extend(element.value, self._key_type)).result)

    def _at(self, position: Number) -> Values:
        """Returns the indices of a place of the row in the source and in the results."""
        axis = self._op.axis.value.data
        return [*self._row[:axis], position, *self._row[axis:]]

    def _element(self, position: Number) -> Number:
        return self._load(self._source, self._at(position))

    def _key(self, position: Number) -> Number:
        return self._load(self._keys, [*self._row, position])

    def _origin(self, position: Number) -> Number:
        return self._load(self._places, [*self._row, position])

    def _put(self, position: Number, key: Number, origin: Number) -> None:
        """Stores a key and the original position of its element in the scratch."""
        at = [*self._row, position]
        self._store(key, self._keys, at)
        self._store(origin, self._places, at)

    def _write_results(self, first: Number) -> None:
        """Stores the elements at the kept positions, and these positions, which begin at `first` in the scratch."""

        def store(position: Number, _: Values) -> Values:
            origin, at = self._origin(first + position), self._at(position)
            self._store(self._element(origin.convert(arith.IndexCastOp, IndexType())), self._values, at)
            self._store(origin, self._indices, at)
            return []

        self._for(self._index(self._count), [], store)
