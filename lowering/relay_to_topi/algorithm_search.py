"""`relay.searchsorted`: binary search."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, i1, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.ops.algorithm_search import SearchsortedOp
from xrelay.dialects.topi.build import Body, IndexLike, compute, is_unsigned, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.dims import Dim, minimum
from xrelay.lowering.relay_to_topi.algorithm_sort import as_places
from xrelay.lowering.relay_to_topi.registry import implements


@implements(SearchsortedOp, "searchsorted.generic")
def build_searchsorted(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Counts the elements before each value; with `right`, equal elements are included."""
    rows, values, right = emitter.operand(0), emitter.operand(1), emitter.flag("right")
    length = shape_of(rows)[-1]

    def is_left(b: Body, place: AffineExpr) -> SSAValue:
        row: list[IndexLike] = [] if len(shape_of(rows)) == 1 else [*b.spatial[:-1]]
        value, found = b.read(values, *b.spatial), b.read(rows, *row, place)
        return _not(b, before(b, value, found)) if right else before(b, found, value)

    places = number_by_halving(emitter, "searchsorted", shape_of(values), length, is_left)
    return [as_places(emitter, places, emitter.result_type.element_type)]


def number_by_halving(
    emitter: TopiBuilder,
    label: str,
    shape: Sequence[Dim],
    length: Dim,
    is_left: Callable[[Body, AffineExpr], SSAValue],
) -> SSAValue:
    """Returns the number of leading indices below `length` for which `is_left` holds, for each point of `shape`.

    The end of the leading indices is in `[first, first + size]`. The range is empty after log2 steps; further steps
    change nothing. The second accumulator is the size. If the length is symbolic, it is the length minus the size,
    because accumulators begin with constants.
    """
    known = isinstance(length, int)

    def halve(b: Body) -> list[SSAValue]:
        first, size = b.accumulators
        if not known:
            size = b.minus(b.size(length, i64), size)
        one, half = b.constant(1, i64), b.divide(size, b.constant(2, i64))
        middle = b.minimum(b.plus(first, half), b.size(length - 1, i64))
        goes_on = is_left(b, b.as_index(b.add(arith.IndexCastOp(middle, IndexType()))))
        goes_on = b.add(arith.AndIOp(goes_on, b.add(CmpiOp(size, b.constant(0, i64), "sgt"))))
        behind = b.minus(b.minus(size, half), one)
        first, left = b.add(SelectOp(goes_on, b.plus(middle, one), first)), b.add(SelectOp(goes_on, behind, half))
        return [first, left if known else b.minus(b.size(length, i64), left)]

    extents, steps, init = variables("i", shape), {"k": _halvings(length)}, [0, length if known else 0]
    return emitter.insert(compute(label, extents, [i64, i64], halve, reduce=steps, init=init)).results[0]


def _halvings(length: Dim) -> Dim:
    """Returns the number of halvings that reduce a length to 0; for symbolic lengths up to 15 more."""
    if isinstance(length, int):
        return length.bit_length()
    return 16 * minimum(1, length) + 16 * minimum(1, length // 2**16) + 16 * minimum(1, length // 2**32)


def before(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Returns whether `x` sorts before `y`; NaN is the greatest."""
    if not isinstance(x.type, AnyFloat):
        return b.add(CmpiOp(x, y, "ult" if is_unsigned(x.type) else "slt"))
    return b.add(arith.AndIOp(b.add(arith.CmpfOp(x, y, "ult")), b.add(arith.CmpfOp(x, x, "ord"))))


def _not(b: Body, condition: SSAValue) -> SSAValue:
    return b.add(arith.XOrIOp(condition, b.add(arith.ConstantOp(IntegerAttr(1, i1)))))
