"""Slice assignment, sliding windows and advanced indexing."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i1, i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.checked_indices import checked_indices
from xrelay.dialects.relay.computes.scalars import as_number
from xrelay.dialects.relay.ops.tensor.windows import AdvIndexOp, SlidingWindowOp, StridedSetOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements


@implements(StridedSetOp, "strided_set.generic")
def build_strided_set(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the new values in the slice, else the data."""
    data, new = emitter.operand(0), emitter.operand(1)
    shape, element, room = shape_of(data), element_of(data), shape_of(new)
    count = emitter.known(emitter.operand(2), "begin")[0]
    bounds = [_bounds(emitter, axis, shape[axis]) for axis in range(count)]

    def choose(b: Body) -> SSAValue:
        is_set, at = b.constant(1, i1), list[IndexLike](b.spatial)
        for axis, bound in enumerate(bounds):
            first, stride, number = (b.read(bound, place) for place in range(3))
            way = b.minus(as_number(b, b.spatial[axis], i64), first)
            place = b.divide(way, stride)
            is_step = b.add(CmpiOp(b.times(place, stride), way, "eq"))
            is_within = b.add(CmpiOp(place, number, "ult"))
            is_set = b.add(arith.AndIOp(is_set, b.add(arith.AndIOp(is_step, is_within))))
            at[axis] = b.as_index(b.add(IndexCastOp(place, IndexType())))
        is_set = b.add(arith.AndIOp(is_set, b.in_bounds(at, room)))
        return b.guard(is_set, element, lambda: b.read(new, *at), lambda: b.read(data, *b.spatial))

    return [emitter.compute("strided_set", variables("i", shape), element, choose)]


def _bounds(emitter: TopiBuilder, axis: int, extent: Dim) -> SSAValue:
    """Returns the first index of a slice along an axis, its nonzero stride, and its number of elements."""

    def bound(b: Body) -> SSAValue:
        begin, end, stride = (convert_scalar(b, b.read(emitter.operand(number), axis), i64) for number in (2, 3, 4))
        zero, one, size = b.constant(0, i64), b.constant(1, i64), b.size(extent, i64)
        is_back, is_none = (b.add(CmpiOp(stride, zero, word)) for word in ("slt", "eq"))
        low = b.add(SelectOp(is_back, b.constant(-1, i64), zero))
        high = b.add(SelectOp(is_back, b.minus(size, one), size))

        def brought(number: SSAValue) -> SSAValue:
            is_from_end = b.add(CmpiOp(number, zero, "slt"))
            number = b.add(SelectOp(is_from_end, b.plus(number, size), number))
            return b.minimum(b.maximum(number, low), high)

        first, last = brought(begin), brought(end)
        step = b.add(SelectOp(is_none, one, stride))
        way = b.minus(last, first)
        inner = b.add(SelectOp(is_back, b.plus(way, one), b.minus(way, one)))
        signed = b.add(SelectOp(is_back, b.minus(zero, way), way))
        is_some = b.add(SelectOp(is_none, b.constant(0, i1), b.add(CmpiOp(signed, zero, "sgt"))))
        count = b.add(SelectOp(is_some, b.plus(b.divide(inner, step), one), zero))
        which = b.index(b.spatial[0])
        is_first, is_second = (b.add(CmpiOp(which, b.constant(place, IndexType()), "eq")) for place in (0, 1))
        return b.add(SelectOp(is_first, first, b.add(SelectOp(is_second, step, count))))

    return emitter.compute("slice_bounds", {"k": 3}, i64, bound)


@implements(SlidingWindowOp, "sliding_window.generic")
def build_sliding_window(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the element at an index of a window."""
    data, strides = emitter.operand(0), emitter.ints("strides")
    axis = emitter.integer("axis") % len(shape_of(data))
    count = len(strides)

    def read(b: Body) -> SSAValue:
        places, taps = b.spatial[axis : axis + count], b.spatial[axis + count :]
        at = [place * stride + tap for place, stride, tap in zip(places, strides, taps, strict=True)]
        return b.read(data, *b.spatial[:axis], *at)

    return [emitter.compute("sliding_window", variables("i", emitter.result_shape), element_of(data), read)]


@implements(AdvIndexOp, "adv_index.generic")
def build_adv_index(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the element at the indices, which are checked at run time."""
    data, *indices = emitter.operands_of_tuple(0)
    shape, result = shape_of(data), emitter.result_shape
    tables = [checked_indices(emitter, each, shape[axis]) for axis, each in enumerate(indices)]
    rank = len(result) - len(shape) + len(indices)

    def place(b: Body, table: SSAValue) -> IndexLike:
        extents = shape_of(table)
        first = rank - len(extents)
        rows = zip(b.spatial[first:rank], extents, result[first:rank], strict=True)
        return b.as_index(b.read(table, *(b.broadcast(at, extent, space) for at, extent, space in rows)))

    def read(b: Body) -> SSAValue:
        return b.read(data, *(place(b, table) for table in tables), *b.spatial[rank:])

    return [emitter.compute("adv_index", variables("i", result), element_of(data), read)]
