"""`relay.argwhere` and `relay.unique`, whose result sizes depend on the data.

Such a result is a buffer of the maximum size and a count; elements from the count on are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, divisor, element_of
from xrelay.dialects.relay.ops.algorithm_select import ArgwhereOp, UniqueOp
from xrelay.dialects.topi import PositionsOp, SortOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.algorithm_search import before, number_by_halving
from xrelay.lowering.relay_to_topi.registry import implements


@implements(ArgwhereOp, "argwhere.generic")
def build_argwhere(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Finds the positions of nonzero elements and converts them to indices."""
    data = emitter.operand(0)
    shape = shape_of(data)
    mask = emitter.compute(
        "is_not_zero", variables("i", shape), i1, lambda b: convert_scalar(b, b.read(data, *b.spatial), i1)
    )
    found = emitter.insert(PositionsOp(mask))

    def index(b: Body) -> SSAValue:
        row, column = b.spatial
        position = b.as_index(b.add(arith.IndexCastOp(b.read(found.positions, row), IndexType())))
        result = b.constant(0, i32)
        inner: Dim = 1
        for axis in reversed(range(len(shape))):
            extent = divisor(shape[axis])
            value = b.add(arith.IndexCastOp(b.index(b.remainder(b.quotient(position, inner), extent)), i32))
            here = b.add(CmpiOp(b.index(column), b.constant(axis, IndexType()), "eq"))
            result = b.add(SelectOp(here, value, result))
            inner = inner * extent
        return result

    rows = shape_of(found.positions)[0]
    indices = emitter.compute("argwhere", {"i": rows, "j": len(shape)}, i32, index)
    return [emitter.counted(indices, found.count)]


@implements(UniqueOp, "unique.generic")
def build_unique(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Finds runs of equal elements in the sorted data; for the order of first occurrence, runs are sorted again."""
    data = emitter.operand(0)
    length, element = shape_of(data)[0], element_of(data)
    by_value = emitter.insert(SortOp(data, 0))
    is_new = emitter.compute("is_new", {"i": length}, i1, lambda b: _begins_run(b, by_value.values, length))
    runs = emitter.insert(PositionsOp(is_new))
    lists = _Lists(emitter, runs.count, length)
    values = lists.of("unique", element, lambda b, j: b.read(by_value.values, lists.at(b, runs.positions, j)))
    first = lists.of("unique_first", i64, lambda b, j: b.read(by_value.indices, lists.at(b, runs.positions, j)))
    counts = lists.of("unique_counts", i64, lambda b, j: lists.run_length(b, runs.positions, j))
    # Sorting the sort order yields the sorted position of each element; its run is the last run that begins at or
    # before that.
    went = emitter.insert(SortOp(by_value.indices, 0)).indices
    behind = lists.number_at_most(runs.positions, went)
    inverse = lists.all("unique_inverse", lambda b, j: b.minus(b.read(behind, j), b.constant(1, i64)))
    if not emitter.flag("is_sorted"):
        keys = lists.of("unique_met", i64, lambda b, j, places=first: b.read(places, j), behind=length)
        met = emitter.insert(SortOp(keys, 0)).indices
        values, first, counts = (lists.picked(each, met) for each in (values, first, counts))
        place = emitter.insert(SortOp(met, 0)).indices
        inverse = lists.all("unique_inverse_met", lambda b, j, old=inverse: b.read(place, lists.at(b, old, j)))
    number = emitter.compute("num_unique", {"i": 1}, i32, lambda b: convert_scalar(b, b.read(runs.count), i32))
    results = [values, lists.as_i32(first), lists.as_i32(inverse), number]
    return [*results, lists.as_i32(counts)] if emitter.flag("return_counts") else results


def _begins_run(b: Body, ordered: SSAValue, length: Dim) -> SSAValue:
    """Returns whether the current element of a sorted vector is the first of a run of equal elements."""
    (i,) = b.spatial
    has_previous, first = b.in_bounds([i - 1], [length]), b.constant(1, i1)
    return b.guard(has_previous, i1, lambda: before(b, b.read(ordered, i - 1), b.read(ordered, i)), lambda: first)


class _Lists:
    """Builds vectors of `length` elements; the first `count`, known at run time, are used."""

    def __init__(self, emitter: TopiBuilder, count: SSAValue, length: Dim):
        self._emitter, self._count, self._length = emitter, count, length

    def all(self, label: str, fill: Callable[[Body, AffineExpr], SSAValue], element: Attribute = i64) -> SSAValue:
        """Emits a vector whose elements are all used; `fill` returns the element at an index."""
        return self._emitter.compute(label, {"i": self._length}, element, lambda b: fill(b, b.spatial[0]))

    def of(
        self, label: str, element: Attribute, fill: Callable[[Body, AffineExpr], SSAValue], *, behind: Dim = 0
    ) -> SSAValue:
        """Emits a vector with the number `behind` in unused elements."""

        def chosen(b: Body, j: AffineExpr) -> SSAValue:
            used = self._is_used(b, b.index(j))
            return b.guard(used, element, lambda: fill(b, j), lambda: b.size(behind, element))

        return self.all(label, chosen, element)

    def picked(self, values: SSAValue, order: SSAValue) -> SSAValue:
        """Permutes `values`."""
        return self.all("unique_picked", lambda b, j: b.read(values, self.at(b, order, j)), element_of(values))

    def as_i32(self, values: SSAValue) -> SSAValue:
        """Converts a vector to i32, as in Relay."""
        return self.all("places", lambda b, j: convert_scalar(b, b.read(values, j), i32), i32)

    def run_length(self, b: Body, starts: SSAValue, j: AffineExpr) -> SSAValue:
        """Returns the length of run `j`, up to the start of the next run or the end."""
        following = b.add(arith.AddiOp(b.index(j), b.constant(1, IndexType())))
        end = b.guard(
            self._is_used(b, following), i64, lambda: b.read(starts, j + 1), lambda: b.size(self._length, i64)
        )
        return b.minus(end, b.read(starts, j))

    def number_at_most(self, ascending: SSAValue, bounds: SSAValue) -> SSAValue:
        """Returns the number of used elements of the ascending vector that are at most each of `bounds`."""

        def is_left(b: Body, place: AffineExpr) -> SSAValue:
            is_below = b.add(CmpiOp(b.read(ascending, place), b.read(bounds, *b.spatial), "sle"))
            return b.add(arith.AndIOp(self._is_used(b, b.index(place)), is_below))

        return number_by_halving(self._emitter, "at_most", [self._length], self._length, is_left)

    def at(self, b: Body, places: SSAValue, j: AffineExpr) -> AffineExpr:
        """Returns element `j` of `places` as an index."""
        return b.as_index(b.add(arith.IndexCastOp(b.read(places, j), IndexType())))

    def _is_used(self, b: Body, j: SSAValue) -> SSAValue:
        return is_below_count(b, j, self._count)


def is_below_count(b: Body, j: SSAValue, count: SSAValue) -> SSAValue:
    """Returns whether an index is less than `count`, which is known at run time."""
    return b.add(CmpiOp(j, b.add(arith.IndexCastOp(b.read(count), IndexType())), "slt"))
