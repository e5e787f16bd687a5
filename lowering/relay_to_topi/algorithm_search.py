"""`relay.searchsorted`: each value finds its place by halving the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, i1, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiEmitter
from xrelay.dialects.relay.ops.algorithm_search import SearchsortedOp
from xrelay.dialects.topi.build import Body, IndexLike, compute, is_unsigned, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.dims import Dim, minimum
from xrelay.lowering.relay_to_topi.algorithm_sort import as_places
from xrelay.lowering.relay_to_topi.registry import implements


@implements(SearchsortedOp, "searchsorted.generic")
def build_searchsorted(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """As many places as have elements before the value; on the right those that are equal too."""
    rows, values, right = emitter.operand(0), emitter.operand(1), emitter.flag("right")
    length = shape_of(rows)[-1]

    def is_left(b: Body, place: AffineExpr) -> SSAValue:
        row: list[IndexLike] = [] if len(shape_of(rows)) == 1 else [*b.spatial[:-1]]
        value, found = b.read(values, *b.spatial), b.read(rows, *row, place)
        return _not(b, before(b, value, found)) if right else before(b, found, value)

    places = number_by_halving(emitter, "searchsorted", shape_of(values), length, is_left)
    return [as_places(emitter, places, emitter.result_type.element_type)]


def number_by_halving(
    emitter: TopiEmitter,
    label: str,
    shape: Sequence[Dim],
    length: Dim,
    is_left: Callable[[Body, AffineExpr], SSAValue],
) -> SSAValue:
    """For each point of `shape` the number of places of which `is_left` holds: the first ones of `length` places.

    `[first, first + size)` is what may still hold the last of them; log2 steps empty it, and more change nothing. The
    second accumulator is the size, or, since it begins as a number, where the length has a name what the size lost.
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
    """How many halvings leave nothing of a length, or up to 15 more."""
    if isinstance(length, int):
        return length.bit_length()
    return 16 * minimum(1, length) + 16 * minimum(1, length // 2**16) + 16 * minimum(1, length // 2**32)


def before(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Whether `x` comes before `y` in an ascending row: NaN is the greatest."""
    if not isinstance(x.type, AnyFloat):
        return b.add(CmpiOp(x, y, "ult" if is_unsigned(x.type) else "slt"))
    return b.add(arith.AndIOp(b.add(arith.CmpfOp(x, y, "ult")), b.add(arith.CmpfOp(x, x, "ord"))))


def _not(b: Body, condition: SSAValue) -> SSAValue:
    return b.add(arith.XOrIOp(condition, b.add(arith.ConstantOp(IntegerAttr(1, i1)))))
