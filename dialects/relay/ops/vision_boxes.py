"""Boxes with scores: `relay.vision.get_valid_counts` and `relay.vision.non_max_suppression`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, TupleType, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import Constraints, FloatElements, IntegerElements, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim, certainly_differ


class ScoredBoxesOp(RelayOp):
    """Base of the ops on rows of numbers (batch, boxes, numbers), of which one is a score, and one a class.

    Constraints shared by both:
    - C1: the data has three axes, of floats.
    - C3: score and class are numbers of a row; there is no class where `id_index` is negative.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    data = operand_def()

    score_index = int_property(1)
    id_index = int_property(0)

    def require_numbers(self, facts: Facts, count: Dim, most: int) -> None:
        """Compare with the numbers of a row; C3."""
        score, kind = self.score_index.value.data, self.id_index.value.data
        message = f"score {score}, class {kind} and up to number {most - 1} of rows of {count}"
        facts.require(score >= 0, "C3", message)
        facts.require_at_least(count, max(score + 1, kind + 1, most), "C3", "numbers of a row", message=message)


@register_relay_op
@irdl_op_definition
class GetValidCountsOp(ScoredBoxesOp):
    """The boxes of each batch whose score is greater than a threshold, and whose class is not negative, in front.

    Gives the tuple of their number in each batch, the rows, and their places in the data; behind them are rows and
    places of -1. Where `id_index` is negative, classes are not looked at.

    Constraints:
    - C3: score and class are numbers of a row; there is no class where `id_index` is negative.
    - C4: the threshold is a float of rank 0.

    Example:
    ```mlir
    %t = relay.vision.get_valid_counts(%x, %s)
        : (tensor<2x5x6xf32>, tensor<f32>) -> tuple<tensor<2xi32>, tensor<2x5x6xf32>, tensor<2x5xi32>>
    ```

    """

    name = "relay.vision.get_valid_counts"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": RankOf(0, 3, 3), "C2": FloatElements()}

    data = operand_def()
    score_threshold = operand_def()

    id_index = int_property(0)
    score_index = int_property(1)

    def infer_type(self, facts: Facts) -> Attribute:
        """Numbers, rows and places; C3 and C4."""
        (batch, boxes, count), _ = facts.operand(0)
        self.require_numbers(facts, count, 0)
        shape, element = facts.operand(1)
        legal = shape == () and isinstance(element, AnyFloat)
        facts.require(legal, "C4", lambda: f"the threshold must be a float of rank 0, found {facts[1]}")
        return TupleType((tensor_type((batch,), i32), facts.tensor(0), tensor_type((batch, boxes), i32)))


@register_relay_op
@irdl_op_definition
class NonMaxSuppressionOp(ScoredBoxesOp):
    """Of the first `valid_count` boxes of each batch, by falling score, those that overlap none with a better score.

    A box takes part where its score is positive and its class not negative; two opposite corners begin at `coord_start`
    in its row. Of these the `top_k` best are looked at, all where that is not positive. A box is taken unless it
    overlaps one that is: of the same class, or of any with `force_suppress`; until `max_output_size` are taken, where
    that is not negative. Two boxes overlap where they share an area and that, divided by the area of their union, is
    not less than `iou_threshold`. A threshold that is not positive takes the first `valid_count` boxes as they are.

    With `return_indices` gives the tuple of the numbers that `indices` has for the boxes taken, and -1 behind them, and
    how many there are. Else gives their rows, by score; a row of -1 stands for a box that is not taken, behind all
    others with `invalid_to_bottom`.

    Constraints:
    - C3: score, class and corners are numbers of a row; there is no class where `id_index` is negative.
    - C5: `valid_count` has an element for each batch, `indices`, which are integers, one for each box.
    - C6: `max_output_size` is an integer and `iou_threshold` a float, of rank 0.

    Example:
    ```mlir
    %t = relay.vision.non_max_suppression(%x, %n, %i, %most, %iou)
        : (tensor<2x5x6xf32>, tensor<2xi32>, tensor<2x5xi32>, tensor<i32>, tensor<f32>)
        -> tuple<tensor<2x5xi32>, tensor<2x1xi32>>
    ```

    """

    name = "relay.vision.non_max_suppression"
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": RankOf(0, 3, 3),
        "C2": FloatElements(),
        "C4": IntegerElements(1),
    }

    data = operand_def()
    valid_count = operand_def()
    indices = operand_def()
    max_output_size = operand_def()
    iou_threshold = operand_def()

    force_suppress = bool_property(False)
    top_k = int_property(-1)
    coord_start = int_property(2)
    score_index = int_property(1)
    id_index = int_property(0)
    return_indices = bool_property(True)
    invalid_to_bottom = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Numbers and how many, or rows; C3, C5 and C6."""
        batch, boxes, count = facts.shape(0)
        self.require_numbers(facts, count, self.coord_start.value.data + 4)
        facts.require(self.coord_start.value.data >= 0, "C3", f"corners begin at {self.coord_start.value.data}")
        found, wanted = [*facts.shape(1), *facts.shape(2)], [batch, batch, boxes]
        message = f"valid_count {facts[1]} and indices {facts[2]} for {batch} batches of {boxes} boxes"
        IntegerElements(2).check("C5", facts, self.properties)
        facts.require(len(facts.shape(1)) == 1 and len(found) == 3, "C5", message)
        differ = any(certainly_differ(*pair) for pair in zip(found, wanted, strict=True))
        facts.require(not differ, "C5", message)
        for lhs, rhs in zip(found, wanted, strict=True):
            facts.require_equal(lhs, rhs, "C5", "extents of valid_count and indices, and of the data,")
        (most, whole), (share, real) = facts.operand(3), facts.operand(4)
        IntegerElements(3).check("C6", facts, self.properties)
        legal = most == share == () and isinstance(real, AnyFloat)
        facts.require(
            legal, "C6", lambda: f"limits {facts[3]} and {facts[4]} must be of rank 0, of {whole} and a float"
        )
        if not self.return_indices.value.data:
            return facts.tensor(0)
        return TupleType((tensor_type((batch, boxes), i32), tensor_type((batch, 1), i32)))
