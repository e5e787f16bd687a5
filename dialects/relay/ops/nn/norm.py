"""Normalisations: `relay.nn.batch_norm`, `layer_norm`, `group_norm`, `instance_norm`, `rms_norm` and `l2_normalize`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.along_axis import data_and_vectors, follow_along_axis
from xrelay.dialects.relay.layout.rank_changes import positions
from xrelay.dialects.relay.op_definition import (
    AnyTensorType,
    Array,
    AttributeValue,
    AxisOf,
    Body,
    Constraints,
    Divides,
    Facts,
    FloatElements,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    IncompleteType,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    SameElements,
    Tensors,
    TopiBuilder,
    VectorsAlong,
    axis_index,
    bool_property,
    cast_once,
    float_property,
    int_array,
    int_attribute,
    int_property,
    ints,
    is_complete,
    letter_of_axis,
    optional_ints_property,
    register_relay_op,
    require_axis,
    shape_of,
    tensor_type,
)
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder, Expansion

VECTORS = ("gamma", "beta", "moving_mean", "moving_var")
"""The operands after the data, in order."""


@register_relay_op
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
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    HALF_PRECISION = HalfPrecision.SINGLE

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

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes the formula for each element, and returns the statistics. Earlier passes simplify most such ops."""
        data, gamma, beta, mean, variance = (build.operand(index) for index in range(5))
        shape, element = build.shape(data), build.element(data)
        axis = self.axis.value.data % len(shape)

        def fill(b: Body) -> SSAValue:
            channel = b.spatial[axis]
            spread = b.plus(b.read(variance, channel), self.epsilon.value.data)
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


FLOATS_ALONG_AN_AXIS: Constraints = {
    "C1": AxisOf(),
    "C2": FloatElements(),
    "C3": SameElements(),
    "C4": VectorsAlong(),
}
"""The constraints on the data and the vectors that scale it."""


class ScaledAlongAxisOp(CompositeOp):
    """Base of the normalisations that preserve the data's type and multiply by vectors along `axis`."""

    MIXED_PRECISION = MixedPrecision.NEVER
    EXPANDS = Expansion.INFERENCE
    CONSTRAINTS = FLOATS_ALONG_AN_AXIS

    axis: IntegerAttr[IntegerType] = int_property(1)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if `axis` is not split and the first axis, the batch, stays first."""
        return follow_along_axis(self.name, self.axis.value.data, layouts, keeps_first=True)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts[0]

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type for the data, and vectors as long as the axis."""
        return data_and_vectors(self, self.axis.value.data, facts, result_type)

    def along_axis(self, build: DecompositionBuilder, vector: SSAValue, data: SSAValue) -> SSAValue:
        """Reshapes a vector so that it broadcasts along `axis` of `data`."""
        behind = build.rank(data) - axis_index(self.axis.value.data, build.rank(data)) - 1
        return build.op("expand_dims", vector, axis=1, num_newaxis=behind) if behind else vector


