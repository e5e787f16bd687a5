"""Comparison in sort order, binary search, and selected rows, which are moved to the front."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.topi import SortOp
from xrelay.dialects.topi.build import Body, compute, is_unsigned, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp
from xrelay.index_algebra.dims import Dim, minimum


def before(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Returns whether `x` sorts before `y`; NaN is the greatest."""
    if not isinstance(x.type, AnyFloat):
        return b.add(CmpiOp(x, y, "ult" if is_unsigned(x.type) else "slt"))
    return b.logical_and(b.add(arith.CmpfOp(x, y, "ult")), b.add(arith.CmpfOp(x, x, "ord")))


def number_by_halving(
    build: TopiBuilder,
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
        one, half = b.constant(1, i64), b.divide(size, 2)
        middle = b.minimum(b.plus(first, half), b.size(length - 1, i64))
        goes_on = is_left(b, b.as_index(middle))
        goes_on = b.logical_and(goes_on, b.compare(size, "gt", 0))
        behind = b.minus(b.minus(size, half), one)
        first, left = b.select(goes_on, b.plus(middle, one), first), b.select(goes_on, behind, half)
        return [first, left if known else b.minus(b.size(length, i64), left)]

    extents, steps, init = variables("i", shape), {"k": _halvings(length)}, [0, length if known else 0]
    return build.insert(compute(label, extents, [i64, i64], halve, reduce=steps, init=init)).results[0]


def _halvings(length: Dim) -> Dim:
    """Returns the number of halvings that reduce a length to 0; for symbolic lengths up to 15 more."""
    if isinstance(length, int):
        return length.bit_length()
    return 16 * minimum(1, length) + 16 * minimum(1, length // 2**16) + 16 * minimum(1, length // 2**32)


def is_below_count(b: Body, j: SSAValue, count: SSAValue) -> SSAValue:
    """Returns whether an index is less than `count`, which is known at run time."""
    return b.compare(j, "lt", b.add(arith.IndexCastOp(b.read(count), IndexType())))


class FrontRows:
    """The rows that a mask (batches, rows) selects: a stable sort moves them to the front, and a sum counts them."""

    def __init__(self, emitter: TopiBuilder, mask: SSAValue):
        self._emitter = emitter
        self._batch, self._rows = shape_of(mask)
        spatial = {"b": self._batch, "i": self._rows}
        keys = emitter.compute("is_kept", spatial, i32, lambda b: b.convert(b.read(mask, *b.spatial), i32))
        self.order = emitter.insert(SortOp(keys, 1, descending=True)).indices

        def add(b: Body) -> SSAValue:
            return b.plus(b.accumulators[0], b.convert(b.read(keys, *b.spatial, b.reduction[0]), i64))

        self._counts = emitter.compute("kept", {"b": self._batch}, i64, add, reduce={"i": self._rows}, init=[0])

    def row(self, b: Body, batch: AffineExpr, place: AffineExpr) -> AffineExpr:
        """Returns the row that is moved to an index."""
        return b.read_index(self.order, batch, place)

    def is_used(self, b: Body, batch: AffineExpr, place: AffineExpr) -> SSAValue:
        """Returns whether a selected row is moved to an index."""
        number = b.add(IndexCastOp(b.index(place), i64))
        return b.compare(number, "lt", b.read(self._counts, batch))

    def counts(self, element: Attribute) -> SSAValue:
        """Returns the number of selected rows of each batch."""
        counts, spatial = self._counts, {"b": self._batch}
        return self._emitter.compute(
            "counts", spatial, element, lambda b: b.convert(b.read(counts, *b.spatial), element)
        )


def best_scores(build: TopiBuilder, scores: SSAValue, count: int, otherwise: float) -> tuple[SSAValue, SSAValue]:
    """Sorts scores (batches, classes, boxes) in descending order; returns the boxes and their scores.

    Scores after the first `count` are `otherwise`; a count that is not positive means all.
    """
    sort = build.insert(SortOp(scores, 2, descending=True))

    def score(b: Body) -> SSAValue:
        value = b.read(sort.values, *b.spatial)
        if count <= 0:
            return value
        return b.select(b.compare(b.index(b.spatial[2]), "lt", count), value, otherwise)

    spatial = dict(zip("bci", build.shape(scores), strict=True))
    return sort.indices, build.compute("best_scores", spatial, build.element(scores), score)
