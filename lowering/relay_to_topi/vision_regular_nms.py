"""`relay.vision.regular_non_max_suppression`: suppression for each class, then the best of all classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, f32, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, divisor, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.scalars import as_number, chosen
from xrelay.dialects.relay.ops.vision_nms import RegularNonMaxSuppressionOp
from xrelay.dialects.topi import SortOp, SuppressOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpfOp, CmpiOp, IndexCastOp, SelectOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(RegularNonMaxSuppressionOp, "vision.regular_non_max_suppression.generic")
@in_single
def build_regular_non_max_suppression(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the detections in the order of a sort over all classes."""
    return _Detections(emitter).results()


class _Detections:
    """The sorted scores of each class, the selected boxes, and their order over all classes."""

    def __init__(self, emitter: TopiBuilder):
        self._emitter, self._boxes = emitter, emitter.operand(0)
        (self._batch, self._count, _), self._real = shape_of(self._boxes), element_of(self._boxes)
        self._classes = emitter.integer("num_classes")
        of_class = {"b": self._batch, "c": self._classes, "i": self._count}
        candidates = emitter.compute("candidates", of_class, self._real, self._candidate)
        self._by_class = emitter.insert(SortOp(candidates, 2, descending=True))
        self._kept = self._suppressed()
        all_classes = {"b": self._batch, "i": self._count * self._classes}
        self._best = emitter.insert(
            SortOp(emitter.compute("kept_scores", all_classes, self._real, self._kept_score), 1, descending=True)
        )
        self._numbers = emitter.compute(
            "num_detections", {"b": self._batch}, i64, self._add, reduce={"i": all_classes["i"]}, init=[0]
        )

    def _candidate(self, b: Body) -> SSAValue:
        """Returns the score of a candidate, else -inf, which is sorted last and never selected."""
        image, number, box = b.spatial
        scores = self._emitter.operand(1)
        score = b.read(scores, image, box, number + b.expr(shape_of(scores)[2] - self._classes))
        least = b.constant(self._emitter.number("score_threshold"), self._real)
        is_candidate = b.add(CmpfOp(score, least, "oge"))
        return b.add(SelectOp(is_candidate, score, b.constant(float("-inf"), self._real)))

    def _suppressed(self) -> SSAValue:
        """Returns whether each sorted box is selected: (batch, classes, index)."""
        sides = self._emitter.compute("box_sides", {"b": self._batch, "s": 5, "i": self._count}, self._real, self._side)
        values: dict[str, tuple[float, Attribute]] = {
            "most": (self._emitter.integer("max_detections_per_class"), i64),
            "overlap": (self._emitter.number("iou_threshold"), self._real),
            "least": (float("-inf"), self._real),
        }
        limits = [self._scalar(name, *value) for name, value in values.items()]
        return self._emitter.insert(SuppressOp([sides, self._by_class.indices, self._by_class.values, *limits])).kept

    def _scalar(self, name: str, value: float, type: Attribute) -> SSAValue:
        return self._emitter.compute(name, {}, type, lambda b: b.constant(value, type))

    def _side(self, b: Body) -> SSAValue:
        """Returns a component of a box: lower and higher corner, and the area, NaN if the corners are exchanged."""
        image, number, box = b.spatial
        sides = [b.read(self._boxes, image, box, side) for side in range(4)]
        lengths = [b.minus(sides[axis + 2], sides[axis]) for axis in (0, 1)]
        zero, nan = b.constant(0, self._real), b.constant(float("nan"), self._real)
        is_high, is_wide = (b.add(CmpfOp(length, zero, "ogt")) for length in lengths)
        has_lengths = b.add(arith.AndIOp(is_high, is_wide))
        return chosen(b, number, [*sides, b.add(SelectOp(has_lengths, b.times(*lengths), nan))])

    def _at(self, b: Body, image: AffineExpr, place: AffineExpr) -> tuple[AffineExpr, AffineExpr, AffineExpr]:
        """Returns image, class, and index among its boxes, for an index among those of all classes."""
        count = divisor(self._count)
        return image, b.quotient(place, count), b.remainder(place, count)

    def _kept_score(self, b: Body) -> SSAValue:
        at = self._at(b, *b.spatial)
        last = b.constant(float("-inf"), self._real)
        return b.add(SelectOp(b.read(self._kept, *at), b.read(self._by_class.values, *at), last))

    def _add(self, b: Body) -> SSAValue:
        is_kept = b.read(self._kept, *self._at(b, b.spatial[0], b.reduction[0]))
        return b.plus(b.accumulators[0], convert_scalar(b, is_kept, i64))

    def _detected(self, field: int, fill: Callable[[Body, tuple[AffineExpr, ...]], SSAValue]) -> SSAValue:
        """Emits a field of the result: `fill` receives the indices of a detection; unused elements are zero."""
        element = self._emitter.result_types[field].element_type

        def number(b: Body) -> SSAValue:
            image, place = b.spatial[:2]

            def read() -> SSAValue:
                index = b.as_index(b.add(IndexCastOp(b.read(self._best.indices, image, place), IndexType())))
                return fill(b, self._at(b, image, index))

            is_used = b.add(CmpiOp(as_number(b, place, i64), b.read(self._numbers, image), "slt"))
            return b.guard(is_used, element, read, lambda: b.constant(0, element))

        return self._emitter.compute(
            f"detection_{field}", variables("i", self._emitter.extents(field)), element, number
        )

    def results(self) -> list[SSAValue]:
        """Returns boxes, classes, scores and numbers."""

        def side(b: Body, at: tuple[AffineExpr, ...]) -> SSAValue:
            box = b.as_index(b.add(IndexCastOp(b.read(self._by_class.indices, *at), IndexType())))
            return b.read(self._boxes, at[0], box, b.spatial[2])

        def number(b: Body) -> SSAValue:
            room = b.constant(self._emitter.integer("max_detections"), i64)
            return convert_scalar(b, b.smallest(room, b.read(self._numbers, *b.spatial)), i32)

        return [
            self._detected(0, side),
            self._detected(1, lambda b, at: as_number(b, at[1], f32)),
            self._detected(2, lambda b, at: b.read(self._by_class.values, *at)),
            self._emitter.compute("numbers", {"b": self._batch}, i32, number),
        ]
