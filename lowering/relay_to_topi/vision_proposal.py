"""`relay.vision.proposal`: anchors transformed by predictions, sorted by score and suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, i1, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, divisor, element_of
from xrelay.dialects.relay.computes.front_rows import FrontRows
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.scalars import as_number, chosen
from xrelay.dialects.relay.ops.vision_proposal import ProposalOp
from xrelay.dialects.topi import SortOp, SuppressOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpfOp, CmpiOp, IndexCastOp, SelectOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(ProposalOp, "vision.proposal.generic")
@in_single
def build_proposal(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the selected boxes in order, repeated if there are too few."""
    boxes = _Boxes(emitter)
    order, kept = boxes.taken()
    front = FrontRows(emitter, kept)
    counts, post, real = front.counts(i64), emitter.integer("rpn_post_nms_top_n"), boxes.real

    def number(b: Body) -> SSAValue:
        row, column = b.spatial
        image, place = row // post, row % post
        count, zero = b.read(counts, image), b.constant(0, i64)

        def side() -> SSAValue:
            own = b.add(arith.RemUIOp(as_number(b, place, i64), count))
            rank = front.row(b, image, b.as_index(b.add(IndexCastOp(own, IndexType()))))
            box = b.as_index(b.add(IndexCastOp(b.read(order, image, rank), IndexType())))
            return chosen(b, column, [b.constant(0, real), *(b.read(boxes.ends, image, end, box) for end in range(4))])

        has_box = b.add(CmpiOp(count, zero, "sgt"))
        value = b.guard(has_box, real, side, lambda: b.constant(0, real))
        is_image = b.add(CmpiOp(b.index(column), b.constant(0, IndexType()), "eq"))
        return b.add(SelectOp(is_image, as_number(b, image, real), value))

    return [emitter.compute("proposals", variables("i", emitter.result_shape), real, number)]


