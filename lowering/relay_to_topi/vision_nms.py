"""`relay.vision.all_class_non_max_suppression`: which boxes overlap is found once, in words of 64 boxes.

What is selected depends on what was selected before: a scan by falling score, whose accumulators are the words of a set
of boxes. A candidate is selected where no word of the set shares a bit with the word of those that overlap it. So the
boxes of a class cost their number squared / 64, and the comparison of boxes is shared by all classes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i1, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.ops.vision_nms import AllClassNonMaxSuppressionOp
from xrelay.dialects.topi import PositionsOp, SortOp
from xrelay.dialects.topi.build import Body, scan
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.lowering.relay_to_topi.algorithm_select import is_below_count
from xrelay.lowering.relay_to_topi.elementwise import convert_scalar
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter, element_of
from xrelay.lowering.relay_to_topi.strategies import implements

WORD = 64
"""The boxes of one word of a set."""


@implements(AllClassNonMaxSuppressionOp, "vision.all_class_non_max_suppression.words")
def build_all_class_non_max_suppression(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The rows of what is selected, and their number."""
    by_score = emitter.insert(SortOp(emitter.operand(1), 2, descending=True))
    bits = emitter.insert(
        scan("bits", {"i": WORD}, 0, [i64], lambda b: [b.plus(*b.accumulators * 2)], [1], exclusive=True)
    ).results[0]
    selected = _selected(emitter, by_score, _overlaps(emitter, bits), bits)
    found = emitter.insert(PositionsOp(selected))
    number = emitter.compute("num_total_detections", {"i": 1}, i64, lambda b: b.read(found.count))
    return [_rows(emitter, by_score.indices, found), number]


