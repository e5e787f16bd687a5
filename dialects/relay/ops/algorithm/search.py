"""`relay.searchsorted`: insertion points of elements in sorted rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.constraints import Constraints, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.gradients.builder import no_gradients
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, tensor_type

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr

    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body, IndexLike


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

    def evaluate(self, sorted_sequence: Array, values: Array) -> Array:
        """Searches row by row, floats in double precision."""
        side = "right" if self.right.value.data else "left"
        result = np.empty(values.shape, numpy_dtype(element_type_of(self.result.type)))
        if values.dtype.kind not in "biu":
            sorted_sequence, values = sorted_sequence.astype(np.float64), values.astype(np.float64)
        if sorted_sequence.ndim == 1:
            result[...] = np.searchsorted(sorted_sequence, values, side)
            return result
        for row in np.ndindex(values.shape[:-1]):
            result[row] = np.searchsorted(sorted_sequence[row], values[row], side)
        return result

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Counts the elements before each value; with `right`, equal elements are included."""
        from xdsl.dialects import arith

        from xrelay.dialects.relay.computes.ordering import before, number_by_halving

        rows, values, right = build.operand(0), build.operand(1), bool(self.right.value.data)
        shape = build.shape(rows)

        def is_left(b: Body, place: AffineExpr) -> SSAValue:
            row: list[IndexLike] = [] if len(shape) == 1 else [*b.spatial[:-1]]
            value, found = b.read(values, *b.spatial), b.read(rows, *row, place)
            if not right:
                return before(b, found, value)
            return b.add(arith.XOrIOp(before(b, value, found), b.constant(1, i1)))

        places = number_by_halving(build, "searchsorted", build.shape(values), shape[-1], is_left)
        return [build.converted("places", places, build.result_type.element_type)]

    gradient = no_gradients
