"""The operator and its dialect."""

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.extend.ops import Facts, OpPatternKind, RelayOp, int_property, register_relay_op, require_axis


@register_relay_op
@irdl_op_definition
class L1NormalizeOp(RelayOp):
    """Each element divided by the sum of the absolute values along `axis`.

    - C1: `axis` is an axis of the data.
    - C2: the element type is a float.
    """

    name = "acme.l1_normalize"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    data = operand_def()
    result = result_def()
    axis = int_property(-1)
    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        """The operand's type; C1 and C2."""
        shape, element = facts.operand(0)
        require_axis(self, self.axis.value.data, len(shape), "C1")
        facts.require(isinstance(element, AnyFloat), "C2", f"the element type must be a float, found {element}")
        return facts[0]


ACME = Dialect("acme", [L1NormalizeOp])