def _overlaps(emitter: TopiEmitter, bits: SSAValue) -> SSAValue:
    """For each box the words of the boxes that overlap it; the first box of a word is its lowest bit.

    The boxes lie side by side, each in a lane of its own: one word of all of them comes after the other.
    """
    batch, count, _ = emitter.known(emitter.operand(0), "the boxes")
    geometry = _Geometry(emitter)

    def word(b: Body) -> SSAValue:
        at, place, i = b.spatial
        other = place * WORD + b.reduction[0]
        zero = b.constant(0, i64)

        def bit() -> SSAValue:
            return b.add(SelectOp(geometry.overlap(b, at, i, other), b.read(bits, b.reduction[0]), zero))

        exists = b.in_bounds([other], [count])
        return b.plus(b.accumulators[0], b.guard(exists, i64, bit, lambda: b.constant(0, i64)))

    words = {"b": batch, "w": -(-count // WORD), "i": count}
    return emitter.compute("overlaps", words, i64, word, reduce={"bit": WORD}, init=[0])


class _Geometry:
    """Lower and higher corners of boxes, and their areas, those of all boxes side by side."""

    def __init__(self, emitter: TopiEmitter):
        boxes = emitter.operand(0)
        batch, count, _ = emitter.known(boxes, "the boxes")
        self._element, self._threshold = element_of(boxes), emitter.operand(3)

        def corners(b: Body) -> tuple[SSAValue, SSAValue]:
            at, axis, i = b.spatial
            return b.read(boxes, at, i, axis), b.read(boxes, at, i, axis + 2)

        space = {"b": batch, "axis": 2, "i": count}
        self._low = emitter.compute("box_low", space, self._element, lambda b: b.minimum(*corners(b)))
        self._high = emitter.compute("box_high", space, self._element, lambda b: b.maximum(*corners(b)))

        def area(b: Body) -> SSAValue:
            at, i = b.spatial
            height, width = (
                b.minus(b.read(self._high, at, axis, i), b.read(self._low, at, axis, i)) for axis in (0, 1)
            )
            size = b.times(height, width)
            none = b.constant(float("nan"), self._element)
            return b.add(SelectOp(_greater(b, size, b.constant(0, self._element)), size, none))

        self._areas = emitter.compute("box_area", {"b": batch, "i": count}, self._element, area)

    def overlap(self, b: Body, batch: AffineExpr, i: AffineExpr, j: AffineExpr) -> SSAValue:
        """Whether boxes `i` and `j` overlap. Those without an area, or with a NaN, have NaN for it and overlap none."""
        shared = b.times(*(self._shared_side(b, batch, i, j, axis) for axis in (0, 1)))
        union = b.minus(b.plus(*(b.read(self._areas, batch, box) for box in (i, j))), shared)
        overlaps = _greater(b, b.divide(shared, union), b.read(self._threshold))
        for value in (shared, union):
            overlaps = b.add(arith.AndIOp(overlaps, _greater(b, value, b.constant(0, self._element))))
        return overlaps

    def _shared_side(self, b: Body, batch: AffineExpr, i: AffineExpr, j: AffineExpr, axis: int) -> SSAValue:
        """How long the boxes lie beside each other, 0 where they do not."""
        ends = [b.read(self._high, batch, axis, box) for box in (i, j)]
        starts = [b.read(self._low, batch, axis, box) for box in (i, j)]
        end = b.add(SelectOp(_greater(b, *ends), ends[1], ends[0]))
        return _larger(b, b.minus(end, _larger(b, *starts)), b.constant(0, self._element))


def _selected(emitter: TopiEmitter, by_score: SortOp, overlaps: SSAValue, bits: SSAValue) -> SSAValue:
    """Whether each of the boxes by falling score is selected."""
    most, threshold = emitter.operand(2), emitter.operand(4)
    batch, classes, count = emitter.known(by_score.values, "the scores")

    def select(b: Body) -> list[SSAValue]:
        _, number, *words = b.accumulators
        box = b.as_index(b.add(arith.IndexCastOp(b.read(by_score.indices, *b.spatial), IndexType())))
        shared = b.constant(0, i64)
        for place, word in enumerate(words):
            shared = b.add(arith.OrIOp(shared, b.add(arith.AndIOp(word, b.read(overlaps, b.spatial[0], place, box)))))
        is_free = b.add(CmpiOp(shared, b.constant(0, i64), "eq"))
        has_room = b.add(CmpiOp(number, convert_scalar(b, b.read(most), i64), "slt"))
        is_candidate = _greater(b, b.read(by_score.values, *b.spatial), b.read(threshold))
        is_selected = b.add(arith.AndIOp(b.add(arith.AndIOp(is_free, has_room)), is_candidate))
        bit = b.add(SelectOp(is_selected, b.read(bits, box % WORD), b.constant(0, i64)))
        home = b.index(box // WORD)
        updated: list[SSAValue] = []
        for place, word in enumerate(words):
            is_home = b.add(CmpiOp(home, b.constant(place, IndexType()), "eq"))
            updated.append(b.add(SelectOp(is_home, b.add(arith.OrIOp(word, bit)), word)))
        return [is_selected, b.plus(number, b.add(arith.ExtUIOp(is_selected, i64))), *updated]

    words = -(-count // WORD)
    space, types = {"b": batch, "c": classes, "k": count}, [i1, i64, *(i64 for _ in range(words))]
    return emitter.insert(scan("select_boxes", space, 2, types, select, [0] * len(types))).results[0]


def _rows(emitter: TopiEmitter, order: SSAValue, found: PositionsOp) -> SSAValue:
    """Batch, class and box of each position."""
    _, classes, count = (max(1, extent) for extent in emitter.known(order, "the scores"))

    def index(b: Body) -> SSAValue:
        row, column = b.spatial

        def read() -> SSAValue:
            position = b.as_index(b.add(arith.IndexCastOp(b.read(found.positions, row), IndexType())))
            at = position // (classes * count), position // count % classes, position % count
            batch, number = (b.add(arith.IndexCastOp(b.index(each), i64)) for each in at[:2])
            is_batch, is_class = (
                b.add(CmpiOp(b.index(column), b.constant(place, IndexType()), "eq")) for place in (0, 1)
            )
            box = b.read(order, *at)
            return b.add(SelectOp(is_batch, batch, b.add(SelectOp(is_class, number, box))))

        is_used = is_below_count(b, b.index(row), found.count)
        return b.guard(is_used, i64, read, lambda: b.constant(0, i64))

    rows = {"i": shape_of(found.positions)[0], "j": 3}
    return emitter.compute("selected_indices", rows, i64, index)


def _greater(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    return b.add(arith.CmpfOp(x, y, "ogt"))


def _larger(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """The larger one; `y` where one is NaN."""
    return b.add(SelectOp(_greater(b, x, y), x, y))
