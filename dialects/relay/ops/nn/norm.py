"""`relay.nn.batch_norm`: normalisation by running statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.axes import axis_index, letter_of_axis, require_axis
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import HalfPrecision, MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, float_property, int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import AnyTensorType, IncompleteType, is_complete, shape_of, tensor_type

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body

VECTORS = ("gamma", "beta", "moving_mean", "moving_var")
"""The operands after the data, in order."""


@register_relay_op
@irdl_op_definition
class BatchNormOp(RelayOp):
    """Batch normalisation at inference time, along `axis`.

    With c the index along `axis`:

        result[…c…] = (data[…c…] - moving_mean[c]) / sqrt(moving_var[c] + epsilon) * gamma[c] + beta[c]

    `scale = false` omits gamma, `center = false` omits beta. The result is the tuple (normalised data, moving_mean,
    moving_var), as in Relay, with the statistics unchanged.

    Constraints:
    - C1: `axis` is an axis of the data.
    - C2: gamma, beta, moving_mean and moving_var have one axis, as long as the data's `axis`.
    - C3: all operands have the same element type, a float.

    Example:
    ```mlir
    %t = relay.nn.batch_norm(%x, %gamma, %beta, %mean, %var) {epsilon = 1.0e-03}
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
        -> tuple<tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>>
    ```

    """

    name = "relay.nn.batch_norm"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    HALF_PRECISION: ClassVar[HalfPrecision] = HalfPrecision.SINGLE

    data = operand_def()
    gamma = operand_def()
    beta = operand_def()
    moving_mean = operand_def()
    moving_var = operand_def()

    axis = int_property(1)
    epsilon = float_property(1e-5)
    center = bool_property(True)
    scale = bool_property(True)

    @property
    def field_count(self) -> int:
        """Three fields, for any operand types."""
        return 3

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the tuple of the types of data, mean and variance; checks C1 to C3."""
        vector = self._vector_type(facts)
        _, element = facts.operand(0)
        facts.require(isinstance(element, AnyFloat), "C3", lambda: f"the element type must be a float, found {element}")
        for index, what in enumerate(VECTORS, start=1):
            shape, found = facts.operand(index)
            facts.require(len(shape) == 1, "C2", f"{what} must have rank 1, found {len(shape)}")
            facts.require_equal(shape[0], shape_of(vector)[0], "C2", f"{what} and the data's axis differ in extent:")
            if found != element:
                facts.require(False, "C3", f"element type {found} of {what} is not the data's, {element}")
        return TupleType((facts.tensor(0), vector, vector))

    def _vector_type(self, facts: Facts) -> AnyTensorType:
        """Returns the type of the four vectors, derived from the data; checks C1."""
        data, element = facts.operand(0)
        return tensor_type([data[require_axis(self, self.axis.value.data, len(data), "C1")]], element)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the first type of the result for the data, and vectors as long as the axis."""
        types = list(facts)
        if isinstance(types[0], IncompleteType) and isinstance(result_type, TupleType) and result_type.types:
            types[0] = result_type.types.data[0]
        if not is_complete(types[0]):
            return types
        vector = self._vector_type(Facts(self.name, types))
        return [types[0], *(vector if isinstance(type, IncompleteType) else type for type in types[1:])]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if it does not split the axis; vectors keep their layout."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,) * 5, None)
        letter = letter_of_axis(layout, self.axis.value.data)
        if layout.factor(letter) is not None:
            return LayoutRefusal(
                f"layout {layout} splits the normalised axis; simplify the op to scale and shift first"
            )
        properties = {"axis": int_attribute(layout.index(letter))}
        return LayoutDecision((layout, None, None, None, None), (layout, None, None), properties)

    def evaluate(
        self, data: Array, gamma: Array, beta: Array, moving_mean: Array, moving_var: Array
    ) -> tuple[Array, Array, Array]:
        """Scales and shifts in double precision, and returns the statistics."""
        axis = self.axis.value.data % data.ndim
        along = [-1 if position == axis else 1 for position in range(data.ndim)]
        scale = 1.0 / np.sqrt(moving_var.astype(np.float64) + self.epsilon.value.data)
        if self.scale.value.data:
            scale = scale * gamma.astype(np.float64)
        shift = -moving_mean.astype(np.float64) * scale
        if self.center.value.data:
            shift = shift + beta.astype(np.float64)
        normal = data.astype(np.float64) * scale.reshape(along) + shift.reshape(along)
        return normal.astype(data.dtype), moving_mean, moving_var

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Computes the formula for each element, and returns the statistics. Earlier passes simplify most such ops."""
        data, gamma, beta, mean, variance = (build.operand(index) for index in range(5))
        shape, element = build.shape(data), build.element(data)
        axis = self.axis.value.data % len(shape)

        def fill(b: Body) -> SSAValue:
            channel = b.spatial[axis]
            spread = b.plus(b.read(variance, channel), b.constant(self.epsilon.value.data, element))
            x = b.minus(b.read(data, *b.spatial), b.read(mean, channel))
            x = b.divide(x, b.sqrt(spread))
            if self.scale.value.data:
                x = b.times(x, b.read(gamma, channel))
            return b.plus(x, b.read(beta, channel)) if self.center.value.data else x

        return [build.compute(build.label, shape, element, fill), mean, variance]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The gradients of `(x - mean) * r * gamma + beta` with `r = 1 / sqrt(var + epsilon)`.

        Mean and variance are results as well. The gradients of all vectors follow from two sums along the other axes:
        of the gradient, and of its products with the distances from the mean.
        """
        rank, of_data = len(build.shape(self.data)), build.item(of, 0)
        axis, has_scale = axis_index(self.axis.value.data, rank), bool(self.scale.value.data)

        def along(vector: SSAValue) -> SSAValue:
            behind = rank - axis - 1
            return build.op("expand_dims", vector, axis=1, num_newaxis=behind) if behind else vector

        def total(value: SSAValue) -> SSAValue:
            return build.op("sum", value, axis=(axis,), exclude=True)

        root = build.op("rsqrt", build.op("add", self.moving_var, self.epsilon.value.data))
        slope = build.op("multiply", root, self.gamma) if has_scale else root
        plain = total(of_data)
        weighted = total(build.op("multiply", of_data, build.op("subtract", self.data, along(self.moving_mean))))
        of_variance = build.op("multiply", build.op("multiply", weighted, slope), build.op("multiply", root, root))
        return [
            build.op("multiply", of_data, along(slope)),
            build.op("multiply", weighted, root) if has_scale else None,
            plain if self.center.value.data else None,
            build.op("subtract", build.item(of, 1), build.op("multiply", plain, slope)),
            build.op("subtract", build.item(of, 2), build.op("multiply", of_variance, 0.5)),
        ]
