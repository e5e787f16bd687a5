"""Region proposals: `relay.vision.proposal`."""

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

    def anchors(self) -> list[tuple[float, float, float, float]]:
        """Returns the anchors at the origin (left, top, right, bottom), all scales of the first ratio first."""
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
