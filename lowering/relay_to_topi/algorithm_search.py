"""`relay.searchsorted`: each value finds its place by halving the row."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, i1, i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.algorithm_search import SearchsortedOp
from xrelay.dialects.topi.build import Body, IndexLike, compute, is_unsigned, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.lowering.relay_to_topi.algorithm_sort import as_integers
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter
from xrelay.lowering.relay_to_topi.strategies import implements


@implements(SearchsortedOp, "searchsorted.generic")
def build_searchsorted(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """`[first, first + size)` is what may still hold the place's left neighbour; log2 steps empty it."""
    rows, values, right = emitter.operand(0), emitter.operand(1), emitter.flag("right")
    length = shape_of(rows)[-1]

    def halve(b: Body) -> list[SSAValue]:
        first, size = b.accumulators
        one, value = b.constant(1, i64), b.read(values, *b.spatial)
        half = b.divide(size, b.constant(2, i64))
        middle = b.minimum(b.plus(first, half), b.constant(length - 1, i64))
        row: list[IndexLike] = [] if len(shape_of(rows)) == 1 else [*b.spatial[:-1]]
        found = b.read(rows, *row, b.as_index(b.add(arith.IndexCastOp(middle, IndexType()))))
        is_left = _not(b, before(b, value, found)) if right else before(b, found, value)
        goes_on = b.add(arith.AndIOp(is_left, b.add(CmpiOp(size, b.constant(0, i64), "sgt"))))
        behind = b.minus(b.minus(size, half), one)
        return [b.add(SelectOp(goes_on, b.plus(middle, one), first)), b.add(SelectOp(goes_on, behind, half))]

    steps, extents = {"k": length.bit_length()}, variables("i", shape_of(values))
    op = emitter.insert(compute("searchsorted", extents, [i64, i64], halve, reduce=steps, init=[0, length]))
    return [as_integers(emitter, op.results[0], emitter.result_type.element_type)]


def before(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Whether `x` comes before `y` in an ascending row: NaN comes last."""
    if not isinstance(x.type, AnyFloat):
        return b.add(CmpiOp(x, y, "ult" if is_unsigned(x.type) else "slt"))
    return b.add(arith.AndIOp(b.add(arith.CmpfOp(x, y, "ult")), b.add(arith.CmpfOp(x, x, "ord"))))


def _not(b: Body, condition: SSAValue) -> SSAValue:
    return b.add(arith.XOrIOp(condition, b.add(arith.ConstantOp(IntegerAttr(1, i1)))))
