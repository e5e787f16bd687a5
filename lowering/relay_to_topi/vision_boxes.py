"""Boxes with scores: filtering by threshold and non-maximum suppression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, Float64Type, IndexType, IntegerType, f32, f64, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.front_rows import FrontRows
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.scalars import as_number, chosen
from xrelay.dialects.relay.ops.vision_boxes import GetValidCountsOp, NonMaxSuppressionOp
from xrelay.dialects.topi import SortOp, SuppressOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpfOp, CmpiOp, IndexCastOp, SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements


@implements(GetValidCountsOp, "vision.get_valid_counts.generic")
@in_single
def build_get_valid_counts(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Moves valid boxes to the front, followed by -1."""
    data, threshold = emitter.operand(0), emitter.operand(1)
    shape, element = shape_of(data), element_of(data)
    real: Attribute = f64 if Float64Type() in (element, element_of(threshold)) else f32
    score, kind = emitter.integer("score_index"), emitter.integer("id_index")

    def is_valid(b: Body) -> SSAValue:
        value = convert_scalar(b, b.read(data, *b.spatial, score), real)
        is_great = b.add(CmpfOp(value, convert_scalar(b, b.read(threshold), real), "ogt"))
        if kind < 0:
            return is_great
        has_class = b.add(CmpfOp(b.read(data, *b.spatial, kind), b.constant(0, element), "oge"))
        return b.add(arith.AndIOp(is_great, has_class))

    front = FrontRows(emitter, emitter.compute("is_valid", variables("i", shape[:2]), i1, is_valid))
    rows = rows_in_front(emitter, data, front)

    def place(b: Body) -> SSAValue:
        used = front.is_used(b, *b.spatial)
        found = b.guard(used, i64, lambda: b.read(front.order, *b.spatial), lambda: b.constant(-1, i64))
        return convert_scalar(b, found, i32)

    return [front.counts(i32), rows, emitter.compute("valid_places", variables("i", shape[:2]), i32, place)]


def rows_in_front(emitter: TopiBuilder, data: SSAValue, front: FrontRows) -> SSAValue:
    """Returns the selected rows in order, followed by rows of -1."""
    element = element_of(data)

    def number(b: Body) -> SSAValue:
        batch, place, column = b.spatial
        return b.guard(
            front.is_used(b, batch, place),
            element,
            lambda: b.read(data, batch, front.row(b, batch, place), column),
            lambda: b.constant(-1, element),
        )

    return emitter.compute("front_rows", variables("i", shape_of(data)), element, number)


