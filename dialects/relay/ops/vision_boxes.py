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
    """Base of the ops on boxes (batch, boxes, numbers), each a row of numbers with a score and a class.

    Constraints shared by both:
    - C1: the data has three axes and float elements.
    - C3: the row has a score and a class at their indices; a negative `id_index` means no class.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    data = operand_def()

    score_index = int_property(1)
    id_index = int_property(0)

    def require_numbers(self, facts: Facts, count: Dim, most: int) -> None:
        """Checks indices against the length of a row (C3)."""
        score, kind = self.score_index.value.data, self.id_index.value.data
        message = f"score {score}, class {kind} and up to number {most - 1} of rows of {count}"
        facts.require(score >= 0, "C3", message)
        facts.require_at_least(count, max(score + 1, kind + 1, most), "C3", "numbers of a row", message=message)


@register_relay_op
@irdl_op_definition
class GetValidCountsOp(ScoredBoxesOp):
    """The boxes of each batch with a score greater than a threshold and a nonnegative class, moved to the front.

    The result is the tuple of the number of such boxes in each batch, the rows, and their indices in the data; the
    remaining rows and indices are -1. If `id_index` is negative, classes are ignored.

    Constraints:
    - C3: the row has a score and a class at their indices; a negative `id_index` means no class.
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
        """Returns the types of numbers, rows and indices; checks C3 and C4."""
        (batch, boxes, count), _ = facts.operand(0)
        self.require_numbers(facts, count, 0)
        shape, element = facts.operand(1)
        legal = shape == () and isinstance(element, AnyFloat)
        facts.require(legal, "C4", lambda: f"the threshold must be a float of rank 0, found {facts[1]}")
        return TupleType((tensor_type((batch,), i32), facts.tensor(0), tensor_type((batch, boxes), i32)))


@register_relay_op
@irdl_op_definition
class NonMaxSuppressionOp(ScoredBoxesOp):
    """Non-maximum suppression of the first `valid_count` boxes of each batch, in descending order of score.

    Candidates are boxes with a positive score and a nonnegative class; two opposite corners begin at `coord_start` in
    the row. The `top_k` best candidates are considered, or all if `top_k` is not positive. A box is selected unless it
    overlaps a selected box of the same class, or of any class with `force_suppress`. At most `max_output_size` boxes
    are selected if that is not negative. Two boxes overlap if their intersection is not empty and its area divided by
    that of their union is at least `iou_threshold`. If the threshold is not positive, the first `valid_count` boxes are
    selected unchanged.

    With `return_indices` the result is the tuple of the elements of `indices` for the selected boxes, followed by -1,
    and the number of selected boxes. Otherwise it is the rows in descending order of score, with rows of -1 for boxes
    that are not selected, which are last with `invalid_to_bottom`.

    Constraints:
    - C3: the row has a score, a class and corners at their indices; a negative `id_index` means no class.
    - C5: `valid_count` has one element for each batch; `indices` are integers, one for each box.
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
        """Returns the types of indices and their number, or of rows; checks C3, C5 and C6."""
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
