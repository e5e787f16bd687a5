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
        """Returns the type of one box for each pixel, size and further ratio; checks C3 and C4."""
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