@implements(NonMaxSuppressionOp, "vision.non_max_suppression.generic")
@in_single
def build_non_max_suppression(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a sort by score, `topi.suppress` with classes, and the results in the requested form."""
    data, op = emitter.operand(0), cast(NonMaxSuppressionOp, emitter.op)
    taken = _taken(emitter, _Candidates(emitter))
    brings = op.return_indices.value.data or op.invalid_to_bottom.value.data
    spatial = variables("i", shape_of(taken))
    is_taken = emitter.compute(
        "is_taken", spatial, i1, lambda b: b.add(CmpiOp(b.read(taken, *b.spatial), b.constant(0, i64), "sge"))
    )
    front = FrontRows(emitter, is_taken) if brings else None

    def box(b: Body, batch: AffineExpr, place: AffineExpr) -> AffineExpr:
        at = place if front is None else front.row(b, batch, place)
        return b.as_index(b.add(IndexCastOp(b.read(taken, batch, at), IndexType())))

    def is_used(b: Body, batch: AffineExpr, place: AffineExpr) -> SSAValue:
        return b.read(is_taken, batch, place) if front is None else front.is_used(b, batch, place)

    def read(b: Body, tensor: SSAValue) -> SSAValue:
        batch, place, *rest = b.spatial
        element = element_of(tensor)

        def inside() -> SSAValue:
            return b.read(tensor, batch, box(b, batch, place), *rest)

        return b.guard(is_used(b, batch, place), element, inside, lambda: b.constant(-1, element))

    if front is None or not op.return_indices.value.data:
        element = element_of(data)
        return [emitter.compute("boxes", variables("i", shape_of(data)), element, lambda b: read(b, data))]
    numbers = _as_i32(emitter, emitter.operand(2))
    named = emitter.compute("box_numbers", spatial, i32, lambda b: read(b, numbers))
    counts = front.counts(i32)
    column: dict[str, Dim] = {"b": shape_of(data)[0], "i": 1}
    return [named, emitter.compute("box_counts", column, i32, lambda b: b.read(counts, b.spatial[0]))]


def _as_i32(emitter: TopiBuilder, numbers: SSAValue) -> SSAValue:
    names = variables("i", shape_of(numbers))
    return emitter.compute("numbers", names, i32, lambda b: convert_scalar(b, b.read(numbers, *b.spatial), i32))


class _Candidates:
    """The candidate boxes in descending order of score, and the operands of `topi.suppress`."""

    def __init__(self, emitter: TopiBuilder):
        self._emitter, self._data = emitter, emitter.operand(0)
        self._real, (self._batch, self._boxes, _) = element_of(self._data), shape_of(self._data)
        self._kind = emitter.integer("id_index")
        spatial = {"b": self._batch, "c": 1, "i": self._boxes}
        sort = emitter.insert(SortOp(emitter.compute("scores", spatial, self._real, self._score), 2, descending=True))
        self.order = sort.indices
        self.scores = emitter.compute("best_scores", spatial, self._real, lambda b: self._best(b, sort.values))
        self.sides = emitter.compute("box_sides", {"b": self._batch, "s": 6, "i": self._boxes}, self._real, self._side)

    def _score(self, b: Body) -> SSAValue:
        """Returns the score of a candidate, else 0."""
        batch, _, box = b.spatial
        zero = b.constant(0, self._real)
        score = b.read(self._data, batch, box, self._emitter.integer("score_index"))
        known = convert_scalar(b, b.read(self._emitter.operand(1), batch), i64)
        is_known = b.add(CmpiOp(as_number(b, box, i64), known, "slt"))
        takes_part = b.add(arith.AndIOp(is_known, b.add(CmpfOp(score, zero, "ogt"))))
        if self._kind >= 0:
            has_kind = b.add(CmpfOp(b.read(self._data, batch, box, self._kind), zero, "oge"))
            takes_part = b.add(arith.AndIOp(takes_part, has_kind))
        return b.add(SelectOp(takes_part, score, zero))

    def _best(self, b: Body, scores: SSAValue) -> SSAValue:
        """Returns the sorted scores, with 0 after the `top_k` best."""
        limit, score = self._emitter.integer("top_k"), b.read(scores, *b.spatial)
        if limit <= 0:
            return score
        is_best = b.add(CmpiOp(b.index(b.spatial[2]), b.constant(limit, IndexType()), "slt"))
        return b.add(SelectOp(is_best, score, b.constant(0, self._real)))

    def _side(self, b: Body) -> SSAValue:
        """Returns a component of a box: lower and higher corner, area, class."""
        batch, number, box = b.spatial
        first = self._emitter.integer("coord_start")
        numbers = [b.read(self._data, batch, box, first + place) for place in range(4)]
        low = [b.minimum(numbers[axis], numbers[axis + 2]) for axis in (0, 1)]
        high = [b.maximum(numbers[axis], numbers[axis + 2]) for axis in (0, 1)]
        size = b.times(*(b.minus(top, bottom) for top, bottom in zip(high, low, strict=True)))
        has_area = b.add(CmpfOp(size, b.constant(0, self._real), "ogt"))
        area = b.add(SelectOp(has_area, size, b.constant(float("nan"), self._real)))
        one_kind = self._kind < 0 or self._emitter.flag("force_suppress")
        kind = b.constant(0, self._real) if one_kind else b.read(self._data, batch, box, self._kind)
        return chosen(b, number, [*low, *high, area, kind])


def _taken(emitter: TopiBuilder, candidates: _Candidates) -> SSAValue:
    """Returns the selected boxes in descending order of score, -1 for others: (batch, boxes)."""
    data, counts, iou = emitter.operand(0), emitter.operand(1), emitter.operand(4)
    real = element_of(data)
    limits = _most(emitter), emitter.compute("overlap", {}, real, lambda b: _below(b, _threshold(b, iou, real)))
    least = emitter.compute("least", {}, real, lambda b: b.constant(0, real))
    kept = emitter.insert(SuppressOp([candidates.sides, candidates.order, candidates.scores, *limits, least])).kept

    def box(b: Body) -> SSAValue:
        batch, place = b.spatial
        none, own = b.constant(-1, i64), as_number(b, place, i64)
        selected = b.add(SelectOp(b.read(kept, batch, 0, place), b.read(candidates.order, batch, 0, place), none))
        is_known = b.add(CmpiOp(own, convert_scalar(b, b.read(counts, batch), i64), "slt"))
        plain = b.add(SelectOp(is_known, own, none))
        suppresses = b.add(CmpfOp(_threshold(b, iou, real), b.constant(0, real), "ogt"))
        return b.add(SelectOp(suppresses, selected, plain))

    return emitter.compute("taken", variables("i", shape_of(data)[:2]), i64, box)


def _most(emitter: TopiBuilder) -> SSAValue:
    """Returns the maximum number of selected boxes."""

    def fill(b: Body) -> SSAValue:
        most = convert_scalar(b, b.read(emitter.operand(3)), i64)
        is_limit = b.add(CmpiOp(most, b.constant(0, i64), "sge"))
        return b.add(SelectOp(is_limit, most, b.constant((1 << 63) - 1, i64)))

    return emitter.compute("most", {}, i64, fill)


def _threshold(b: Body, iou: SSAValue, real: Attribute) -> SSAValue:
    return convert_scalar(b, b.read(iou), real)


def _below(b: Body, threshold: SSAValue) -> SSAValue:
    """Returns the greatest float less than a positive threshold, because `topi.suppress` compares with "greater"."""
    real = threshold.type
    bits = IntegerType(real.bitwidth) if isinstance(real, AnyFloat) else i64
    lower = b.minus(b.add(arith.BitcastOp(threshold, bits)), b.constant(1, bits))
    return b.add(arith.BitcastOp(lower, real))
