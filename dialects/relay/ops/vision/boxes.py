"""Boxes with scores: `relay.vision.get_valid_counts` and `relay.vision.non_max_suppression`."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import AnyFloat, Float64Type, IntegerType, TupleType, f32, f64, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Dim,
    Facts,
    FloatElements,
    HalfPrecision,
    IntegerElements,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    Tensors,
    TopiBuilder,
    bool_property,
    certainly_differ,
    int_property,
    register_relay_op,
    tensor_type,
)


class ScoredBoxesOp(RelayOp):
    """Base of the ops on boxes (batch, boxes, numbers), each a row of numbers with a score and a class.

    Constraints shared by both:
    - C1: the data has three axes and float elements.
    - C3: the row has a score and a class at their indices; a negative `id_index` means no class.
    """

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE

    data = operand_def()

    score_index = int_property(1)
    id_index = int_property(0)

    def require_numbers(self, facts: Facts, count: Dim, most: int) -> None:
        """Checks indices against the length of a row (C3)."""
        score, kind = self.score_index.value.data, self.id_index.value.data
        message = f"score {score}, class {kind} and up to number {most - 1} of rows of {count}"
        facts.require(score >= 0, "C3", message)
        facts.require_at_least(count, max(score + 1, kind + 1, most), "C3", "numbers of a row", message=message)


@register_relay_op
class GetValidCountsOp(ScoredBoxesOp):
    """The boxes of each batch with a score greater than a threshold and a nonnegative class, moved to the front.

    The result is the tuple of the number of such boxes in each batch, the rows, and their indices in the data; the
    remaining rows and indices are -1. If `id_index` is negative, classes are ignored.

    Constraints:
    - C3: the row has a score and a class at their indices; a negative `id_index` means no class.
    - C4: the threshold is a float of rank 0.

    Example:
    ```mlir
    %t = relay.vision.get_valid_counts(%x, %s)
        : (tensor<2x5x6xf32>, tensor<f32>) -> tuple<tensor<2xi32>, tensor<2x5x6xf32>, tensor<2x5xi32>>
    ```

    """

    name = "relay.vision.get_valid_counts"
    CONSTRAINTS = {"C1": RankOf(0, 3, 3), "C2": FloatElements()}

    data = operand_def()
    score_threshold = operand_def()

    id_index = int_property(0)
    score_index = int_property(1)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of numbers, rows and indices; checks C3 and C4."""
        (batch, boxes, count), _ = facts.operand(0)
        self.require_numbers(facts, count, 0)
        shape, element = facts.operand(1)
        legal = shape == () and isinstance(element, AnyFloat)
        facts.require(legal, "C4", lambda: f"the threshold must be a float of rank 0, found {facts[1]}")
        return TupleType((tensor_type((batch,), i32), facts.tensor(0), tensor_type((batch, boxes), i32)))

    def evaluate(self, data: Array, score_threshold: Array) -> tuple[Array, ...]:
        """Processes batch by batch."""
        kind = np.float64 if np.float64 in (data.dtype, score_threshold.dtype) else np.float32
        valid = data[:, :, self.score_index.value.data].astype(kind) > score_threshold.astype(kind)
        if self.id_index.value.data >= 0:
            valid &= data[:, :, self.id_index.value.data] >= 0
        rows, places = np.full_like(data, -1), np.full(data.shape[:2], -1, np.int32)
        for batch, is_valid in enumerate(valid):
            found = np.flatnonzero(is_valid)
            rows[batch, : len(found)], places[batch, : len(found)] = data[batch, found], found
        return valid.sum(1).astype(np.int32), rows, places

    def compute(self, build: TopiBuilder) -> Tensors:
        """Moves valid boxes to the front, followed by -1."""
        from xrelay.dialects.relay.computes.ordering import FrontRows

        data, threshold = build.operand(0), build.operand(1)
        shape, element = build.shape(data), build.element(data)
        real = f64 if Float64Type() in (element, build.element(threshold)) else f32
        score, kind = self.score_index.value.data, self.id_index.value.data

        def is_valid(b: Body) -> SSAValue:
            value = b.convert(b.read(data, *b.spatial, score), real)
            is_great = b.compare(value, "gt", b.convert(b.read(threshold), real))
            if kind < 0:
                return is_great
            has_class = b.compare(b.read(data, *b.spatial, kind), "ge", 0)
            return b.logical_and(is_great, has_class)

        front = FrontRows(build, build.compute("is_valid", shape[:2], i1, is_valid))

        def number(b: Body) -> SSAValue:
            batch, place, column = b.spatial

            def read() -> SSAValue:
                return b.read(data, batch, front.row(b, batch, place), column)

            return b.guard(front.is_used(b, batch, place), element, read, -1)

        def index(b: Body) -> SSAValue:
            used = front.is_used(b, *b.spatial)
            found = b.guard(used, i64, lambda: b.read(front.order, *b.spatial), -1)
            return b.convert(found, i32)

        rows = build.compute("front_rows", shape, element, number)
        return [front.counts(i32), rows, build.compute("valid_places", shape[:2], i32, index)]


