"""Non-maximum suppression: `relay.vision.all_class_non_max_suppression` and `regular_non_max_suppression`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import TupleType, f32, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import (
    AtLeast,
    Constraints,
    FloatElements,
    IntegerElements,
    RankOf,
    SameElements,
)
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import float_property, int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class AllClassNonMaxSuppressionOp(RelayOp):
    """Non-maximum suppression of boxes, for each class of each batch separately.

    `boxes` are `(batch, boxes, 4)`, two opposite corners `y, x, y, x` in any order; `scores` are `(batch, classes,
    boxes)`. Candidates are boxes with a score greater than `score_threshold`, which excludes NaN. They are considered
    in descending order of score, equal scores in order of index. Each is selected unless it overlaps a selected box,
    until `max_output_boxes_per_class` are selected. Two boxes overlap if their intersection is not empty and its area
    divided by that of their union is greater than `iou_threshold`. A box with area 0 or a NaN coordinate overlaps no
    box.

    The result is the tuple of `selected_indices`, with a row `batch, class, box` for each selected box in order of
    batch, class and selection, and `num_total_detections`, the number of these rows. `selected_indices` has room for
    all boxes of all classes; unused rows are zero.

    Constraints:
    - C9: scores and boxes have the same numbers of batches and of boxes.
    - C10: a box has 4 numbers.

    Example:
    ```mlir
    %t = relay.vision.all_class_non_max_suppression(%boxes, %scores, %most, %iou, %score)
        : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>)
        -> tuple<tensor<12x3xi64>, tensor<1xi64>>
    ```

    """

    name = "relay.vision.all_class_non_max_suppression"
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": RankOf(0, 3, 3),
        "C2": RankOf(1, 3, 3),
        "C3": FloatElements(),
        "C4": SameElements((0, 1, 3, 4)),
        "C5": IntegerElements(2),
        "C6": RankOf(2, 0, 0),
        "C7": RankOf(3, 0, 0),
        "C8": RankOf(4, 0, 0),
    }
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    boxes = operand_def()
    scores = operand_def()
    max_output_boxes_per_class = operand_def()
    iou_threshold = operand_def()
    score_threshold = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of indices for all boxes of all classes, and of a number; checks C9 and C10."""
        batch, count, corners = facts.shape(0)
        batches, classes, scored = facts.shape(1)
        facts.require_equal(batches, batch, "C9", "batches of scores and boxes")
        facts.require_equal(scored, count, "C9", "scores and boxes")
        facts.require_equal(corners, 4, "C10", "numbers of a box")
        return TupleType((tensor_type((batch * classes * count, 3), i64), tensor_type((1,), i64)))


@register_relay_op
@irdl_op_definition
class RegularNonMaxSuppressionOp(RelayOp):
    """The detections with the best scores in each image after suppression in each class separately, as in TFLite.

    `boxes` are `(batch, boxes, 4)`, the lower and the higher corner `y, x, y, x`; `scores` are `(batch, boxes,
    classes)`, where the classes before the last `num_classes` are background. Candidates of a class are boxes with a
    score that is at least `score_threshold` and greater than minus infinity. They are considered in descending order of
    score, equal scores in order of index. Each is selected unless it overlaps a selected box, until
    `max_detections_per_class` are selected. Two boxes overlap if their intersection is not empty and its area divided
    by that of their union is greater than `iou_threshold`. The detections are the `max_detections` boxes with the best
    scores among those selected in all classes; of equal scores those of the first class are preferred. Thresholds are
    rounded to the scores' type, or to f32 for f16 and bf16.

    The result is the tuple of the detections' boxes, their classes (from 0, as floats), their scores, and their number
    in each image; unused elements are zero.

    Constraints:
    - C6: scores and boxes have the same numbers of batches and of boxes, and a box has 4 numbers.
    - C7: the scores have at least `num_classes` classes.

    Example:
    ```mlir
    %t = relay.vision.regular_non_max_suppression(%b, %s) {max_detections_per_class = 2, max_detections = 3,
                                                          num_classes = 2, iou_threshold = 0.5, score_threshold = 0.1}
        : (tensor<1x6x4xf32>, tensor<1x6x3xf32>)
        -> tuple<tensor<1x3x4xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1xi32>>
    ```

    """

    name = "relay.vision.regular_non_max_suppression"
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": RankOf(0, 3, 3),
        "C2": RankOf(1, 3, 3),
        "C3": FloatElements(),
        "C4": SameElements(),
        "C5": AtLeast("max_detections_per_class", 1),
        "C8": AtLeast("max_detections", 1),
        "C9": AtLeast("num_classes", 1),
    }
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    boxes = operand_def()
    scores = operand_def()

    max_detections_per_class = int_property()
    max_detections = int_property()
    num_classes = int_property()
    iou_threshold = float_property()
    score_threshold = float_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types for `max_detections` detections in each image; checks C6 and C7."""
        (batch, count, corners), element = facts.operand(0)
        batches, scored, classes = facts.shape(1)
        for found, wanted, what in ((batches, batch, "batches"), (scored, count, "boxes")):
            facts.require_equal(found, wanted, "C6", f"{what} of scores and boxes")
        facts.require_equal(corners, 4, "C6", "numbers of a box")
        facts.require_at_least(classes, self.num_classes.value.data, "C7", "classes of the scores")
        row = (batch, self.max_detections.value.data)
        fields = ((*row, 4), element), (row, f32), (row, element), ((batch,), i32)
        return TupleType(tuple(tensor_type(shape, type) for shape, type in fields))
