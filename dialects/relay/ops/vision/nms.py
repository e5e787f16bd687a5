"""Non-maximum suppression: `relay.vision.all_class_non_max_suppression` and `regular_non_max_suppression`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import TupleType, f32, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    Body,
    Facts,
    FloatElements,
    HalfPrecision,
    IntegerElements,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    SameElements,
    Tensors,
    TopiBuilder,
    float_property,
    int_property,
    register_relay_op,
    tensor_type,
)

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr

    from xrelay.dialects.topi import PositionsOp, SortOp


@register_relay_op
class AllClassNonMaxSuppressionOp(RelayOp):
    """Non-maximum suppression of boxes, for each class of each batch separately.

    `boxes` are `(batch, boxes, 4)`, two opposite corners `y, x, y, x` in any order; `scores` are `(batch, classes,
    boxes)`. Candidates are boxes with a score greater than `score_threshold`, which excludes NaN. They are considered
    in descending order of score, equal scores in order of index. Each is selected unless it overlaps a selected box,
    until `max_output_boxes_per_class` are selected. Two boxes overlap if their intersection is not empty and its area
    divided by that of their union is greater than `iou_threshold`. A box with area 0 or a NaN coordinate overlaps no
    box.

    The result is the tuple of `selected_indices`, with a row `batch, class, box` for each selected box in order of
    batch, class and selection, and `num_total_detections`, the number of these rows. `selected_indices` has room for
    all boxes of all classes; unused rows are zero.

    Constraints:
    - C9: scores and boxes have the same numbers of batches and of boxes.
    - C10: a box has 4 numbers.

    Example:
    ```mlir
    %t = relay.vision.all_class_non_max_suppression(%boxes, %scores, %most, %iou, %score)
        : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>)
        -> tuple<tensor<12x3xi64>, tensor<1xi64>>
    ```

    """

    name = "relay.vision.all_class_non_max_suppression"
    CONSTRAINTS = {
        "C1": RankOf(0, 3, 3),
        "C2": RankOf(1, 3, 3),
        "C3": FloatElements(),
        "C4": SameElements((0, 1, 3, 4)),
        "C5": IntegerElements(2),
        "C6": RankOf(2, 0, 0),
        "C7": RankOf(3, 0, 0),
        "C8": RankOf(4, 0, 0),
    }
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER

    boxes = operand_def()
    scores = operand_def()
    max_output_boxes_per_class = operand_def()
    iou_threshold = operand_def()
    score_threshold = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of indices for all boxes of all classes, and of a number; checks C9 and C10."""
        batch, count, corners = facts.shape(0)
        batches, classes, scored = facts.shape(1)
        facts.require_equal(batches, batch, "C9", "batches of scores and boxes")
        facts.require_equal(scored, count, "C9", "scores and boxes")
        facts.require_equal(corners, 4, "C10", "numbers of a box")
        return TupleType((tensor_type((batch * classes * count, 3), i64), tensor_type((1,), i64)))

    def evaluate(
        self,
        boxes: Array,
        scores: Array,
        max_output_boxes_per_class: Array,
        iou_threshold: Array,
        score_threshold: Array,
    ) -> tuple[Array, ...]:
        """Returns the rows of all classes, followed by zeros, and their number."""
        from xrelay.dialects.relay.meaning.overlap import overlap, sorted_corners

        rows, count = np.zeros((scores.size, 3), np.int64), 0
        for batch, classes in enumerate(scores):
            corners = sorted_corners(boxes[batch])
            overlaps = overlap(corners[:, None], corners) > iou_threshold
            for number, of_class in enumerate(classes):
                for box in _selected(of_class, overlaps, int(max_output_boxes_per_class), score_threshold):
                    rows[count] = batch, number, box
                    count += 1
        return rows, np.array([count], np.int64)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sorts by score, suppresses, and builds the rows of selected boxes and their number."""
        from xrelay.dialects.topi import PositionsOp, SortOp, SuppressOp

        by_score = build.insert(SortOp(self._known_scores(build), 2, descending=True))
        most = build.compute("most", {}, i64, lambda b: b.convert(b.read(build.operand(2)), i64))
        operands = [self._sides(build), by_score.indices, by_score.values, most, build.operand(3), build.operand(4)]
        found = build.insert(PositionsOp(build.insert(SuppressOp(operands)).kept))
        number = build.compute("num_total_detections", {"i": 1}, i64, lambda b: b.read(found.count))
        return [self._rows(build, by_score.indices, found), number]

    def _known_scores(self, build: TopiBuilder) -> SSAValue:
        """Returns the scores with -inf for NaN; -inf is sorted last and never selected."""
        from xdsl.dialects import arith

        scores = build.operand(1)
        element = build.element(scores)

        def score(b: Body) -> SSAValue:
            own = b.read(scores, *b.spatial)
            return b.select(b.add(arith.CmpfOp(own, own, "ord")), own, float("-inf"))

        return build.compute("scores", build.shape(scores), element, score)

    def _sides(self, build: TopiBuilder) -> SSAValue:
        """Returns the lower and higher corner and the area (NaN if not positive) of boxes: (batch, number, box)."""
        boxes = build.operand(0)
        (batch, count, _), element = build.shape(boxes), build.element(boxes)

        def corner(b: Body) -> SSAValue:
            at, number, i = b.spatial
            own, other = (b.read(boxes, at, i, b.remainder(number + shift, 4)) for shift in (0, 2))
            return b.select(b.in_bounds([number], [2]), b.minimum(own, other), b.maximum(own, other))

        corners = build.compute("box_corners", {"b": batch, "s": 4, "i": count}, element, corner)

        def side(b: Body) -> SSAValue:
            at, number, i = b.spatial

            def area() -> SSAValue:
                lengths = [b.minus(b.read(corners, at, axis + 2, i), b.read(corners, at, axis, i)) for axis in (0, 1)]
                size, zero = b.times(*lengths), b.constant(0, element)
                return b.select(b.compare(size, "gt", zero), size, float("nan"))

            is_corner = b.in_bounds([number], [4])
            return b.guard(is_corner, element, lambda: b.read(corners, at, number, i), area)

        return build.compute("box_sides", {"b": batch, "s": 5, "i": count}, element, side)

    def _rows(self, build: TopiBuilder, order: SSAValue, found: PositionsOp) -> SSAValue:
        """Returns batch, class and box of each position."""
        from xrelay.dialects.relay.computes.ordering import is_below_count

        _, classes, count = (extent for extent in build.shape(order))

        def index(b: Body) -> SSAValue:
            row, column = b.spatial

            def read() -> SSAValue:
                position = b.read_index(found.positions, row)
                of_class = b.quotient(position, count)
                at = b.quotient(of_class, classes), b.remainder(of_class, classes), b.remainder(position, count)
                return b.choose(column, [*(b.number(each, i64) for each in at[:2]), b.read(order, *at)])

            is_used = is_below_count(b, b.index(row), found.count)
            return b.guard(is_used, i64, read, 0)

        # Boxes and scores may have different expressions for their number; the op's type has the right one.
        return build.compute("selected_indices", {"i": build.extents(0)[0], "j": 3}, i64, index)


@register_relay_op
class RegularNonMaxSuppressionOp(RelayOp):
    """The detections with the best scores in each image after suppression in each class separately, as in TFLite.

    `boxes` are `(batch, boxes, 4)`, the lower and the higher corner `y, x, y, x`; `scores` are `(batch, boxes,
    classes)`, where the classes before the last `num_classes` are background. Candidates of a class are boxes with a
    score that is at least `score_threshold` and greater than minus infinity. They are considered in descending order of
    score, equal scores in order of index. Each is selected unless it overlaps a selected box, until
    `max_detections_per_class` are selected. Two boxes overlap if their intersection is not empty and its area divided
    by that of their union is greater than `iou_threshold`. The detections are the `max_detections` boxes with the best
    scores among those selected in all classes; of equal scores those of the first class are preferred. Thresholds are
    rounded to the scores' type, or to f32 for f16 and bf16.

    The result is the tuple of the detections' boxes, their classes (from 0, as floats), their scores, and their number
    in each image; unused elements are zero.

    Constraints:
    - C6: scores and boxes have the same numbers of batches and of boxes, and a box has 4 numbers.
    - C7: the scores have at least `num_classes` classes.

    Example:
    ```mlir
    %t = relay.vision.regular_non_max_suppression(%b, %s) {max_detections_per_class = 2, max_detections = 3,
                                                          num_classes = 2, iou_threshold = 0.5, score_threshold = 0.1}
        : (tensor<1x6x4xf32>, tensor<1x6x3xf32>)
        -> tuple<tensor<1x3x4xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1xi32>>
    ```

    """

    name = "relay.vision.regular_non_max_suppression"
    CONSTRAINTS = {
        "C1": RankOf(0, 3, 3),
        "C2": RankOf(1, 3, 3),
        "C3": FloatElements(),
        "C4": SameElements(),
        "C5": AtLeast("max_detections_per_class", 1),
        "C8": AtLeast("max_detections", 1),
        "C9": AtLeast("num_classes", 1),
    }
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE

    boxes = operand_def()
    scores = operand_def()

    max_detections_per_class = int_property()
    max_detections = int_property()
    num_classes = int_property()
    iou_threshold = float_property()
    score_threshold = float_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types for `max_detections` detections in each image; checks C6 and C7."""
        (batch, count, corners), element = facts.operand(0)
        batches, scored, classes = facts.shape(1)
        for found, wanted, what in ((batches, batch, "batches"), (scored, count, "boxes")):
            facts.require_equal(found, wanted, "C6", f"{what} of scores and boxes")
        facts.require_equal(corners, 4, "C6", "numbers of a box")
        facts.require_at_least(classes, self.num_classes.value.data, "C7", "classes of the scores")
        row = (batch, self.max_detections.value.data)
        fields = ((*row, 4), element), (row, f32), (row, element), ((batch,), i32)
        return TupleType(tuple(tensor_type(shape, type) for shape, type in fields))

    def evaluate(self, boxes: Array, scores: Array) -> tuple[Array, ...]:
        """Selects boxes for each class, and the best detections of all classes, image by image."""
        from xrelay.dialects.relay.meaning.overlap import overlap
        from xrelay.dialects.shared.numerics import stable_order

        wide = np.dtype(np.float64 if scores.dtype == np.float64 else np.float32)
        iou, least = (np.asarray(each.value.data, wide) for each in (self.iou_threshold, self.score_threshold))
        count, most = self.max_detections.value.data, self.max_detections_per_class.value.data
        batch, first = len(boxes), scores.shape[2] - self.num_classes.value.data
        found = np.zeros((batch, count, 4), boxes.dtype), np.zeros((batch, count), np.float32)
        values, numbers = np.zeros((batch, count), scores.dtype), np.zeros(batch, np.int32)
        for image in range(batch):
            corners = boxes[image].astype(wide)
            overlaps = overlap(corners[:, None], corners) > iou
            own = scores[image, :, first:].astype(wide)
            own[~(own >= least)] = -np.inf
            chosen = [(box, kind) for kind, row in enumerate(own.T) for box in _selected(row, overlaps, most, -np.inf)]
            ranked: list[int] = stable_order(np.array([own[each] for each in chosen], wide), descending=True).tolist()
            numbers[image] = min(len(ranked), count)
            for place, rank in enumerate(ranked[:count]):
                box, kind = chosen[rank]
                found[0][image, place], found[1][image, place] = boxes[image, box], kind
                values[image, place] = scores[image, box, first + kind]
        return *found, values, numbers

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sorts and suppresses the boxes of each class, and sorts the selected boxes of all classes."""
        from xrelay.dialects.topi import SortOp

        boxes = build.operand(0)
        (batch, count, _), real = build.shape(boxes), build.element(boxes)
        by_class = self._sorted_candidates(build)
        kept = self._kept(build, by_class)
        of_image = {"i": count * self.num_classes.value.data}

        def at(b: Body, image: AffineExpr, place: AffineExpr) -> tuple[AffineExpr, AffineExpr, AffineExpr]:
            """Returns image, class, and index among its boxes, for an index among those of all classes."""
            return image, b.quotient(place, count), b.remainder(place, count)

        def kept_score(b: Body) -> SSAValue:
            place, last = at(b, *b.spatial), b.constant(float("-inf"), real)
            return b.select(b.read(kept, *place), b.read(by_class.values, *place), last)

        kept_scores = build.compute("kept_scores", {"b": batch, **of_image}, real, kept_score)
        best = build.insert(SortOp(kept_scores, 1, descending=True)).indices

        def add(b: Body) -> SSAValue:
            is_kept = b.read(kept, *at(b, b.spatial[0], b.reduction[0]))
            return b.plus(b.accumulators[0], b.convert(is_kept, i64))

        numbers = build.compute("num_detections", {"b": batch}, i64, add, reduce=of_image, init=[0])

        def detected(field: int, fill: Callable[[Body, tuple[AffineExpr, ...]], SSAValue]) -> SSAValue:
            """Builds a field of the result: `fill` receives the indices of a detection; unused elements are zero."""
            element = build.result_types[field].element_type

            def number(b: Body) -> SSAValue:
                image, place = b.spatial[:2]

                def read() -> SSAValue:
                    index = b.read_index(best, image, place)
                    return fill(b, at(b, image, index))

                is_used = b.compare(b.number(place, i64), "lt", b.read(numbers, image))
                return b.guard(is_used, element, read, 0)

            return build.compute(f"detection_{field}", build.extents(field), element, number)

        def side(b: Body, place: tuple[AffineExpr, ...]) -> SSAValue:
            box = b.read_index(by_class.indices, *place)
            return b.read(boxes, place[0], box, b.spatial[2])

        def limited(b: Body) -> SSAValue:
            room = b.constant(self.max_detections.value.data, i64)
            return b.convert(b.smallest(room, b.read(numbers, *b.spatial)), i32)

        return [
            detected(0, side),
            detected(1, lambda b, place: b.number(place[1], f32)),
            detected(2, lambda b, place: b.read(by_class.values, *place)),
            build.compute("numbers", {"b": batch}, i32, limited),
        ]

    def _sorted_candidates(self, build: TopiBuilder) -> SortOp:
        """Sorts the scores of each class; boxes that are no candidates have -inf and are never selected."""
        from xrelay.dialects.topi import SortOp

        (batch, count, _), scores = build.shape(build.operand(0)), build.operand(1)
        real, classes = build.element(scores), self.num_classes.value.data

        def candidate(b: Body) -> SSAValue:
            image, number, box = b.spatial
            score = b.read(scores, image, box, number + b.expr(build.shape(scores)[2] - classes))
            is_candidate = b.compare(score, "ge", self.score_threshold.value.data)
            return b.select(is_candidate, score, float("-inf"))

        of_class = {"b": batch, "c": classes, "i": count}
        return build.insert(SortOp(build.compute("candidates", of_class, real, candidate), 2, descending=True))

    def _kept(self, build: TopiBuilder, by_class: SortOp) -> SSAValue:
        """Returns whether each sorted box is selected: (batch, classes, index)."""
        from xrelay.dialects.topi import SuppressOp

        boxes = build.operand(0)
        (batch, count, _), real = build.shape(boxes), build.element(boxes)

        def side(b: Body) -> SSAValue:
            """Returns a component of a box: lower and higher corner, and the area, NaN if the corners are exchanged."""
            image, number, box = b.spatial
            sides = [b.read(boxes, image, box, side) for side in range(4)]
            lengths = [b.minus(sides[axis + 2], sides[axis]) for axis in (0, 1)]
            zero, nan = b.constant(0, real), b.constant(float("nan"), real)
            is_high, is_wide = (b.compare(length, "gt", zero) for length in lengths)
            has_lengths = b.logical_and(is_high, is_wide)
            return b.choose(number, [*sides, b.select(has_lengths, b.times(*lengths), nan)])

        sides = build.compute("box_sides", {"b": batch, "s": 5, "i": count}, real, side)
        most = build.scalar("most", self.max_detections_per_class.value.data, i64)
        limits = (
            build.scalar("overlap", self.iou_threshold.value.data, real),
            build.scalar("least", float("-inf"), real),
        )
        return build.insert(SuppressOp([sides, by_class.indices, by_class.values, most, *limits])).kept


def _selected(scores: Array, overlaps: Array, most: int, threshold: Array | float) -> list[int]:
    """Returns the selected boxes of one class in descending order of score; `overlaps` has a row for each box."""
    from xrelay.dialects.shared.numerics import stable_order

    selected: list[int] = []
    for box in stable_order(scores, descending=True).tolist():
        if len(selected) < most and scores[box] > threshold and not overlaps[box, selected].any():
            selected.append(box)
    return selected
