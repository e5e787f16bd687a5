"""Normalisations by the statistics of the data: `relay.nn.layer_norm`, `group_norm`, `instance_norm` and kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.along_axis import data_and_vectors, follow_along_axis
from xrelay.dialects.relay.core.attribute_values import AttributeValue, int_array, ints
from xrelay.dialects.relay.core.axes import axis_index, letter_of_axis
from xrelay.dialects.relay.core.constraints import AxisOf, Constraints, FloatElements, SameElements
from xrelay.dialects.relay.core.extent_constraints import Divides, VectorsAlong
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.properties import bool_property, float_property, int_property, optional_ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.rank_changes import positions
from xrelay.dialects.relay.structure.composite import CompositeOp, Expansion, Parts
from xrelay.dialects.shared.types import shape_of

FLOATS_ALONG_AN_AXIS: Constraints = {
    "C1": AxisOf(),
    "C2": FloatElements(),
    "C3": SameElements(),
    "C4": VectorsAlong(),
}
"""What holds of data and of the vectors that scale it."""


class ScaledAlongAxisOp(CompositeOp):
    """Base of the normalisations that keep the data's type and multiply by vectors along `axis`."""

    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    EXPANDS: ClassVar[Expansion | None] = Expansion.INFERENCE
    CONSTRAINTS: ClassVar[Constraints] = FLOATS_ALONG_AN_AXIS

    axis: IntegerAttr[IntegerType] = int_property(1)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follow the data where `axis` stays whole, and the first axis, along which the samples lie, the first."""
        return follow_along_axis(self.name, self.axis.value.data, layouts, keeps_first=True)

    def infer_type(self, facts: Facts) -> Attribute:
        """The data's type."""
        return facts[0]

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """The data has the result's type; the vectors are as long as the axis."""
        return data_and_vectors(self, self.axis.value.data, facts, result_type)

    def along_axis(self, parts: Parts, vector: SSAValue, data: SSAValue) -> SSAValue:
        """A vector in the shape in which it broadcasts along `axis` of `data`."""
        behind = parts.rank(data) - axis_index(self.axis.value.data, parts.rank(data)) - 1
        return parts.op("expand_dims", vector, axis=1, num_newaxis=behind) if behind else vector


class NormOp(ScaledAlongAxisOp):
    """Base of the normalisations to a mean of 0 and a variance of 1 over some axes, then scaled and shifted."""

    data = operand_def()
    gamma = operand_def()
    beta = operand_def()

    axis: IntegerAttr[IntegerType] = int_property(1)  # Declared again, so that it comes first, as in Relay.
    epsilon = float_property(1e-5)
    center = bool_property(True)
    scale = bool_property(True)

    def reduced_axes(self, rank: int) -> list[int]:
        """The axes over which mean and variance are taken: all but 0 and `axis`."""
        return [axis for axis in range(rank) if axis not in (0, axis_index(self.axis.value.data, rank))]

    def decompose(self, parts: Parts) -> SSAValue:
        """Statistics, then a factor and a summand for each element of the vectors."""
        x = parts.operands[0]
        return self.scaled(parts, self.normalised(parts, x, self.reduced_axes(parts.rank(x))))

    def normalised(self, parts: Parts, x: SSAValue, axes: Sequence[int]) -> SSAValue:
        """`(x - mean) / sqrt(variance + epsilon)`, mean and variance over `axes`."""
        centred = parts.op("subtract", x, parts.op("mean", x, axis=axes, keepdims=True))
        variance = parts.op("mean", parts.op("multiply", centred, centred), axis=axes, keepdims=True)
        return parts.op("multiply", centred, parts.op("rsqrt", parts.op("add", variance, self.epsilon.value.data)))

    def scaled(self, parts: Parts, normal: SSAValue) -> SSAValue:
        """`normal * gamma + beta`, as far as `scale` and `center` ask for them."""
        if self.scale.value.data:
            normal = parts.op("multiply", normal, self.along_axis(parts, parts.operands[1], normal))
        if self.center.value.data:
            normal = parts.op("add", normal, self.along_axis(parts, parts.operands[2], normal))
        return normal


@register_relay_op
@irdl_op_definition
class LayerNormOp(NormOp):
    """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance along `axis`.

    `scale = false` leaves out gamma, `center = false` leaves out beta.

    Example:
    ```mlir
    %y = relay.nn.layer_norm(%x, %gamma, %beta)
        : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
    ```

    """

    name = "relay.nn.layer_norm"
    axis = int_property(-1)

    def reduced_axes(self, rank: int) -> list[int]:
        """One."""
        return [self.axis.value.data]