@register_relay_op
class NonMaxSuppressionOp(ScoredBoxesOp):
    """Non-maximum suppression of the first `valid_count` boxes of each batch, in descending order of score.

    Candidates are boxes with a positive score and a nonnegative class; two opposite corners begin at `coord_start` in
    the row. The `top_k` best candidates are considered, or all if `top_k` is not positive. A box is selected unless it
    overlaps a selected box of the same class, or of any class with `force_suppress`. At most `max_output_size` boxes
    are selected if that is not negative. Two boxes overlap if their intersection is not empty and its area divided by
    that of their union is at least `iou_threshold`. If the threshold is not positive, the first `valid_count` boxes are
    selected unchanged.

    With `return_indices` the result is the tuple of the elements of `indices` for the selected boxes, followed by -1,
    and the number of selected boxes. Otherwise it is the rows in descending order of score, with rows of -1 for boxes
    that are not selected, which are last with `invalid_to_bottom`.

    Constraints:
    - C3: the row has a score, a class and corners at their indices; a negative `id_index` means no class.
    - C5: `valid_count` has one element for each batch; `indices` are integers, one for each box.
    - C6: `max_output_size` is an integer and `iou_threshold` a float, of rank 0.

    Example:
    ```mlir
    %t = relay.vision.non_max_suppression(%x, %n, %i, %most, %iou)
        : (tensor<2x5x6xf32>, tensor<2xi32>, tensor<2x5xi32>, tensor<i32>, tensor<f32>)
        -> tuple<tensor<2x5xi32>, tensor<2x1xi32>>
    ```

    """

    name = "relay.vision.non_max_suppression"
    CONSTRAINTS = {
        "C1": RankOf(0, 3, 3),
        "C2": FloatElements(),
        "C4": IntegerElements(1),
    }

    data = operand_def()
    valid_count = operand_def()
    indices = operand_def()
    max_output_size = operand_def()
    iou_threshold = operand_def()

    force_suppress = bool_property(False)
    top_k = int_property(-1)
    coord_start = int_property(2)
    score_index = int_property(1)
    id_index = int_property(0)
    return_indices = bool_property(True)
    invalid_to_bottom = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of indices and their number, or of rows; checks C3, C5 and C6."""
        batch, boxes, count = facts.shape(0)
        self.require_numbers(facts, count, self.coord_start.value.data + 4)
        facts.require(self.coord_start.value.data >= 0, "C3", f"corners begin at {self.coord_start.value.data}")
        found, wanted = [*facts.shape(1), *facts.shape(2)], [batch, batch, boxes]
        message = f"valid_count {facts[1]} and indices {facts[2]} for {batch} batches of {boxes} boxes"
        IntegerElements(2).check("C5", facts, self.properties)
        facts.require(len(facts.shape(1)) == 1 and len(found) == 3, "C5", message)
        differ = any(certainly_differ(*pair) for pair in zip(found, wanted, strict=True))
        facts.require(not differ, "C5", message)
        for lhs, rhs in zip(found, wanted, strict=True):
            facts.require_equal(lhs, rhs, "C5", "extents of valid_count and indices, and of the data,")
        (most, whole), (share, real) = facts.operand(3), facts.operand(4)
        IntegerElements(3).check("C6", facts, self.properties)
        legal = most == share == () and isinstance(real, AnyFloat)
        facts.require(
            legal, "C6", lambda: f"limits {facts[3]} and {facts[4]} must be of rank 0, of {whole} and a float"
        )
        if not self.return_indices.value.data:
            return facts.tensor(0)
        return TupleType((tensor_type((batch, boxes), i32), tensor_type((batch, 1), i32)))

    def evaluate(
        self, data: Array, valid_count: Array, indices: Array, max_output_size: Array, iou_threshold: Array
    ) -> Array | tuple[Array, ...]:
        """Processes batch by batch; an element of `taken` is the index of a box or -1."""
        batch, count = data.shape[:2]
        taken = np.full((batch, count), -1, np.int64)
        for number in range(batch):
            known = min(max(int(valid_count[number]), 0), count)
            if iou_threshold > 0:
                self._select(data[number], known, int(max_output_size), iou_threshold, taken[number])
            else:
                taken[number, :known] = range(known)
        is_taken = taken >= 0
        if self.return_indices.value.data or self.invalid_to_bottom.value.data:
            order = np.argsort(~is_taken, 1, kind="stable")
            taken, is_taken = np.take_along_axis(taken, order, 1), np.take_along_axis(is_taken, order, 1)
        if self.return_indices.value.data:
            named = np.take_along_axis(indices.astype(np.int32), np.maximum(taken, 0), 1)
            return np.where(is_taken, named, np.int32(-1)), is_taken.sum(1, keepdims=True).astype(np.int32)
        rows = np.take_along_axis(data, np.maximum(taken, 0)[:, :, None], 1)
        return np.where(is_taken[:, :, None], rows, np.asarray(-1, data.dtype))

    def _select(self, rows: Array, known: int, most: int, iou: Array, taken: Array) -> None:
        """Writes the indices of selected boxes to `taken`, in descending order of score."""
        from xrelay.dialects.relay.meaning.overlap import overlap, sorted_corners
        from xrelay.dialects.shared.numerics import stable_order

        wide = rows.astype(np.float64 if rows.dtype == np.float64 else np.float32)
        first, limit = self.coord_start.value.data, self.top_k.value.data
        scores, corners = wide[:, self.score_index.value.data], sorted_corners(wide[:, first : first + 4])
        has_kind = self.id_index.value.data >= 0
        kinds = wide[:, self.id_index.value.data] if has_kind else np.zeros_like(scores)
        takes_part = (np.arange(len(rows)) < known) & (scores > 0) & (kinds >= 0)
        order: list[int] = stable_order(np.where(takes_part, scores, 0), descending=True).tolist()
        order = [box for box in order if takes_part[box]]
        one_kind = bool(self.force_suppress.value.data) or not has_kind
        selected: list[int] = []
        for place, box in enumerate(order[:limit] if limit > 0 else order):
            rivals = [other for other in selected if one_kind or kinds[other] == kinds[box]]
            is_full = 0 <= most <= len(selected)
            if not is_full and not (overlap(corners[box], corners[rivals]) >= iou).any():
                taken[place] = box
                selected.append(box)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sorts by score, suppresses boxes in each class, and returns the results in the requested form."""
        from xrelay.dialects.relay.computes.ordering import FrontRows

        data, taken = build.operand(0), self._taken(build)
        shape, of_boxes = build.shape(data), build.shape(taken)

        def is_box(b: Body) -> SSAValue:
            return b.compare(b.read(taken, *b.spatial), "ge", 0)

        is_taken = build.compute("is_taken", of_boxes, i1, is_box)
        sorts = self.return_indices.value.data or self.invalid_to_bottom.value.data
        front = FrontRows(build, is_taken) if sorts else None

        def read(b: Body, tensor: SSAValue) -> SSAValue:
            batch, place, *rest = b.spatial
            element = build.element(tensor)
            is_used = b.read(is_taken, batch, place) if front is None else front.is_used(b, batch, place)

            def inside() -> SSAValue:
                at = place if front is None else front.row(b, batch, place)
                box = b.read_index(taken, batch, at)
                return b.read(tensor, batch, box, *rest)

            return b.guard(is_used, element, inside, -1)

        if front is None or not self.return_indices.value.data:
            return [build.compute("boxes", shape, build.element(data), lambda b: read(b, data))]
        indices = build.operand(2)
        all_boxes, counts = build.shape(indices), front.counts(i32)
        numbers = build.compute("numbers", all_boxes, i32, lambda b: b.convert(b.read(indices, *b.spatial), i32))
        column = {"b": shape[0], "i": 1}
        return [
            build.compute("box_numbers", of_boxes, i32, lambda b: read(b, numbers)),
            build.compute("box_counts", column, i32, lambda b: b.read(counts, b.spatial[0])),
        ]

    def _taken(self, build: TopiBuilder) -> SSAValue:
        """Returns the selected boxes in descending order of score, -1 for others: (batch, boxes)."""
        from xrelay.dialects.topi import SuppressOp

        data, counts, most, iou = (build.operand(number) for number in (0, 1, 3, 4))
        shape, real = build.shape(data), build.element(data)
        order, scores = self._candidates(build)
        sides = build.compute("box_sides", {"b": shape[0], "s": 6, "i": shape[1]}, real, lambda b: self._side(b, data))

        def limit(b: Body) -> SSAValue:
            number = b.convert(b.read(most), i64)
            is_limit = b.compare(number, "ge", 0)
            return b.select(is_limit, number, (1 << 63) - 1)

        limits = (
            build.compute("most", {}, i64, limit),
            build.compute("overlap", {}, real, lambda b: _greatest_float_below(b, b.convert(b.read(iou), real))),
            build.scalar("least", 0, real),
        )
        kept = build.insert(SuppressOp([sides, order, scores, *limits])).kept

        def box(b: Body) -> SSAValue:
            batch, place = b.spatial
            none, own = b.constant(-1, i64), b.number(place, i64)
            selected = b.select(b.read(kept, batch, 0, place), b.read(order, batch, 0, place), none)
            is_known = b.compare(own, "lt", b.convert(b.read(counts, batch), i64))
            plain = b.select(is_known, own, none)
            suppresses = b.compare(b.convert(b.read(iou), real), "gt", 0)
            return b.select(suppresses, selected, plain)

        return build.compute("taken", shape[:2], i64, box)

    def _candidates(self, build: TopiBuilder) -> tuple[SSAValue, SSAValue]:
        """Returns the boxes in descending order of score, and their scores; 0 for boxes that are no candidates."""
        from xrelay.dialects.relay.computes.ordering import best_scores

        data, counts = build.operand(0), build.operand(1)
        (batches, boxes, _), real = build.shape(data), build.element(data)
        kind = self.id_index.value.data

        def score(b: Body) -> SSAValue:
            batch, _, box = b.spatial
            zero, value = b.constant(0, real), b.read(data, batch, box, self.score_index.value.data)
            known = b.convert(b.read(counts, batch), i64)
            is_known = b.compare(b.number(box, i64), "lt", known)
            takes_part = b.logical_and(is_known, b.compare(value, "gt", zero))
            if kind >= 0:
                has_kind = b.compare(b.read(data, batch, box, kind), "ge", zero)
                takes_part = b.logical_and(takes_part, has_kind)
            return b.select(takes_part, value, zero)

        spatial = {"b": batches, "c": 1, "i": boxes}
        return best_scores(build, build.compute("scores", spatial, real, score), self.top_k.value.data, 0)

    def _side(self, b: Body, data: SSAValue) -> SSAValue:
        """Returns a component of a box: lower and higher corner, area, class."""
        batch, number, box = b.spatial
        first, kind = self.coord_start.value.data, self.id_index.value.data
        numbers = [b.read(data, batch, box, first + place) for place in range(4)]
        low = [b.minimum(numbers[axis], numbers[axis + 2]) for axis in (0, 1)]
        high = [b.maximum(numbers[axis], numbers[axis + 2]) for axis in (0, 1)]
        size = b.times(*(b.minus(top, bottom) for top, bottom in zip(high, low, strict=True)))
        zero, nan = b.constant(0, size.type), b.constant(float("nan"), size.type)
        area = b.select(b.compare(size, "gt", zero), size, nan)
        one_kind = kind < 0 or self.force_suppress.value.data
        return b.choose(number, [*low, *high, area, zero if one_kind else b.read(data, batch, box, kind)])


def _greatest_float_below(b: Body, threshold: SSAValue) -> SSAValue:
    """Returns the greatest float less than a positive threshold, because `topi.suppress` compares with "greater"."""
    real = threshold.type
    bits = IntegerType(real.bitwidth) if isinstance(real, AnyFloat) else i64
    return b.bitcast(b.minus(b.bitcast(threshold, bits), 1), real)