class NormOp(ScaledAlongAxisOp):
    """Base of the normalisations to mean 0 and variance 1 over some axes, followed by scale and shift."""

    data = operand_def()
    gamma = operand_def()
    beta = operand_def()

    axis: IntegerAttr[IntegerType] = int_property(1)  # Redeclared to be first, as in Relay.
    epsilon = float_property(1e-5)
    center = bool_property(True)
    scale = bool_property(True)

    def reduced_axes(self, rank: int) -> list[int]:
        """Returns the axes over which mean and variance are computed: all except 0 and `axis`."""
        return [axis for axis in range(rank) if axis not in (0, axis_index(self.axis.value.data, rank))]

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Normalisation by mean and variance, followed by scale and shift."""
        x = build.operands[0]
        return self.scaled(build, self.normalised(build, x, self.reduced_axes(build.rank(x))))

    def normalised(self, build: DecompositionBuilder, x: SSAValue, axes: Sequence[int]) -> SSAValue:
        """Computes `(x - mean) / sqrt(variance + epsilon)`, with mean and variance over `axes`."""
        centred = build.op("subtract", x, build.op("mean", x, axis=axes, keepdims=True))
        variance = build.op("mean", build.op("multiply", centred, centred), axis=axes, keepdims=True)
        return build.op("multiply", centred, build.op("rsqrt", build.op("add", variance, self.epsilon.value.data)))

    def scaled(self, build: DecompositionBuilder, normal: SSAValue) -> SSAValue:
        """Computes `normal * gamma + beta`, without gamma or beta if `scale` or `center` is false."""
        if self.scale.value.data:
            normal = build.op("multiply", normal, self.along_axis(build, build.operands[1], normal))
        if self.center.value.data:
            normal = build.op("add", normal, self.along_axis(build, build.operands[2], normal))
        return normal

    def evaluate(self, data: Array, gamma: Array, beta: Array) -> Array:
        """Computes the formula in double precision."""
        axis = self.axis.value.data % data.ndim
        result = self.standardised(data.astype(np.float64), axis)
        if self.scale.value.data:
            result = result * _along(gamma, axis, data.ndim)
        if self.center.value.data:
            result = result + _along(beta, axis, data.ndim)
        return cast_once(result, data.dtype)

    def standardised(self, data: Array, axis: int) -> Array:
        """Returns f64 data with mean 0 and variance 1 over all axes except 0 and `axis`."""
        over = tuple(each for each in range(data.ndim) if each not in (0, axis))
        return _standardised(data, over, self.epsilon.value.data)


@register_relay_op
class LayerNormOp(NormOp):
    """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance along `axis`.

    `scale = false` omits gamma, `center = false` omits beta.

    Example:
    ```mlir
    %y = relay.nn.layer_norm(%x, %gamma, %beta)
        : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
    ```

    """

    name = "relay.nn.layer_norm"
    axis = int_property(-1)

    def reduced_axes(self, rank: int) -> list[int]:
        """Returns `axis` alone."""
        return [self.axis.value.data]

    def standardised(self, data: Array, axis: int) -> Array:
        """Returns f64 data with mean 0 and variance 1 along `axis`."""
        return _standardised(data, (axis,), self.epsilon.value.data)


@register_relay_op
class InstanceNormOp(NormOp):
    """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance over all axes but 0 and `axis`.

    `scale = false` omits gamma, `center = false` omits beta.

    Example:
    ```mlir
    %y = relay.nn.instance_norm(%x, %gamma, %beta)
        : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
    ```

    """

    name = "relay.nn.instance_norm"


@register_relay_op
class GroupNormOp(NormOp):
    """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance over groups of channels.

    `axis` is the axis of the channels, which are divided into `num_groups` contiguous groups. The statistics of a group
    are computed over its channels and all axes except 0. `scale = false` omits gamma, `center = false` omits beta.

    Example:
    ```mlir
    %y = relay.nn.group_norm(%x, %gamma, %beta) {num_groups = 4}
        : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
    ```

    """

    name = "relay.nn.group_norm"
    CONSTRAINTS = {**FLOATS_ALONG_AN_AXIS, "C5": Divides("num_groups")}

    num_groups = int_property()

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A normalisation with the channels split into two axes and merged again."""
        x = build.operands[0]
        rank, groups = build.rank(x), self.num_groups.value.data
        axis = axis_index(self.axis.value.data, rank)
        split = build.op("reshape", x, newshape=[*[0] * axis, -4, groups, -1, -2])
        normal = self.normalised(build, split, [each for each in range(rank + 1) if each not in (0, axis)])
        if isinstance(shape_of(x.type)[axis], int):
            return self.scaled(build, build.op("reshape", normal, newshape=[*[0] * axis, -3, -2]))
        # The product of 4 groups and (n floordiv 4) channels is n, but the reshaped type does not show that.
        return self.scaled(build, build.op("reshape_like", normal, x))

    def standardised(self, data: Array, axis: int) -> Array:
        """Returns f64 data with mean 0 and variance 1 for each sample and group."""
        groups, extent = self.num_groups.value.data, data.shape[axis]
        split = data.reshape(*data.shape[:axis], groups, extent // groups, *data.shape[axis + 1 :])
        return super().standardised(split, axis).reshape(data.shape)


@register_relay_op
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

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A product with a factor for each vector along `axis` and with gamma."""
        x, gamma = build.operands
        square = build.op("mean", build.op("multiply", x, x), axis=[self.axis.value.data], keepdims=True)
        factor = build.op("rsqrt", build.op("add", square, self.epsilon.value.data))
        return build.op("multiply", build.op("multiply", x, factor), self.along_axis(build, gamma, x))

    def evaluate(self, data: Array, gamma: Array) -> Array:
        """Computes the formula in double precision."""
        wide, axis = data.astype(np.float64), self.axis.value.data % data.ndim
        normal = wide / np.sqrt(_mean(wide**2, (axis,)) + self.epsilon.value.data)
        return cast_once(normal * _along(gamma, axis, data.ndim), data.dtype)


@register_relay_op
class L2NormalizeOp(CompositeOp):
    """`data / sqrt(max(sum(data²), eps))`, with the sum over `axis`, or over all axes if it is omitted.

    Example:
    ```mlir
    %y = relay.nn.l2_normalize(%x) {eps = 1.0e-12, axis = [1]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.nn.l2_normalize"
    MIXED_PRECISION = MixedPrecision.NEVER
    EXPANDS = Expansion.INFERENCE
    CONSTRAINTS = {"C1": AxisOf(), "C2": FloatElements()}

    data = operand_def()

    eps = float_property()
    axis = optional_ints_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts a single number as axis."""
        axis = attributes.get("axis")
        return {**attributes, "axis": (axis,)} if isinstance(axis, int) else attributes

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data. The sum is over both parts of a split axis."""
        layout = layouts[0]
        if layout is None or self.axis is None:
            return LayoutDecision((layout,), layout)
        letters = [letter_of_axis(layout, axis) for axis in ints(self.axis)]
        axes = [place for letter in letters for place in positions(layout, letter)]
        return LayoutDecision((layout,), layout, {"axis": int_array(axes)})

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A product with a factor for each vector along `axis`."""
        (x,) = build.operands
        axes = None if self.axis is None else ints(self.axis)
        square = build.op("sum", build.op("multiply", x, x), axis=axes, keepdims=True)
        return build.op("multiply", x, build.op("rsqrt", build.op("maximum", square, self.eps.value.data)))

    def evaluate(self, data: Array) -> Array:
        """Computes the formula in double precision."""
        wide, axes = data.astype(np.float64), None if self.axis is None else ints(self.axis)
        total = np.sum(wide**2, axis=axes, keepdims=True)
        return cast_once(wide / np.sqrt(np.maximum(total, self.eps.value.data)), data.dtype)


def _standardised(data: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """Returns the data with mean 0 and variance 1 over `axes`."""
    centred = data - _mean(data, axes)
    return centred / np.sqrt(_mean(centred**2, axes) + epsilon)


def _mean(data: Array, axes: tuple[int, ...]) -> Array:
    """Returns the mean over `axes`, which keep extent 1; NaN if there are no elements."""
    total = np.sum(data, axis=axes, keepdims=True)
    return total / (data.size // total.size if total.size else 1)


def _along(vector: Array, axis: int, rank: int) -> Array:
    """Returns an f64 vector with axes of extent 1, so that it broadcasts along `axis`."""
    return vector.astype(np.float64).reshape([-1 if position == axis else 1 for position in range(rank)])
