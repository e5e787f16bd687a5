"""`relay.cumsum` and `relay.cumprod`: cumulative sums and products along an axis."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.constraints import AxisOf, Constraints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, optional_int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import product


class CumulativeOp(RelayOp):
    """Base of cumsum and cumprod (Relay's ScanopRel) along `axis`, or over the flattened data without it.

    The result has the element type `dtype`, by default the data's. With `exclusive` the element itself is excluded.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf()}

    data = operand_def()

    axis = optional_int_property()
    dtype = opt_prop_def()
    exclusive = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape, or a vector of all elements without `axis`; checks C2."""
        shape, own = facts.operand(0)
        element = self.element_type_property(self.dtype, own, "C2")
        facts.require(element != i1, "C2", "arithmetic on booleans is not supported", help="set dtype")
        return tensor_type(shape if self.axis is not None else (product(shape),), element)


@register_relay_op
@irdl_op_definition
class CumsumOp(CumulativeOp):
    """The cumulative sum along `axis`, or of the flattened data without `axis`.

    The result has the element type `dtype`, by default the data's. With `exclusive` the element itself is excluded.

    Constraints:
    - C2: the elements of the result are not booleans.

    Example:
    ```mlir
    %y = relay.cumsum(%x) {axis = 1, exclusive = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.cumsum"


@register_relay_op
@irdl_op_definition
class CumprodOp(CumulativeOp):
    """The cumulative product along `axis`, or of the flattened data without `axis`.

    The result has the element type `dtype`, by default the data's. With `exclusive` the element itself is excluded.

    Constraints:
    - C2: the elements of the result are not booleans.

    Example:
    ```mlir
    %y = relay.cumprod(%x) {axis = 1, exclusive = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.cumprod"
