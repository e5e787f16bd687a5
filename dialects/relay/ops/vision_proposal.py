"""Regions that a network proposes: `relay.vision.proposal`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import floats
from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, Finite, FloatElements, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, float_property, floats_property, int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class ProposalOp(RelayOp):
    """The regions of a region proposal network with the best scores that do not overlap much: `image, x, y, x, y`.

    Each place of the image of features has an anchor for each ratio and, of each ratio, each scale. The first lies in
    the square of `feature_stride` pixels at the origin: with `s = feature_stride`, its centre is `(s - 1) / 2`, its
    width is `w = floor(sqrt(floor(s * s / ratio)) + 0.5)` and its height `floor(w * ratio + 0.5)`, times the scale;
    a box of width w reaches from `centre - (w - 1) / 2` to `centre + (w - 1) / 2`. Those of other places are moved by
    the stride. `bbox_pred` moves them, four numbers for each anchor: with `iou_loss` they are added to the corners,
    else the first two move the centre by so many widths and heights, and by the exponentials of the others width and
    height are multiplied. `im_info` has the height and the width of each image, to which boxes are cut, and a factor of
    `rpn_min_size`. A box that is narrower or lower than that product is enlarged by half of it on each side.

    The score of an anchor is in the second half of `cls_prob`; it is -1 where the box is too small, and in rows and
    columns of places that begin behind the image. The `rpn_pre_nms_top_n` best are looked at, all where that is not
    positive, but none whose score is NaN or minus infinity; one is taken unless it overlaps one that is: where the area
    that they share, divided by that of their union, is greater than `threshold`. Pixels at both ends count: a side from
    `low` to `high` is `high + 1 - low` long. The first `rpn_post_nms_top_n` are the result; fewer are repeated from the
    first on. Of an image without any the corners are 0.

    Constraints:
    - C6: `cls_prob` has two numbers and `bbox_pred` four for each of the anchors, whose number is the product of those
      of scales and ratios, at the same places of equally many images.
    - C7: `im_info` has three numbers for each image.
    - C8: there is a scale and a ratio, and ratios are positive.

    Example:
    ```mlir
    %y = relay.vision.proposal(%p, %b, %i)
        {scales = [8.0], ratios = [0.5, 1.0], rpn_pre_nms_top_n = 12, rpn_post_nms_top_n = 4}
        : (tensor<1x4x3x3xf32>, tensor<1x8x3x3xf32>, tensor<1x3xf32>) -> tensor<4x5xf32>
    ```

    """

    name = "relay.vision.proposal"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {
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
        """`rpn_post_nms_top_n` rows of five numbers for each image; C6 to C8."""
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

    def anchors(self) -> list[tuple[float, float, float, float]]:
        """The anchors at the origin, all scales of the first ratio first: left, top, right and bottom."""
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
