"""`relay.nn.lrn`: normalisation across neighbouring channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.axes import letter_of_axis, require_axis
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import float_property, int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.types import IncompleteType
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout


@register_relay_op
@irdl_op_definition
class LRNOp(RelayOp):
    """Local response normalisation: each element is divided by a power of the squares around it along `axis`.

    With c the index along `axis`, of extent n:

        total[…c…] = sum of data[…k…]² for k from max(0, c - (size - 1) // 2) to min(n - 1, c + size // 2)
        result[…c…] = data[…c…] / (bias + alpha / size * total[…c…]) ^ beta

    Relay asks for an odd `size`; for an even one the window reaches further up than down, as in ONNX.

    Constraints:
    - C1: `axis` is an axis of the data.
    - C2: `size` is at least 1.
    - C3: the element type is a float.

    Example:
    ```mlir
    %y = relay.nn.lrn(%x) {size = 5, bias = 1.0, alpha = 1.0e-04} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```

    """

    name = "relay.nn.lrn"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE

    data = operand_def()
    result = result_def()

    size = int_property(5)
    axis = int_property(1)
    bias = float_property(2.0)
    alpha = float_property(1e-5)
    beta = float_property(0.75)

    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        """The data's type; C1 to C3."""
        shape, element = facts.operand(0)
        require_axis(self, self.axis.value.data, len(shape), "C1")
        size = self.size.value.data
        facts.require(size >= 1, "C2", f"size is {size}, it must be at least 1")
        facts.require(isinstance(element, AnyFloat), "C3", lambda: f"the element type must be a float, found {element}")
        return facts.tensor(0)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """The data has the result's type."""
        return [result_type if isinstance(facts[0], IncompleteType) else facts[0]]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follow the data where the axis stays whole."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        letter = letter_of_axis(layout, self.axis.value.data)
        if layout.factor(letter) is not None:
            return LayoutRefusal(f"layout {layout} splits the axis of the window")
        return LayoutDecision((layout,), layout, {"axis": int_attribute(layout.index(letter))})
