"""`relay.searchsorted`: insertion points of elements in sorted rows."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.constraints import Constraints, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class SearchsortedOp(RelayOp):
    """The index in an ascending row before which each of `values` can be inserted so that the row stays ascending.

    This is the first such index, or the last with `right`. The sorted sequence is a single row for all values, or has
    one row for each row of the values. NaN sorts after all numbers. The indices are i32, or `dtype`.

    Constraints:
    - C3: the sorted sequence has one axis, or as many axes as the values with equal extents except for the last.
    - C4: `dtype` is i32 or i64.

    Example:
    ```mlir
    %s = relay.sort(%r) : (tensor<4x9xf32>) -> tensor<4x9xf32>
    %i = relay.searchsorted(%s, %v) {right = true} : (tensor<4x9xf32>, tensor<4x3xf32>) -> tensor<4x3xi32>
    ```

    """

    name = "relay.searchsorted"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": RankOf(0, 1), "C2": SameElements()}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    sorted_sequence = operand_def()
    values = operand_def()

    right = bool_property(False)
    dtype = opt_prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of one index for each value; checks C3 and C4."""
        sequence, values = facts.shape(0), facts.shape(1)
        if len(sequence) != 1:
            message = f"the values {facts[1]} do not match the rows of {facts[0]}"
            facts.require(len(sequence) == len(values), "C3", message)
            for rows, wanted in zip(sequence[:-1], values[:-1], strict=True):
                facts.require_equal(rows, wanted, "C3", "rows of the sequence and of the values", message=message)
        element = self.element_type_property(self.dtype, i32, "C4")
        facts.require(element in (i32, i64), "C4", lambda: f"indices must be i32 or i64, not {element}")
        return tensor_type(values, element)
