"""Boxes of single-shot detectors: `relay.vision.multibox_prior` and `relay.vision.multibox_transform_loc`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import TupleType, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import floats
from xrelay.dialects.relay.core.constraints import Constraints, FloatElements, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, float_property, floats_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class MultiboxPriorOp(RelayOp):
    """Boxes around the places of an image (N, C, H, W), whose elements are not read: (1, H·W·k, 4), left to bottom.

    The centre of row i and column j lies at `(i + offsets[0]) * steps[0]` down and `(j + offsets[1]) * steps[1]` right,
    where a step that is not positive is 1 divided by the extent. Each place has a box of each size and the first ratio
    1, as high as the size and `H / W` times as wide, then one of the first size for each ratio r but the first, with
    the width times the root of r, and the height divided by it. `clip` brings the sides between 0 and 1.

    Constraints:
    - C3: there are sizes and ratios, two steps and two offsets.
    - C4: the image has an element along each spatial axis.

    Example:
    ```mlir
    %y = relay.vision.multibox_prior(%x) {sizes = [0.5, 0.25], ratios = [1.0, 2.0]}
        : (tensor<1x3x4x5xf32>) -> tensor<1x60x4xf32>
    ```

    """

    name = "relay.vision.multibox_prior"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {"C1": FloatElements(), "C2": RankOf(0, 4, 4)}

    data = operand_def()

    sizes = floats_property(1.0)
    ratios = floats_property(1.0)
    steps = floats_property(-1.0, -1.0)
    offsets = floats_property(0.5, 0.5)
    clip = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """A box for each place, size and further ratio; C3 and C4."""
        (_, _, height, width), element = facts.operand(0)
        counts = [len(floats(each)) for each in (self.sizes, self.ratios, self.steps, self.offsets)]
        message = "{} sizes, {} ratios, {} steps and {} offsets; at least 1, 1, and 2 each are expected".format(*counts)
        facts.require(counts[0] > 0 and counts[1] > 0 and counts[2:] == [2, 2], "C3", message)
        for extent in (height, width):
            facts.require_at_least(extent, 1, "C4", "spatial extent")
        return tensor_type((1, height * width * (counts[0] + counts[1] - 1), 4), element)


@register_relay_op
@irdl_op_definition
class MultiboxTransformLocOp(RelayOp):
    """Boxes moved as predicted, with the best class of each: rows `class, score, left, top, right, bottom`.

    Of the probabilities (N, classes, boxes) the first class is the background. A box belongs to the first class behind
    it that has the greatest probability; it is kept where that is greater than -1 and not less than `threshold`, and
    classes count from 0 then. Of the predictions (N, boxes·4) of a box, `dx, dy, dw, dh`, times the `variances`, the
    first two move the centre of its anchor (1, boxes, 4) by so many widths and heights; by the exponentials of the
    others width and height are multiplied. `clip` brings the sides between 0 and 1.

    Gives the tuple of the rows of each image, those that are kept first, in order, and numbers -1 behind; and how many
    are kept. With `keep_background` all boxes are: the background takes part as class 0, which is also that of a box
    whose probability is less than `threshold`, and classes count from 0 with it.

    Constraints:
    - C6: probabilities, predictions and anchors are of equally many boxes, the anchors of one image.
    - C7: there are four variances.

    Example:
    ```mlir
    %t = relay.vision.multibox_transform_loc(%p, %l, %a) {threshold = 0.6}
        : (tensor<2x3x5xf32>, tensor<2x20xf32>, tensor<1x5x4xf32>) -> tuple<tensor<2x5x6xf32>, tensor<2xi32>>
    ```

    """

    name = "relay.vision.multibox_transform_loc"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {
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
        """Six numbers for each box of each image, and a number for each image; C6 and C7."""
        (batch, _, boxes), element = facts.operand(0)
        (images, numbers), (one, anchors, sides) = facts.shape(1), facts.shape(2)
        facts.require_equal(images, batch, "C6", "images of predictions and probabilities")
        facts.require_equal(numbers, boxes * 4, "C6", "predictions, and numbers of boxes")
        facts.require_equal(one, 1, "C6", "images of anchors")
        facts.require_equal(anchors, boxes, "C6", "anchors and boxes")
        facts.require_equal(sides, 4, "C6", "numbers of an anchor")
        count = len(floats(self.variances))
        facts.require(count == 4, "C7", f"{count} variances, there must be 4")
        return TupleType((tensor_type((batch, boxes, 6), element), tensor_type((batch,), i32)))
