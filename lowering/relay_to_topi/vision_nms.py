"""`relay.vision.all_class_non_max_suppression`: a sort by score and `topi.suppress`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, divisor, element_of
from xrelay.dialects.relay.ops.vision_nms import AllClassNonMaxSuppressionOp
from xrelay.dialects.topi import PositionsOp, SortOp, SuppressOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.lowering.relay_to_topi.algorithm_select import is_below_count
from xrelay.lowering.relay_to_topi.registry import implements


@implements(AllClassNonMaxSuppressionOp, "vision.all_class_non_max_suppression.generic")
def build_all_class_non_max_suppression(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the rows of selected boxes and their number."""
    by_score = emitter.insert(SortOp(_scores(emitter), 2, descending=True))
    most = emitter.compute("most", {}, i64, lambda b: convert_scalar(b, b.read(emitter.operand(2)), i64))
    limits = most, emitter.operand(3), emitter.operand(4)
    selected = emitter.insert(SuppressOp([_sides(emitter), by_score.indices, by_score.values, *limits])).kept
    found = emitter.insert(PositionsOp(selected))
    number = emitter.compute("num_total_detections", {"i": 1}, i64, lambda b: b.read(found.count))
    return [_rows(emitter, by_score.indices, found), number]


def _scores(emitter: TopiBuilder) -> SSAValue:
    """Returns the scores with -inf for NaN; -inf is sorted last and never selected."""
    scores = emitter.operand(1)
    element = element_of(scores)

    def score(b: Body) -> SSAValue:
        own = b.read(scores, *b.spatial)
        is_known = b.add(arith.CmpfOp(own, own, "ord"))
        return b.add(SelectOp(is_known, own, b.constant(float("-inf"), element)))

    return emitter.compute("scores", variables("i", shape_of(scores)), element, score)


def _sides(emitter: TopiBuilder) -> SSAValue:
    """Returns the lower and higher corner and the area (NaN if not positive) of boxes: (batch, number, box)."""
    boxes = emitter.operand(0)
    (batch, count, _), element = shape_of(boxes), element_of(boxes)

    def corner(b: Body) -> SSAValue:
        at, number, i = b.spatial
        own, other = (b.read(boxes, at, i, b.remainder(number + shift, 4)) for shift in (0, 2))
        is_lower = b.in_bounds([number], [2])
        return b.add(SelectOp(is_lower, b.minimum(own, other), b.maximum(own, other)))

    corners = emitter.compute("box_corners", {"b": batch, "s": 4, "i": count}, element, corner)

    def side(b: Body) -> SSAValue:
        at, number, i = b.spatial

        def area() -> SSAValue:
            lengths = [b.minus(b.read(corners, at, axis + 2, i), b.read(corners, at, axis, i)) for axis in (0, 1)]
            size, zero = b.times(*lengths), b.constant(0, element)
            has_area = b.add(arith.CmpfOp(size, zero, "ogt"))
            return b.add(SelectOp(has_area, size, b.constant(float("nan"), element)))

        is_corner = b.in_bounds([number], [4])
        return b.guard(is_corner, element, lambda: b.read(corners, at, number, i), area)

    return emitter.compute("box_sides", {"b": batch, "s": 5, "i": count}, element, side)


def _rows(emitter: TopiBuilder, order: SSAValue, found: PositionsOp) -> SSAValue:
    """Returns batch, class and box of each position."""
    _, classes, count = (divisor(extent) for extent in shape_of(order))

    def index(b: Body) -> SSAValue:
        row, column = b.spatial

        def read() -> SSAValue:
            position = b.as_index(b.add(arith.IndexCastOp(b.read(found.positions, row), IndexType())))
            of_class = b.quotient(position, count)
            at = b.quotient(of_class, classes), b.remainder(of_class, classes), b.remainder(position, count)
            batch, number = (b.add(arith.IndexCastOp(b.index(each), i64)) for each in at[:2])
            is_batch, is_class = (
                b.add(CmpiOp(b.index(column), b.constant(place, IndexType()), "eq")) for place in (0, 1)
            )
            box = b.read(order, *at)
            return b.add(SelectOp(is_batch, batch, b.add(SelectOp(is_class, number, box))))

        is_used = is_below_count(b, b.index(row), found.count)
        return b.guard(is_used, i64, read, lambda: b.constant(0, i64))

    # Boxes and scores may have different expressions for their number; the op's type has the right one.
    rows = {"i": emitter.extents(0)[0], "j": 3}
    return emitter.compute("selected_indices", rows, i64, index)
