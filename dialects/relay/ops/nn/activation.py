"""`relay.nn.relu` and `relay.nn.dropout`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import float_property
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.tensor.elementwise import ScalarUnaryOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import IncompleteType

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


@register_relay_op
@irdl_op_definition
class ReluOp(ScalarUnaryOp):
    """`max(x, 0)`, elementwise.

    Example:
    ```mlir
    %y = relay.nn.relu(%x) : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
    ```

    """

    name = "relay.nn.relu"
    QUANTIZATION: ClassVar[Quantization | None] = Quantization.BOUND

    def function(self, data: Array) -> Array:
        """Returns the maximum with 0."""
        return np.maximum(data, data.dtype.type(0))

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits the maximum with 0."""
        return b.maximum(x, b.constant(0, x.type))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 0 if x < 0, else 1."""
        return [build.op("where", build.op("less", self.data, 0), build.zeros_like(of), of)]


@register_relay_op
@irdl_op_definition
class DropoutOp(RelayOp):
    """Dropout at inference time: the tuple (data, a mask of ones), as in Relay.

    `rate` is the probability that training would set an element to zero; inference ignores it.

    Constraints:
    - C1: `rate` is at least 0 and less than 1.
    - C2: the element type is a float.

    Example:
    ```mlir
    %t = relay.nn.dropout(%x) {rate = 0.2} : (tensor<4x8xf32>) -> tuple<tensor<4x8xf32>, tensor<4x8xf32>>
    ```

    """

    name = "relay.nn.dropout"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()

    rate = float_property(0.5)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type twice; checks C1 and C2."""
        type = facts.tensor(0)
        rate = self.rate.value.data
        facts.require(0 <= rate < 1, "C1", f"rate must be at least 0 and less than 1, found {rate}")
        facts.require(
            isinstance(type.element_type, AnyFloat),
            "C2",
            lambda: f"the element type must be a float, found {type.element_type}",
        )
        return TupleType((type, type))

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the first type of the result for the data."""
        if isinstance(facts[0], IncompleteType) and isinstance(result_type, TupleType) and result_type.types:
            return [result_type.types.data[0]]
        return facts

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of the data."""
        return LayoutDecision((layouts[0],), layouts[0])

    def evaluate(self, data: Array) -> tuple[Array, Array]:
        """Returns the data and ones."""
        return data, np.ones_like(data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds a copy and a tensor of ones."""
        data, element = build.operand(0), build.result_types[1].element_type
        kept = build.compute(build.label, build.extents(0), element, lambda b: b.read(data, *b.spatial))
        mask = build.compute("dropout_mask", build.extents(1), element, lambda b: b.constant(1, element))
        return [kept, mask]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of the first field, the data; the mask does not depend on it."""
        return [build.item(of, 0)]
