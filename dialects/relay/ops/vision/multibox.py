"""Boxes of single-shot detectors: `relay.vision.multibox_prior` and `relay.vision.multibox_transform_loc`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import TupleType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Facts,
    FloatElements,
    HalfPrecision,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    SameElements,
    Tensors,
    TopiBuilder,
    bool_property,
    cast_once,
    float_property,
    floats,
    floats_property,
    maximum,
    register_relay_op,
    tensor_type,
)

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr


@register_relay_op
class MultiboxPriorOp(RelayOp):
    """Anchor boxes (left, top, right, bottom) for the pixels of an image (N, C, H, W): (1, H·W·k, 4).

    The image's elements are not read. The centre of row i and column j is at y = `(i + offsets[0]) * steps[0]` and x =
    `(j + offsets[1]) * steps[1]`, where a step that is not positive is 1 divided by the extent. Each pixel has one box
    for each size with ratio 1, whose height is the size and whose width is `H / W` times the size. Then it has one box
    of the first size for each ratio r except the first, with the width multiplied by the square root of r and the
    height divided by it. `clip` clamps coordinates to [0, 1].

    Constraints:
    - C3: there are at least one size and one ratio, two steps and two offsets.
    - C4: the image has at least one element along each spatial axis.

    Example:
    ```mlir
    %y = relay.vision.multibox_prior(%x) {sizes = [0.5, 0.25], ratios = [1.0, 2.0]}
        : (tensor<1x3x4x5xf32>) -> tensor<1x60x4xf32>
    ```

    """

    name = "relay.vision.multibox_prior"
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {"C1": FloatElements(), "C2": RankOf(0, 4, 4)}

    data = operand_def()

    sizes = floats_property(1.0)
    ratios = floats_property(1.0)
    steps = floats_property(-1.0, -1.0)
    offsets = floats_property(0.5, 0.5)
    clip = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of one box for each pixel, size and further ratio; checks C3 and C4."""
        (_, _, height, width), element = facts.operand(0)
        counts = [len(floats(each)) for each in (self.sizes, self.ratios, self.steps, self.offsets)]
        message = "{} sizes, {} ratios, {} steps and {} offsets; at least 1, 1, and 2 each are expected".format(*counts)
        facts.require(counts[0] > 0 and counts[1] > 0 and counts[2:] == [2, 2], "C3", message)
        for extent in (height, width):
            facts.require_at_least(extent, 1, "C4", "spatial extent")
        return tensor_type((1, height * width * (counts[0] + counts[1] - 1), 4), element)

    def evaluate(self, data: Array) -> Array:
        """Computes boxes from the centres of pixels and half of the sides."""
        height, width = data.shape[2:]
        down, right = (self._centres(axis, extent) for axis, extent in enumerate((height, width)))
        sizes, roots = np.array(floats(self.sizes)), np.sqrt(np.array(floats(self.ratios))[1:])
        lengths = np.concatenate([sizes, sizes[0] * roots]) * height / width, np.concatenate([sizes, sizes[0] / roots])
        halves = np.stack(lengths, -1) / 2
        centres: Array = np.stack(np.broadcast_arrays(right[None], down[:, None]), -1)[:, :, None]
        boxes = np.concatenate([centres - halves, centres + halves], -1).reshape(1, -1, 4)
        return cast_once(np.clip(boxes, 0, 1) if self.clip.value.data else boxes, data.dtype)

    def _centres(self, axis: int, extent: int) -> Array:
        """Returns the centres of pixels along an axis."""
        step, places = floats(self.steps)[axis], np.arange(extent, dtype=np.float64)
        return (places + floats(self.offsets)[axis]) * (step if step > 0 else 1 / extent)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes the corners of boxes from centres and half sides."""
        _, _, height, width = build.shape(build.operand(0))
        sizes, roots = np.array(floats(self.sizes)), np.sqrt(np.array(floats(self.ratios))[1:])
        steps, offsets, real = floats(self.steps), floats(self.offsets), build.result_type.element_type
        lengths = np.concatenate([sizes, sizes[0] * roots]) / 2, np.concatenate([sizes, sizes[0] / roots]) / 2
        count = len(lengths[0])

        def half(b: Body, axis: int, kind: AffineExpr) -> SSAValue:
            value = b.choose(kind, [b.constant(length, real) for length in lengths[axis].tolist()])
            return value if axis else b.divide(b.times(value, b.size(height, real)), b.size(width, real))

        def centre(b: Body, axis: int, place: AffineExpr) -> SSAValue:
            extent, down = (width, height)[axis], 1 - axis
            value = b.plus(b.number(place, real), offsets[down])
            if steps[down] > 0:
                return b.times(value, steps[down])
            return b.divide(value, b.size(extent, real))

        def side(b: Body) -> SSAValue:
            _, box, number = b.spatial
            kind, place = box % count, box // count
            places = b.remainder(place, width), b.quotient(place, width)
            ends: list[SSAValue] = []
            for end in range(4):
                middle, away = centre(b, end % 2, places[end % 2]), half(b, end % 2, kind)
                ends.append(b.minus(middle, away) if end < 2 else b.plus(middle, away))
            value = b.choose(number, ends)
            return _between_0_and_1(b, value) if self.clip.value.data else value

        return [build.compute("multibox_prior", build.result_shape, real, side)]


@register_relay_op
class MultiboxTransformLocOp(RelayOp):
    """Anchors transformed by predictions, with their best class: rows `class, score, left, top, right, bottom`.

    The first class of the probabilities (N, classes, boxes) is the background. The class of a box is the first other
    class with the greatest probability. A box is kept if that probability is greater than -1 and at least `threshold`;
    its class is numbered from 0 without the background. The predictions (N, boxes·4) of a box, `dx, dy, dw, dh`, are
    multiplied by `variances`. `dx` and `dy` shift the centre of its anchor (1, boxes, 4) in units of its width and
    height; width and height are multiplied by the exponentials of `dw` and `dh`. `clip` clamps coordinates to [0, 1].

    The result is the tuple of the rows of each image, first those that are kept, in order, then rows of -1, and the
    number of rows kept. With `keep_background` all boxes are kept: the background is class 0, which is also the class
    of boxes with a probability less than `threshold`.

    Constraints:
    - C6: probabilities, predictions and anchors have the same number of boxes, and the anchors are for one image.
    - C7: there are four variances.

    Example:
    ```mlir
    %t = relay.vision.multibox_transform_loc(%p, %l, %a) {threshold = 0.6}
        : (tensor<2x3x5xf32>, tensor<2x20xf32>, tensor<1x5x4xf32>) -> tuple<tensor<2x5x6xf32>, tensor<2xi32>>
    ```

    """

    name = "relay.vision.multibox_transform_loc"
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": SameElements(),
        "C3": RankOf(0, 3, 3),
        "C4": RankOf(1, 2, 2),
        "C5": RankOf(2, 3, 3),
    }

    cls_prob = operand_def()
    loc_pred = operand_def()
    anchor = operand_def()

    clip = bool_property(True)
    threshold = float_property(0.01)
    variances = floats_property(0.1, 0.1, 0.2, 0.2)
    keep_background = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of six numbers for each box, and one number for each image; checks C6 and C7."""
        (batch, _, boxes), element = facts.operand(0)
        (images, numbers), (one, anchors, sides) = facts.shape(1), facts.shape(2)
        facts.require_equal(images, batch, "C6", "images of predictions and probabilities")
        facts.require_equal(numbers, boxes * 4, "C6", "predictions, and numbers of boxes")
        facts.require_equal(one, 1, "C6", "images of anchors")
        facts.require_equal(anchors, boxes, "C6", "anchors and boxes")
        facts.require_equal(sides, 4, "C6", "numbers of an anchor")
        count = len(floats(self.variances))
        facts.require(count == 4, "C7", f"variances must have 4 elements, found {count}")
        return TupleType((tensor_type((batch, boxes, 6), element), tensor_type((batch,), i32)))

    def evaluate(self, cls_prob: Array, loc_pred: Array, anchor: Array) -> tuple[Array, ...]:
        """Processes image by image."""
        batch, _, boxes = cls_prob.shape
        wide = np.dtype(np.float64 if cls_prob.dtype == np.float64 else np.float32)
        least = np.asarray(self.threshold.value.data, wide)
        rows, counts = np.full((batch, boxes, 6), -1, cls_prob.dtype), np.zeros(batch, np.int32)
        moved = cast_once(self._moved_boxes(loc_pred.reshape(batch, boxes, 4), anchor), cls_prob.dtype)
        keeps_all = bool(self.keep_background.value.data)
        for image in range(batch):
            for box in range(boxes):
                scores = cls_prob[image, 0 if keeps_all else 1 :, box]
                classes = [(score, -kind) for kind, score in enumerate(scores) if score > -1]
                best, kind = max(classes, default=(scores.dtype.type(-1), 0))
                is_kept = bool(classes) and not best.astype(wide) < least
                if is_kept or keeps_all:
                    rows[image, counts[image]] = (-kind if is_kept else 0, best, *moved[image, box])
                    counts[image] += 1
        return rows, counts

    def _moved_boxes(self, predictions: Array, anchor: Array) -> Array:
        """Returns the boxes transformed by the predictions: (images, boxes, 4)."""
        wide = anchor.astype(np.float64)
        moves = predictions.astype(np.float64) * np.array(floats(self.variances))
        extents, centres = wide[..., 2:] - wide[..., :2], (wide[..., :2] + wide[..., 2:]) / 2
        centres, halves = centres + moves[..., :2] * extents, np.exp(moves[..., 2:]) * extents / 2
        boxes = np.concatenate([centres - halves, centres + halves], -1)
        return np.clip(boxes, 0, 1) if self.clip.value.data else boxes

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds the best class of each box, then the rows of the kept boxes, or of all."""
        from xrelay.dialects.relay.computes.ordering import FrontRows
        from xrelay.dialects.topi.build import variables
        from xrelay.dialects.upstream.arith_extras import CmpfOp

        best, best_class = self._best_classes(build)
        (batch, boxes), real, keeps_all = build.shape(best), build.element(best), bool(self.keep_background.value.data)

        def is_kept(b: Body) -> SSAValue:
            value, threshold = b.read(best, *b.spatial), b.constant(self.threshold.value.data, real)
            has_class = b.compare(value, "gt", -1)
            return b.select(has_class, b.add(CmpfOp(value, threshold, "uge")), 0)

        is_foreground = build.compute("is_kept", (batch, boxes), i1, is_kept)

        def read(b: Body, image: AffineExpr, box: AffineExpr, column: AffineExpr) -> SSAValue:
            sides = [self._moved_side(build, b, image, box, end) for end in range(4)]
            kind = b.convert(b.read(best_class, image, box), real)
            if keeps_all:
                kind = b.select(b.read(is_foreground, image, box), kind, 0)
            return b.choose(column, [kind, b.read(best, image, box), *sides])

        rows = {**variables("i", (batch, boxes)), "k": 6}
        if keeps_all:
            count = build.compute("counts", {"b": batch}, i32, lambda b: b.size(boxes, i32))
            return [build.compute("multibox_rows", rows, real, lambda b: read(b, *b.spatial)), count]
        kept = FrontRows(build, is_foreground)

        def row(b: Body) -> SSAValue:
            image, place, column = b.spatial

            def inside() -> SSAValue:
                return read(b, image, kept.row(b, image, place), column)

            return b.guard(kept.is_used(b, image, place), real, inside, -1)

        return [build.compute("multibox_rows", rows, real, row), kept.counts(i32)]

    def _best_classes(self, build: TopiBuilder) -> tuple[SSAValue, SSAValue]:
        """Returns the greatest probability of each box, at least -1, and the first class with it.

        The background is not considered; with `keep_background` it is class 0.
        """
        scores = build.operand(0)
        (batch, classes, boxes), real = build.shape(scores), build.element(scores)
        first = 0 if self.keep_background.value.data else 1
        reduce = {"c": maximum(0, classes - first)}

        def score(b: Body) -> SSAValue:
            image, box = b.spatial
            value, lowest = b.read(scores, image, b.reduction[0] + first, box), b.constant(-1, real)
            return b.select(b.compare(value, "gt", lowest), value, lowest)

        def fold(b: Body) -> SSAValue:
            return b.largest(b.accumulators[0], score(b))

        best = build.compute("best_score", (batch, boxes), real, fold, reduce=reduce, init=[-1.0])

        def number(b: Body) -> SSAValue:
            is_best = b.compare(score(b), "eq", b.read(best, *b.spatial))
            place = b.number(b.reduction[0], i64)
            return b.smallest(b.accumulators[0], b.select(is_best, place, b.size(classes, i64)))

        return best, build.compute("best_class", (batch, boxes), i64, number, reduce=reduce, init=[(1 << 63) - 1])

    def _moved_side(self, build: TopiBuilder, b: Body, image: AffineExpr, box: AffineExpr, end: int) -> SSAValue:
        """Returns a coordinate of a transformed anchor: left, top, right or bottom."""
        predictions, anchors = build.operand(1), build.operand(2)
        axis, real, variances = end % 2, build.element(anchors), floats(self.variances)
        low, high = (b.read(anchors, 0, box, side) for side in (axis, axis + 2))
        extent, two = b.minus(high, low), b.constant(2, real)
        shift, growth = (
            b.times(b.read(predictions, image, box * 4 + number), variances[number]) for number in (axis, axis + 2)
        )
        centre = b.plus(b.times(shift, extent), b.divide(b.plus(low, high), two))
        half = b.divide(b.times(b.exp(growth), extent), two)
        side = b.minus(centre, half) if end < 2 else b.plus(centre, half)
        return _between_0_and_1(b, side) if self.clip.value.data else side


def _between_0_and_1(b: Body, value: SSAValue) -> SSAValue:
    """Clamps a float to [0, 1]."""
    return b.minimum(b.maximum(value, 0), 1)
