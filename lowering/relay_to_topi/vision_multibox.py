"""Boxes of single-shot detectors: anchors, and their transformation by predictions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import math
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.front_rows import FrontRows
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.scalars import as_number, chosen
from xrelay.dialects.relay.core.attribute_values import floats
from xrelay.dialects.relay.ops.vision_multibox import MultiboxPriorOp, MultiboxTransformLocOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpfOp, IndexCastOp, SelectOp
from xrelay.index_algebra.dims import maximum
from xrelay.lowering.relay_to_topi.registry import implements


@implements(MultiboxPriorOp, "vision.multibox_prior.generic")
@in_single
def build_multibox_prior(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the corners of boxes from centres and half sides."""
    _, _, height, width = shape_of(emitter.operand(0))
    sizes, ratios, steps, offsets = (
        np.array(floats(emitter.op.properties[name])) for name in ("sizes", "ratios", "steps", "offsets")
    )
    roots, real = np.sqrt(ratios[1:]), emitter.result_type.element_type
    lengths = np.concatenate([sizes, sizes[0] * roots]) / 2, np.concatenate([sizes, sizes[0] / roots]) / 2
    count = len(lengths[0])

    def half(b: Body, axis: int, kind: AffineExpr) -> SSAValue:
        value = chosen(b, kind, [b.constant(length, real) for length in lengths[axis].tolist()])
        return value if axis else b.divide(b.times(value, b.size(height, real)), b.size(width, real))

    def centre(b: Body, axis: int, place: AffineExpr) -> SSAValue:
        extent, down = (width, height)[axis], 1 - axis
        value = b.plus(as_number(b, place, real), b.constant(offsets[down], real))
        if steps[down] > 0:
            return b.times(value, b.constant(steps[down], real))
        return b.divide(value, b.size(extent, real))

    def side(b: Body) -> SSAValue:
        _, box, number = b.spatial
        kind, place = box % count, box // count
        places = b.remainder(place, width), b.quotient(place, width)
        ends: list[SSAValue] = []
        for end in range(4):
            middle, away = centre(b, end % 2, places[end % 2]), half(b, end % 2, kind)
            ends.append(b.minus(middle, away) if end < 2 else b.plus(middle, away))
        value = chosen(b, number, ends)
        return between_0_and_1(b, value) if emitter.flag("clip") else value

    return [emitter.compute("multibox_prior", variables("i", emitter.result_shape), real, side)]


def between_0_and_1(b: Body, value: SSAValue) -> SSAValue:
    """Clamps a float to [0, 1]."""
    return b.minimum(b.maximum(value, b.constant(0, value.type)), b.constant(1, value.type))


@implements(MultiboxTransformLocOp, "vision.multibox_transform_loc.generic")
@in_single
def build_multibox_transform_loc(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the best class of each box, then the rows of the kept boxes, or of all."""
    best, best_class = _best_classes(emitter)
    spatial, real, keeps_all = variables("i", shape_of(best)), element_of(best), emitter.flag("keep_background")

    def is_kept(b: Body) -> SSAValue:
        value, threshold = b.read(best, *b.spatial), b.constant(emitter.number("threshold"), real)
        has_class = b.add(CmpfOp(value, b.constant(-1, real), "ogt"))
        return b.add(SelectOp(has_class, b.add(CmpfOp(value, threshold, "uge")), b.constant(0, i1)))

    is_foreground = emitter.compute("is_kept", spatial, i1, is_kept)

    def read(b: Body, image: AffineExpr, box: AffineExpr, column: AffineExpr) -> SSAValue:
        sides = [_moved_side(emitter, b, image, box, end) for end in range(4)]
        kind = convert_scalar(b, b.read(best_class, image, box), real)
        if keeps_all:
            kind = b.add(SelectOp(b.read(is_foreground, image, box), kind, b.constant(0, real)))
        return chosen(b, column, [kind, b.read(best, image, box), *sides])

    rows = {**spatial, "k": 6}
    if keeps_all:
        batch, boxes = shape_of(best)
        count = emitter.compute("counts", {"b": batch}, i32, lambda b: b.size(boxes, i32))
        return [emitter.compute("multibox_rows", rows, real, lambda b: read(b, *b.spatial)), count]
    kept = FrontRows(emitter, is_foreground)

    def row(b: Body) -> SSAValue:
        image, place, column = b.spatial
        used = kept.is_used(b, image, place)
        return b.guard(
            used, real, lambda: read(b, image, kept.row(b, image, place), column), lambda: b.constant(-1, real)
        )

    return [emitter.compute("multibox_rows", rows, real, row), kept.counts(i32)]


def _best_classes(emitter: TopiBuilder) -> tuple[SSAValue, SSAValue]:
    """Returns the greatest probability of each box, at least -1, and the first class with it, except the background.

    With `keep_background` the background is class 0.
    """
    scores = emitter.operand(0)
    (batch, classes, boxes), real = shape_of(scores), element_of(scores)
    first = 0 if emitter.flag("keep_background") else 1
    spatial, reduce = variables("i", [batch, boxes]), {"c": maximum(0, classes - first)}

    def score(b: Body) -> SSAValue:
        image, box = b.spatial
        value, lowest = b.read(scores, image, b.reduction[0] + first, box), b.constant(-1, real)
        return b.add(SelectOp(b.add(CmpfOp(value, lowest, "ogt")), value, lowest))

    best = emitter.compute(
        "best_score", spatial, real, lambda b: b.largest(b.accumulators[0], score(b)), reduce=reduce, init=[-1.0]
    )

    def number(b: Body) -> SSAValue:
        is_best = b.add(CmpfOp(score(b), b.read(best, *b.spatial), "oeq"))
        place = b.add(IndexCastOp(b.index(b.reduction[0]), i64))
        return b.smallest(b.accumulators[0], b.add(SelectOp(is_best, place, b.size(classes, i64))))

    return best, emitter.compute("best_class", spatial, i64, number, reduce=reduce, init=[(1 << 63) - 1])


def _moved_side(emitter: TopiBuilder, b: Body, image: AffineExpr, box: AffineExpr, end: int) -> SSAValue:
    """Returns a coordinate of a transformed anchor: left, top, right or bottom."""
    predictions, anchors = emitter.operand(1), emitter.operand(2)
    axis, real, variances = end % 2, element_of(anchors), floats(emitter.op.properties["variances"])
    low, high = (b.read(anchors, 0, box, side) for side in (axis, axis + 2))
    extent, two = b.minus(high, low), b.constant(2, real)
    shift, growth = (
        b.times(b.read(predictions, image, box * 4 + number), b.constant(variances[number], real))
        for number in (axis, axis + 2)
    )
    centre = b.plus(b.times(shift, extent), b.divide(b.plus(low, high), two))
    half = b.divide(b.times(b.add(math.ExpOp(growth)), extent), two)
    side = b.minus(centre, half) if end < 2 else b.plus(centre, half)
    return between_0_and_1(b, side) if emitter.flag("clip") else side
