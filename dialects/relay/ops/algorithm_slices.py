"""Selection and ordering of whole slices: `relay.compress` and `relay.rank_rows`, which ONNX needs and Relay lacks."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import AxisOf, BooleanElements, Constraints, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class CompressOp(RelayOp):
    """The slices of `data` along `axis` for which the condition is true, in order.

    The condition is a vector. It may be shorter than the axis; the remaining slices are dropped. The number of slices
    kept is known only at run time and is at most the length of the condition.

    Constraints:
    - C4: the condition is no longer than the axis.

    Example:
    ```mlir
    %y = relay.compress(%x, %c) {axis = 1} : (tensor<2x4xf32>, tensor<3xi1>) -> tensor<2x?xf32>
    ```

    """

    name = "relay.compress"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf("axis"), "C2": RankOf(1, 1, 1), "C3": BooleanElements(1)}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()
    condition = operand_def()

    axis = int_property(0)

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on the condition."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type with a new extent along the axis; checks C4."""
        (shape, element), (length,) = facts.operand(0), facts.shape(1)
        axis = self.axis.value.data % len(shape)
        extent = shape[axis]
        text = f"a condition of {length} for an axis of {extent}"
        facts.require_at_least(extent, length, "C4", "the extent of the axis", message=text)
        kept = facts.new_extent("k", at_most=length)
        return tensor_type((*shape[:axis], kept, *shape[axis + 1 :]), element)


@register_relay_op
@irdl_op_definition
class RankRowsOp(RelayOp):
    """The number of rows that precede each row of a matrix in lexicographic order; equal rows have the same number.

    0.0 and -0.0 are equal. All NaN are equal and sort after all numbers. The native kernel compares each row with all
    others.

    Example:
    ```mlir
    %y = relay.rank_rows(%x) : (tensor<4x8xf32>) -> tensor<4xi32>
    ```

    """

    name = "relay.rank_rows"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": RankOf(0, 2, 2)}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a vector with one number for each row."""
        return tensor_type(facts.shape(0)[:1], i32)
