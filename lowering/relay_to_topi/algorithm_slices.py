"""`relay.compress`, whose result size depends on the data, and `relay.rank_rows`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, i1, i32
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, divisor, element_of
from xrelay.dialects.relay.ops.algorithm_slices import CompressOp, RankRowsOp
from xrelay.dialects.topi import PositionsOp
from xrelay.dialects.topi.build import Body, compute, is_unsigned, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.algorithm_select import is_below_count
from xrelay.lowering.relay_to_topi.registry import implements


@implements(CompressOp, "compress.generic")
def build_compress(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Gathers the slices where the condition is true, followed by zeros."""
    data = emitter.operand(0)
    found = emitter.insert(PositionsOp(emitter.operand(1)))
    shape, element = shape_of(data), element_of(data)
    axis = emitter.integer("axis") % len(shape)

    def kept(b: Body) -> SSAValue:
        at = b.spatial[axis]

        def read() -> SSAValue:
            place = b.as_index(b.add(arith.IndexCastOp(b.read(found.positions, at), IndexType())))
            return b.read(data, *b.spatial[:axis], place, *b.spatial[axis + 1 :])

        is_used = is_below_count(b, b.index(at), found.count)
        return b.guard(is_used, element, read, lambda: b.constant(0, element))

    room = (*shape[:axis], *shape_of(found.positions), *shape[axis + 1 :])
    return [emitter.counted(emitter.compute("compress", variables("i", room), element, kept), found.count)]


@implements(RankRowsOp, "rank_rows.generic")
def build_rank_rows(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Folds over all rows for each row: the sign of the first difference, and the number of smaller rows."""
    data = emitter.operand(0)
    rows, columns = shape_of(data)

    def step(b: Body) -> list[SSAValue]:
        sign, before = b.accumulators
        (row,), (place,) = b.spatial, b.reduction
        other, column = b.quotient(place, divisor(columns)), b.remainder(place, divisor(columns))
        zero = b.constant(0, i32)
        begins = b.add(CmpiOp(b.index(column), b.constant(0, IndexType()), "eq"))
        so_far = b.add(SelectOp(begins, zero, sign))
        here = _sign(b, b.read(data, other, column), b.read(data, row, column))
        is_decided = b.add(CmpiOp(so_far, zero, "ne"))
        sign = b.add(SelectOp(is_decided, so_far, here))
        ends = b.add(CmpiOp(b.index(column), b.size(columns - 1, IndexType()), "eq"))
        is_before = b.add(arith.AndIOp(ends, b.add(CmpiOp(sign, zero, "slt"))))
        return [sign, b.plus(before, b.add(SelectOp(is_before, b.constant(1, i32), zero)))]

    reduce: dict[str, Dim] = {"k": rows * columns}
    op = compute("rank_rows", {"i": rows}, [i32, i32], step, reduce=reduce, init=[0, 0])
    return [emitter.insert(op).results[1]]


def _sign(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Returns -1, 0 or 1 if `x` is less than, equal to or greater than `y`."""
    behind = b.add(SelectOp(_is_less(b, y, x), b.constant(1, i32), b.constant(0, i32)))
    return b.add(SelectOp(_is_less(b, x, y), b.constant(-1, i32), behind))


def _is_less(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Returns whether `x` sorts before `y`; NaN is the greatest."""
    if not isinstance(x.type, AnyFloat):
        unsigned = x.type == i1 or is_unsigned(x.type)
        return b.add(CmpiOp(x, y, "ult" if unsigned else "slt"))
    is_number = b.add(arith.CmpfOp(x, x, "ord"))
    return b.add(arith.AndIOp(is_number, b.add(arith.CmpfOp(x, y, "ult"))))
