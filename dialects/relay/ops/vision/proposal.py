"""Region proposals: `relay.vision.proposal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    Body,
    Dim,
    Facts,
    Finite,
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
    float_property,
    floats,
    floats_property,
    int_property,
    register_relay_op,
    tensor_type,
)

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr


@register_relay_op
class ProposalOp(RelayOp):
    """The regions `image, x, y, x, y` with the best scores of a region proposal network, after suppression of overlaps.

    Each pixel of the feature image has an anchor for each ratio and scale, ratios outermost. The anchors of the first
    pixel are centred in the square of `feature_stride` pixels at the origin: with `s = feature_stride`, the centre is
    `(s - 1) / 2`, the width is `w = floor(sqrt(floor(s * s / ratio)) + 0.5)` and the height `floor(w * ratio + 0.5)`,
    times the scale. A box of width w extends from `centre - (w - 1) / 2` to `centre + (w - 1) / 2`. The anchors of
    other pixels are shifted by multiples of the stride. `bbox_pred` transforms each anchor by four numbers: with
    `iou_loss` they are added to the corners. Otherwise the first two shift the centre in units of width and height, and
    width and height are multiplied by the exponentials of the others. `im_info` has the height and width of each image,
    to which boxes are clipped, and a factor for `rpn_min_size`. A box whose width or height is less than the product of
    factor and `rpn_min_size` is enlarged by half of the product on each side.

    The scores of anchors are the second half of `cls_prob`. The score is -1 if the box is too small, and for pixels
    whose row or column begins outside of the image. The `rpn_pre_nms_top_n` best boxes are considered, or all if that
    is not positive, except those with a score of NaN or minus infinity. A box is selected unless it overlaps a selected
    box: the area of the intersection divided by that of the union is greater than `threshold`. Coordinates are
    inclusive: a side from `low` to `high` has length `high + 1 - low`. The result is the first `rpn_post_nms_top_n`
    selected boxes; if there are fewer, they are repeated. For an image without boxes the corners are 0.

    Constraints:
    - C6: `cls_prob` has two numbers and `bbox_pred` four for each anchor (one for each scale and ratio), for the same
      pixels of the same number of images.
    - C7: `im_info` has three numbers for each image.
    - C8: there are at least one scale and one ratio, and ratios are positive.

    Example:
    ```mlir
    %y = relay.vision.proposal(%p, %b, %i)
        {scales = [8.0], ratios = [0.5, 1.0], rpn_pre_nms_top_n = 12, rpn_post_nms_top_n = 4}
        : (tensor<1x4x3x3xf32>, tensor<1x8x3x3xf32>, tensor<1x3xf32>) -> tensor<4x5xf32>
    ```

    """

    name = "relay.vision.proposal"
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": SameElements(),
        "C3": RankOf(0, 4, 4),
        "C4": RankOf(1, 4, 4),
        "C5": RankOf(2, 2, 2),
        "C9": AtLeast("feature_stride", 1),
        "C10": AtLeast("rpn_post_nms_top_n", 1),
        "C11": Finite(("scales", "ratios", "threshold")),
    }

    cls_prob = operand_def()
    bbox_pred = operand_def()
    im_info = operand_def()

    scales = floats_property(4.0, 8.0, 16.0, 32.0)
    ratios = floats_property(0.5, 1.0, 2.0)
    feature_stride = int_property(16)
    threshold = float_property(0.7)
    rpn_pre_nms_top_n = int_property(6000)
    rpn_post_nms_top_n = int_property(300)
    rpn_min_size = int_property(16)
    iou_loss = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of `rpn_post_nms_top_n` rows of five numbers for each image; checks C6 to C8."""
        scales, ratios = floats(self.scales), floats(self.ratios)
        legal = bool(scales) and bool(ratios) and all(ratio > 0 for ratio in ratios)
        facts.require(legal, "C8", f"scales {list(scales)} and ratios {list(ratios)}")
        anchors = len(scales) * len(ratios)
        (batch, *probabilities), element = facts.operand(0)
        images, *predictions = facts.shape(1)
        infos, numbers = facts.shape(2)
        facts.require_equal(images, batch, "C6", "images of bbox_pred and cls_prob")
        for per_anchor, (channels, *_), what in ((2, probabilities, "cls_prob"), (4, predictions, "bbox_pred")):
            facts.require_equal(channels, per_anchor * anchors, "C6", f"channels of {what}")
        for found, wanted in zip(predictions[1:], probabilities[1:], strict=True):
            facts.require_equal(found, wanted, "C6", "places of bbox_pred and cls_prob")
        facts.require_equal(infos, batch, "C7", "images of im_info and cls_prob")
        facts.require_equal(numbers, 3, "C7", "numbers of im_info")
        return tensor_type((batch * self.rpn_post_nms_top_n.value.data, 5), element)

    @property
    def anchors(self) -> list[tuple[float, float, float, float]]:
        """The anchors at the origin (left, top, right, bottom), all scales of the first ratio first."""
        side = float(self.feature_stride.value.data)
        boxes: list[tuple[float, float, float, float]] = []
        for ratio in floats(self.ratios):
            width = float(int((side * side // ratio) ** 0.5 + 0.5))
            height = float(int(width * ratio + 0.5))
            for scale in floats(self.scales):
                away = [(scale * length - 1) / 2 for length in (width, height)]
                low, high = ([(side - 1) / 2 + sign * length for length in away] for sign in (-1, 1))
                boxes.append((low[0], low[1], high[0], high[1]))
        return boxes

    def evaluate(self, cls_prob: Array, bbox_pred: Array, im_info: Array) -> Array:
        """Selects the best boxes of each image that do not overlap better ones."""
        from xrelay.dialects.shared.numerics import stable_order

        wide = np.dtype(np.float64 if cls_prob.dtype == np.float64 else np.float32)
        batch, _, height, width = cls_prob.shape
        count, count_before = self.rpn_post_nms_top_n.value.data, self.rpn_pre_nms_top_n.value.data
        anchors = np.array(self.anchors, wide)
        rows = np.zeros((batch, count, 5), wide)
        for image, info in enumerate(im_info.astype(wide)):
            # Pixels are the leading axes, followed by anchors.
            scores = cls_prob[image, len(anchors) :].transpose(1, 2, 0).astype(wide)
            moves = bbox_pred[image].reshape(len(anchors), 4, height, width).transpose(2, 3, 0, 1).astype(wide)
            boxes, scores = self._boxes(anchors, moves, info, scores)
            order = stable_order(scores, descending=True)
            taken = self._selected(boxes, scores, order[:count_before] if count_before > 0 else order)
            rows[image, :, 0] = image
            if taken:
                rows[image, :, 1:] = boxes[[taken[place % len(taken)] for place in range(count)]]
        return rows.reshape(-1, 5).astype(cls_prob.dtype)

    def _boxes(self, anchors: Array, moves: Array, info: Array, scores: Array) -> tuple[Array, Array]:
        """Returns the boxes (number, 4) and their scores; -1 for invalid boxes."""
        stride, one, half = (scores.dtype.type(each) for each in (self.feature_stride.value.data, 1, 0.5))
        places = np.stack(np.meshgrid(*map(np.arange, scores.shape[:2]), indexing="ij")[::-1], -1).astype(scores.dtype)
        ends = anchors + np.tile(places * stride, 2)[:, :, None]
        if self.iou_loss.value.data:
            ends = ends + moves
        else:
            extents = ends[..., 2:] - ends[..., :2] + one
            centres = moves[..., :2] * extents + (ends[..., :2] + half * (extents - one))
            away = half * (np.exp(moves[..., 2:]) * extents - one)
            ends = np.concatenate([centres - away, centres + away], -1)
        limits = np.tile(info[1::-1] - one, 2)
        ends = np.maximum(np.minimum(ends, limits), scores.dtype.type(0))
        least = info[2] * scores.dtype.type(self.rpn_min_size.value.data)
        small = (ends[..., 2:] - ends[..., :2] + one < least).any(-1)
        margin = np.repeat(np.array([-half, half]), 2) * least
        ends = np.where(small[..., None], ends + margin, ends)
        # A pixel is outside of the image if `floor(extent / stride) <= place`.
        outside = (info[1::-1] / stride < places + one).any(-1)[..., None]
        # Boxes with a NaN score are never selected and sorted after all others.
        scores = np.where(small | outside, -one, np.where(np.isnan(scores), -np.inf, scores))
        return ends.reshape(-1, 4), scores.reshape(-1)

    def _selected(self, boxes: Array, scores: Array, order: Array) -> list[int]:
        """Returns the selected boxes in descending order of score."""
        from xrelay.dialects.relay.meaning.overlap import overlap

        taken: list[int] = []
        corners = boxes + np.array([0, 0, 1, 1], boxes.dtype)
        threshold = boxes.dtype.type(self.threshold.value.data)
        for box in order.tolist():
            if scores[box] > -np.inf and not (overlap(corners[box], corners[taken]) > threshold).any():
                taken.append(box)
        return taken

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds the selected boxes in order, repeated if there are too few."""
        from xdsl.dialects import arith

        from xrelay.dialects.relay.computes.ordering import FrontRows

        real, post = build.element(build.operand(0)), self.rpn_post_nms_top_n.value.data
        cut, ends = self._ends(build)
        order, kept = self._suppressed(build, cut, ends)
        front = FrontRows(build, kept)
        counts = front.counts(i64)

        def number(b: Body) -> SSAValue:
            row, column = b.spatial
            image, place = row // post, row % post
            count, zero = b.read(counts, image), b.constant(0, i64)

            def side() -> SSAValue:
                own = b.add(arith.RemUIOp(b.number(place, i64), count))
                rank = front.row(b, image, b.as_index(own))
                box = b.read_index(order, image, rank)
                return b.choose(column, [b.constant(0, real), *(b.read(ends, image, end, box) for end in range(4))])

            has_box = b.compare(count, "gt", zero)
            value = b.guard(has_box, real, side, 0)
            is_image = b.compare(b.index(column), "eq", 0)
            return b.select(is_image, b.number(image, real), value)

        return [build.compute("proposals", build.result_shape, real, number)]

    def _pixel(self, b: Body, box: AffineExpr, width: Dim) -> tuple[AffineExpr, AffineExpr, AffineExpr]:
        """Returns the anchor, the row and the column of a box: boxes are in order of pixels, then of anchors."""
        count = len(self.anchors)
        return box % count, b.quotient(box // count, width), b.remainder(box // count, width)

    def _ends(self, build: TopiBuilder) -> tuple[SSAValue, SSAValue]:
        """Returns the transformed boxes clipped to the image, before and after small boxes are enlarged."""
        scores, info = build.operand(0), build.operand(2)
        (batch, _, height, width), real = build.shape(scores), build.element(scores)

        def cut_end(b: Body) -> SSAValue:
            """Returns a coordinate of a transformed box (left, top, right, bottom), clipped to the image."""
            image, end, box = b.spatial
            ends = [self._moved_end(build, b, image, box, number) for number in range(4)]
            zero, one = b.constant(0, real), b.constant(1, real)
            last = [b.minus(b.read(info, image, axis), one) for axis in (1, 0)]
            return b.choose(end, [b.maximum(b.minimum(*pair), zero) for pair in zip(ends, last * 2, strict=True)])

        spatial = {"b": batch, "s": 4, "i": height * width * len(self.anchors)}
        cut = build.compute("cut_boxes", spatial, real, cut_end)

        def enlarged_end(b: Body) -> SSAValue:
            image, end, box = b.spatial
            value, least = b.read(cut, image, end, box), self._least(b, info, image)
            factor = b.choose(end, [b.constant(each, real) for each in (-0.5, -0.5, 0.5, 0.5)])
            large = b.plus(value, b.times(factor, least))
            return b.select(self._is_small(b, info, cut, image, box), large, value)

        return cut, build.compute("boxes", spatial, real, enlarged_end)

    def _moved_end(self, build: TopiBuilder, b: Body, image: AffineExpr, box: AffineExpr, end: int) -> SSAValue:
        """Returns a coordinate of a transformed anchor."""
        moves = build.operand(1)
        real, width = build.element(moves), build.shape(build.operand(0))[3]
        anchor, *places = self._pixel(b, box, width)
        axis, stride = end % 2, b.constant(self.feature_stride.value.data, real)
        shift = b.times(b.number(places[1 - axis], real), stride)

        def own(number: int) -> SSAValue:
            return b.plus(b.choose(anchor, [b.constant(each[number], real) for each in self.anchors]), shift)

        def move(number: int) -> SSAValue:
            return b.read(moves, image, anchor * 4 + number, *places)

        if self.iou_loss.value.data:
            return b.plus(own(end), move(end))
        one, half = b.constant(1, real), b.constant(0.5, real)
        low = own(axis)
        extent = b.plus(b.minus(own(axis + 2), low), one)
        centre = b.plus(b.times(move(axis), extent), b.plus(low, b.times(half, b.minus(extent, one))))
        away = b.times(half, b.minus(b.times(b.exp(move(axis + 2)), extent), one))
        return b.minus(centre, away) if end < 2 else b.plus(centre, away)

    def _least(self, b: Body, info: SSAValue, image: AffineExpr) -> SSAValue:
        """Returns the least width and height of a box in an image."""
        factor = b.read(info, image, 2)
        return b.times(factor, self.rpn_min_size.value.data)

    def _is_small(self, b: Body, info: SSAValue, cut: SSAValue, image: AffineExpr, box: AffineExpr) -> SSAValue:
        """Returns whether the width or height of a clipped box is less than the minimum."""
        least = self._least(b, info, image)
        one, ends = b.constant(1, least.type), [b.read(cut, image, end, box) for end in range(4)]
        extents = [b.plus(b.minus(ends[axis + 2], ends[axis]), one) for axis in (0, 1)]
        narrow, low = (b.compare(extent, "lt", least) for extent in extents)
        return b.logical_or(narrow, low)

    def _suppressed(self, build: TopiBuilder, cut: SSAValue, ends: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Returns the boxes in descending order of score, and whether they are selected: both (images, boxes)."""
        from xrelay.dialects.relay.computes.ordering import best_scores
        from xrelay.dialects.topi import SuppressOp

        (batch, _, boxes), real = build.shape(ends), build.element(ends)
        of_image = {"b": batch, "i": boxes}
        rows = {"b": batch, "c": 1, "i": boxes}
        scores = build.compute("scores", rows, real, lambda b: self._score(build, b, cut))
        order, best = best_scores(build, scores, self.rpn_pre_nms_top_n.value.data, float("nan"))

        def side(b: Body) -> SSAValue:
            """Returns a component of a box for `topi.suppress`, with inclusive ends; area NaN if not positive."""
            image, number, box = b.spatial
            corners = [b.read(ends, image, end, box) for end in range(4)]
            sides = [*corners[:2], *(b.plus(end, 1) for end in corners[2:])]
            size = b.times(*(b.minus(sides[axis + 2], sides[axis]) for axis in (0, 1)))
            has_area = b.compare(size, "gt", 0)
            return b.choose(number, [*sides, b.select(has_area, size, float("nan"))])

        sides = build.compute("box_sides", {"b": batch, "s": 5, "i": boxes}, real, side)
        most = build.scalar("most", (1 << 63) - 1, i64)
        overlap = build.scalar("overlap", self.threshold.value.data, real)
        least = build.scalar("least", float("-inf"), real)
        kept = build.insert(SuppressOp([sides, order, best, most, overlap, least])).kept
        of_boxes = build.compute("order", of_image, i64, lambda b: b.read(order, b.spatial[0], 0, b.spatial[1]))
        return of_boxes, build.compute("taken", of_image, i1, lambda b: b.read(kept, b.spatial[0], 0, b.spatial[1]))

    def _score(self, build: TopiBuilder, b: Body, cut: SSAValue) -> SSAValue:
        """Returns the score of a box: -1 if it is invalid, -inf for NaN, which is never selected."""
        from xrelay.dialects.upstream.arith_extras import CmpfOp

        scores, info = build.operand(0), build.operand(2)
        real, (image, _, box) = build.element(scores), b.spatial
        anchor, row, column = self._pixel(b, box, build.shape(scores)[3])
        score = b.read(scores, image, anchor + len(self.anchors), row, column)
        stride, one = b.constant(self.feature_stride.value.data, real), b.constant(1, real)
        is_invalid = self._is_small(b, info, cut, image, box)
        for axis, place in enumerate((row, column)):
            end = b.divide(b.read(info, image, axis), stride)
            is_outside = b.compare(end, "lt", b.plus(b.number(place, real), one))
            is_invalid = b.logical_or(is_invalid, is_outside)
        known = b.select(b.add(CmpfOp(score, score, "ord")), score, float("-inf"))
        return b.select(is_invalid, -1, known)