class _Boxes:
    """The boxes of all anchors, in order of pixels of the feature image and anchors of each pixel."""

    def __init__(self, emitter: TopiBuilder):
        self._emitter, self._op = emitter, cast(ProposalOp, emitter.op)
        self._scores, self._moves, self._info = (emitter.operand(number) for number in range(3))
        self._anchors, self.real = self._op.anchors(), element_of(self._scores)
        self._batch, _, self._height, self._width = shape_of(self._scores)
        self._boxes = self._height * self._width * len(self._anchors)
        spatial = {"b": self._batch, "s": 4, "i": self._boxes}
        self._cut = emitter.compute("cut_boxes", spatial, self.real, self._cut_end)
        self.ends = emitter.compute("boxes", spatial, self.real, self._end)

    def taken(self) -> tuple[SSAValue, SSAValue]:
        """Returns the boxes in descending order of score, and whether they are selected: both (images, boxes)."""
        emitter, real = self._emitter, self.real
        rows = {"b": self._batch, "c": 1, "i": self._boxes}
        sort = emitter.insert(SortOp(emitter.compute("scores", rows, real, self._score), 2, descending=True))
        best = emitter.compute("best_scores", rows, real, lambda b: self._best(b, sort.values))
        sides = emitter.compute("box_sides", {"b": self._batch, "s": 5, "i": self._boxes}, real, self._side)
        most = emitter.compute("most", {}, i64, lambda b: b.constant((1 << 63) - 1, i64))
        overlap = emitter.compute("overlap", {}, real, lambda b: b.constant(emitter.number("threshold"), real))
        least = emitter.compute("least", {}, real, lambda b: b.constant(float("-inf"), real))
        kept = emitter.insert(SuppressOp([sides, sort.indices, best, most, overlap, least])).kept
        flat = {"b": self._batch, "i": self._boxes}
        order = emitter.compute("order", flat, i64, lambda b: b.read(sort.indices, b.spatial[0], 0, b.spatial[1]))
        return order, emitter.compute("taken", flat, i1, lambda b: b.read(kept, b.spatial[0], 0, b.spatial[1]))

    def _place(self, b: Body, box: AffineExpr) -> tuple[AffineExpr, AffineExpr, AffineExpr]:
        """Returns the anchor, the row and the column of a box."""
        place, width = box // len(self._anchors), divisor(self._width)
        return box % len(self._anchors), b.quotient(place, width), b.remainder(place, width)

    def _cut_end(self, b: Body) -> SSAValue:
        """Returns a coordinate of a transformed box (left, top, right, bottom), clipped to the image."""
        image, end, box = b.spatial
        ends = [self._moved_end(b, image, box, number) for number in range(4)]
        zero, one = b.constant(0, self.real), b.constant(1, self.real)
        width, height = (b.minus(b.read(self._info, image, axis), one) for axis in (1, 0))
        limits = [width, height, width, height]
        return chosen(b, end, [b.maximum(b.minimum(*pair), zero) for pair in zip(ends, limits, strict=True)])

    def _moved_end(self, b: Body, image: AffineExpr, box: AffineExpr, end: int) -> SSAValue:
        """Returns a coordinate of a transformed anchor."""
        anchor, *places = self._place(b, box)
        axis, stride = end % 2, b.constant(self._emitter.integer("feature_stride"), self.real)
        shift = b.times(as_number(b, places[1 - axis], self.real), stride)

        def own(number: int) -> SSAValue:
            ends = [b.constant(each[number], self.real) for each in self._anchors]
            return b.plus(chosen(b, anchor, ends), shift)

        def move(number: int) -> SSAValue:
            return b.read(self._moves, image, anchor * 4 + number, *places)

        if self._emitter.flag("iou_loss"):
            return b.plus(own(end), move(end))
        one, half = b.constant(1, self.real), b.constant(0.5, self.real)
        low = own(axis)
        extent = b.plus(b.minus(own(axis + 2), low), one)
        centre = b.plus(b.times(move(axis), extent), b.plus(low, b.times(half, b.minus(extent, one))))
        away = b.times(half, b.minus(b.times(b.add(math.ExpOp(move(axis + 2))), extent), one))
        return b.minus(centre, away) if end < 2 else b.plus(centre, away)

    def _is_small(self, b: Body, image: AffineExpr, box: AffineExpr) -> SSAValue:
        """Returns whether the width or height of a clipped box is less than the minimum."""
        least, one = self._least(b, image), b.constant(1, self.real)
        ends = [b.read(self._cut, image, end, box) for end in range(4)]
        extents = [b.plus(b.minus(ends[axis + 2], ends[axis]), one) for axis in (0, 1)]
        narrow, low = (b.add(CmpfOp(extent, least, "olt")) for extent in extents)
        return b.add(arith.OrIOp(narrow, low))

    def _least(self, b: Body, image: AffineExpr) -> SSAValue:
        return b.times(b.read(self._info, image, 2), b.constant(self._emitter.integer("rpn_min_size"), self.real))

    def _end(self, b: Body) -> SSAValue:
        """Returns a coordinate of a clipped box, enlarged if the box is small."""
        image, end, box = b.spatial
        value, least = b.read(self._cut, image, end, box), self._least(b, image)
        factor = chosen(b, end, [b.constant(each, self.real) for each in (-0.5, -0.5, 0.5, 0.5)])
        large = b.plus(value, b.times(factor, least))
        return b.add(SelectOp(self._is_small(b, image, box), large, value))

    def _score(self, b: Body) -> SSAValue:
        """Returns the score of a box: -1 if it is invalid, -inf for NaN, which is never selected."""
        image, _, box = b.spatial
        anchor, row, column = self._place(b, box)
        score = b.read(self._scores, image, anchor + len(self._anchors), row, column)
        stride, one = b.constant(self._emitter.integer("feature_stride"), self.real), b.constant(1, self.real)
        outside = self._is_small(b, image, box)
        for axis, place in enumerate((row, column)):
            end = b.divide(b.read(self._info, image, axis), stride)
            behind = b.add(CmpfOp(end, b.plus(as_number(b, place, self.real), one), "olt"))
            outside = b.add(arith.OrIOp(outside, behind))
        known = b.add(SelectOp(b.add(CmpfOp(score, score, "ord")), score, b.constant(float("-inf"), self.real)))
        return b.add(SelectOp(outside, b.constant(-1, self.real), known))

    def _best(self, b: Body, scores: SSAValue) -> SSAValue:
        """Returns the sorted scores, with NaN after the `rpn_pre_nms_top_n` best."""
        limit, score = self._emitter.integer("rpn_pre_nms_top_n"), b.read(scores, *b.spatial)
        if limit <= 0:
            return score
        is_best = b.add(CmpiOp(b.index(b.spatial[2]), b.constant(limit, IndexType()), "slt"))
        return b.add(SelectOp(is_best, score, b.constant(float("nan"), self.real)))

    def _side(self, b: Body) -> SSAValue:
        """Returns a component of a box for `topi.suppress`, with inclusive ends; area NaN if not positive."""
        image, number, box = b.spatial
        ends = [b.read(self.ends, image, end, box) for end in range(4)]
        sides = [*ends[:2], *(b.plus(end, b.constant(1, self.real)) for end in ends[2:])]
        size = b.times(*(b.minus(sides[axis + 2], sides[axis]) for axis in (0, 1)))
        has_area = b.add(CmpfOp(size, b.constant(0, self.real), "ogt"))
        return chosen(b, number, [*sides, b.add(SelectOp(has_area, size, b.constant(float("nan"), self.real)))])