@register_relay_op
@irdl_op_definition
class InstanceNormOp(NormOp):
    """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance over all axes but 0 and `axis`.

    `scale = false` leaves out gamma, `center = false` leaves out beta.

    Example:
    ```mlir
    %y = relay.nn.instance_norm(%x, %gamma, %beta)
        : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
    ```

    """

    name = "relay.nn.instance_norm"


@register_relay_op
@irdl_op_definition
class GroupNormOp(NormOp):
    """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance of groups of channels.

    The channels, which lie along `axis`, form `num_groups` groups of neighbours; the statistics of a group are taken
    over its channels and all axes but 0. `scale = false` leaves out gamma, `center = false` leaves out beta.

    Example:
    ```mlir
    %y = relay.nn.group_norm(%x, %gamma, %beta) {num_groups = 4}
        : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
    ```

    """

    name = "relay.nn.group_norm"
    CONSTRAINTS: ClassVar[Constraints] = {**FLOATS_ALONG_AN_AXIS, "C5": Divides("num_groups")}

    num_groups = int_property()

    def decompose(self, parts: Parts) -> SSAValue:
        """The channels split in two axes, and joined again."""
        x = parts.operands[0]
        rank, groups = parts.rank(x), self.num_groups.value.data
        axis = axis_index(self.axis.value.data, rank)
        split = parts.op("reshape", x, newshape=[*[0] * axis, -4, groups, -1, -2])
        normal = self.normalised(parts, split, [each for each in range(rank + 1) if each not in (0, axis)])
        if isinstance(shape_of(x.type)[axis], int):
            return self.scaled(parts, parts.op("reshape", normal, newshape=[*[0] * axis, -3, -2]))
        # Groups of (n floordiv 4) channels are n, which the type of a product does not tell.
        return self.scaled(parts, parts.op("reshape_like", normal, x))


@register_relay_op
@irdl_op_definition
class RMSNormOp(ScaledAlongAxisOp):
    """`data / sqrt(mean(data²) + epsilon) * gamma`, with the mean along `axis`.

    Example:
    ```mlir
    %y = relay.nn.rms_norm(%x, %gamma) : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
    ```

    """

    name = "relay.nn.rms_norm"

    data = operand_def()
    gamma = operand_def()

    axis = int_property(-1)
    epsilon = float_property(1e-5)

    def decompose(self, parts: Parts) -> SSAValue:
        """A factor per vector, and one per element of gamma."""
        x, gamma = parts.operands
        square = parts.op("mean", parts.op("multiply", x, x), axis=[self.axis.value.data], keepdims=True)
        factor = parts.op("rsqrt", parts.op("add", square, self.epsilon.value.data))
        return parts.op("multiply", parts.op("multiply", x, factor), self.along_axis(parts, gamma, x))


@register_relay_op
@irdl_op_definition
class L2NormalizeOp(CompositeOp):
    """`data / sqrt(max(sum(data²), eps))`, with the sum over `axis`, over all axes without it.

    Example:
    ```mlir
    %y = relay.nn.l2_normalize(%x) {eps = 1.0e-12, axis = [1]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.l2_normalize"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    EXPANDS: ClassVar[Expansion | None] = Expansion.INFERENCE
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": FloatElements()}

    data = operand_def()

    eps = float_property()
    axis = optional_ints_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accept a single number as axis."""
        axis = attributes.get("axis")
        return {**attributes, "axis": (axis,)} if isinstance(axis, int) else attributes

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follow the data; the sum is over both parts of a split axis."""
        layout = layouts[0]
        if layout is None or self.axis is None:
            return LayoutDecision((layout,), layout)
        letters = [letter_of_axis(layout, axis) for axis in ints(self.axis)]
        axes = [place for letter in letters for place in positions(layout, letter)]
        return LayoutDecision((layout,), layout, {"axis": int_array(axes)})

    def decompose(self, parts: Parts) -> SSAValue:
        """A factor per vector."""
        (x,) = parts.operands
        axes = None if self.axis is None else ints(self.axis)
        square = parts.op("sum", parts.op("multiply", x, x), axis=axes, keepdims=True)
        return parts.op("multiply", x, parts.op("rsqrt", parts.op("maximum", square, self.eps.value.data)))
