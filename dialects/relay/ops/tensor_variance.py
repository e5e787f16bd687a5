"""`relay.variance`: the mean squared difference from a mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import AxisOf, Constraints, FloatElements, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.properties import bool_property, optional_ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.tensor_reduce import ReduceOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import shape_text


@register_relay_op
@irdl_op_definition
class VarianceOp(ReduceOp):
    """The sum over `axis` of `(data - mean)²`, divided by the number of terms, or by one less with `unbiased`.

    It is NaN if there are no terms. `mean` has the data's shape with extent 1 at the reduced axes, like `relay.mean`
    with `keepdims`.

    Constraints:
    - C4: the mean has the data's shape with extent 1 at the reduced axes.

    Example:
    ```mlir
    %m = relay.mean(%x) {axis = [1], keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
    %y = relay.variance(%x, %m) {axis = [1], unbiased = true} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.variance"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": FloatElements(), "C3": SameElements()}

    # Fields of a subclass come first, so those of the base are redeclared in Relay's order.
    data = operand_def()
    mean = operand_def()

    axis = optional_ints_property()
    keepdims = bool_property(False)
    exclude = bool_property(False)
    unbiased = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the remaining extents; checks C4."""
        shape, element = facts.operand(0)
        reduced = self.reduced_axes(len(shape))
        wanted = tuple(1 if axis in reduced else extent for axis, extent in enumerate(shape))
        found = facts.shape(1)
        message = f"the mean has shape {shape_text(found)}, it must be {shape_text(wanted)}"
        facts.require(len(found) == len(wanted), "C4", message)
        for has, must in zip(found, wanted, strict=True):
            facts.require_equal(has, must, "C4", "extents of the mean and of the data", message=message)
        return tensor_type(self.result_shape(shape), element)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, which data and mean share."""
        return LayoutRefusal(f"{self.name} needs data and mean in the same layout")
