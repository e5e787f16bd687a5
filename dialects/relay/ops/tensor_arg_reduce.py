"""`relay.argmax` and `relay.argmin`: indices of the greatest and least elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.constraints import AxisOf, Constraints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.properties import bool_property, optional_ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutAnswer, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.rank_changes import positions
from xrelay.dialects.relay.ops.tensor_reduce import ReduceOp
from xrelay.dialects.shared.types import tensor_type


class ArgReduceOp(ReduceOp):
    """Base of argmax and argmin: the i32 row-major index of an element over the reduced axes.

    Of several such elements the first is selected, or the last with `select_last_index`. NaN is preferred to all
    numbers.

    Constraints shared by all:
    - C2: there are elements to choose from.
    """

    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf()}

    # Fields of a subclass come first, so those of the base are redeclared in Relay's order.
    axis = optional_ints_property()
    keepdims = bool_property(False)
    exclude = bool_property(False)
    select_last_index = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the remaining extents with element type i32; checks C2."""
        shape = facts.shape(0)
        for axis in self.reduced_axes(len(shape)):
            message = f"axis {axis} has no elements to choose from"
            facts.require_at_least(shape[axis], 1, "C2", f"elements of axis {axis}", message=message)
        return tensor_type(self.result_shape(shape), i32)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Follows the layout of the data if it preserves the order of elements over the reduced axes."""
        layout = layouts[0]
        if layout is not None:
            letters = [layout.primal[axis] for axis in self.reduced_axes(len(layout.primal))]
            places = [place for letter in letters for place in positions(layout, letter)]
            if len(places) > len(letters) or places != sorted(places):
                return LayoutRefusal(f"{self.name} numbers elements in the order of the original axes")
        return super().propagate_layouts(layouts)


@register_relay_op
@irdl_op_definition
class ArgmaxOp(ArgReduceOp):
    """The index of the greatest element over `axis`, as i32; several axes count as one.

    Of equal elements the first is selected, or the last with `select_last_index`. NaN counts as the greatest.

    Constraints:
    - C2: there are elements to choose from.

    Example:
    ```mlir
    %y = relay.argmax(%x) {axis = [1], select_last_index = true} : (tensor<4x8xf32>) -> tensor<4xi32>
    ```

    """

    name = "relay.argmax"


@register_relay_op
@irdl_op_definition
class ArgminOp(ArgReduceOp):
    """The index of the least element over `axis`, as i32; several axes count as one.

    Of equal elements the first is selected, or the last with `select_last_index`. NaN counts as the least.

    Constraints:
    - C2: there are elements to choose from.

    Example:
    ```mlir
    %y = relay.argmin(%x) {axis = [0], keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xi32>
    ```

    """

    name = "relay.argmin"
