"""`relay.require`: a value that requires conditions on named dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.tensor.elementwise import ScalarUnaryOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.requirements_attr import RequirementsAttr

if TYPE_CHECKING:
    from xrelay.dialects.topi.build import Body


@register_relay_op
@irdl_op_definition
class RequireOp(ScalarUnaryOp):
    """The operand. The conditions `demands` on named dimensions are checked.

    `relay-inline` leaves it for requirements of a call that no op of the body has. The result may have other extents
    than the operand; they are required to be equal.

    Constraints:
    - C0: one tensor operand; the result has its type, with extents that may be equal to the operand's.
    - C1: `demands` hold.

    Example:
    ```mlir
    %y = relay.require(%x) {demands = #relay.requirements<n >= m "C2 rows">}
        : (tensor<?x?xf32, #relay.dims<n, m>>) -> tensor<?x?xf32, #relay.dims<n, m>>
    ```

    """

    name = "relay.require"

    demands = opt_prop_def(RequirementsAttr)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type; records `demands` as requirements."""
        for demand in () if self.demands is None else self.demands.data:
            facts.keep(demand)
        return facts.tensor(0)

    def function(self, data: Array) -> Array:
        """Returns the operand."""
        return data

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Returns the element."""
        return x

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1."""
        return [of]
