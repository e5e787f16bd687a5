"""Arithmetic and concatenation of quantised tensors: `relay.qnn.add`, `subtract`, `mul` and `concatenate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import TensorType, TupleType, f32, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.broadcast import broadcast_layouts
from xrelay.dialects.relay.core.constraints import QUANTIZED, ElementsIn, OneOrAlong, is_number, scales_and_zero_points
from xrelay.dialects.relay.op_definition import (
    Array,
    Facts,
    Layout,
    LayoutAnswer,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    SameElements,
    element_type_of,
    int_property,
    register_relay_op,
    shape_of,
    tensor_type,
)
from xrelay.dialects.relay.ops.qnn.op_base import (
    QnnOp,
    along,
    distance,
    dtype_of,
    fits_data,
    near_distance,
    number,
    ratio,
    scaled,
    shifted,
    with_parameters,
)
from xrelay.dialects.relay.ops.tensor.join import ConcatenatingOp
from xrelay.dialects.relay.structure.composite import DecompositionBuilder
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp


class QnnBinaryOp(QnnOp):
    """Base of the operators on two quantised tensors, which broadcast. The result has their element type.

    Differences from the zero point are saturated to 32 bits, which matters for i32 elements.
    """

    CONSTRAINTS = {
        **scales_and_zero_points([2, 4, 6], [3, 5, 7]),
        "C3": OneOrAlong((2, 3), "lhs_axis"),
        "C4": OneOrAlong((4, 5), "rhs_axis", of=1),
        "C5": OneOrAlong((6, 7)),
        "C6": SameElements((0, 1)),
        "C7": ElementsIn((0, 1), QUANTIZED),
    }

    lhs = operand_def()
    rhs = operand_def()
    lhs_scale = operand_def()
    lhs_zero_point = operand_def()
    rhs_scale = operand_def()
    rhs_zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()

    lhs_axis = int_property(-1)
    rhs_axis = int_property(-1)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the broadcast type; checks C8."""
        return tensor_type(facts.broadcast("C8", 0, 1), facts.element(0))

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Follows the layout of the larger operand if scales and zero points are single numbers."""
        if not all(is_number(shape_of(parameter.type)) for parameter in self.operands[2:]):
            return LayoutRefusal("scales or zero points refer to an axis of the original layout")
        decision = broadcast_layouts(layouts[:2], [shape_of(side.type) for side in (self.lhs, self.rhs)])
        return decision if isinstance(decision, LayoutRefusal) else with_parameters(decision, len(self.operands))

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The combined differences from the zero points, requantised."""
        lhs, rhs, *parameters = build.operands
        sides: list[tuple[SSAValue, SSAValue]] = []
        for data, axis, (scale, zero_point) in (
            (lhs, self.lhs_axis.value.data, parameters[:2]),
            (rhs, self.rhs_axis.value.data, parameters[2:4]),
        ):
            distances = near_distance(build, data, zero_point, axis)
            sides.append((distances, along(build, scale, build.rank(data), axis)))
        output_scale, output_zero_point = (number(build, parameter) for parameter in parameters[4:])
        whole = self.combined(build, sides[0], sides[1], output_scale)
        return shifted(build, whole, output_zero_point, dtype_of(lhs))

    def combined(
        self,
        build: DecompositionBuilder,
        lhs: tuple[SSAValue, SSAValue],
        rhs: tuple[SSAValue, SSAValue],
        output_scale: SSAValue,
    ) -> SSAValue:
        """Returns the result's difference from its zero point, in i64, from differences and scales of both sides."""
        raise NotImplementedError(f"{self.name} does not define how it combines its operands")

    def evaluate(self, lhs: Array, rhs: Array, *parameters: Array) -> Array:
        """Combines the differences from the zero points and adds the result's zero point."""
        from xrelay.dialects.relay.meaning import quantized

        *sides, output_scale, output_zero_point = parameters
        axes = (self.lhs_axis.value.data, self.rhs_axis.value.data)
        rows = zip((lhs, rhs), axes, sides[::2], sides[1::2], strict=True)
        left, right = (
            (
                quantized.near_distance(data, quantized.broadcast_along(zero, data, axis)),
                quantized.broadcast_along(scale, data, axis),
            )
            for data, axis, scale, zero in rows
        )
        return quantized.add_zero_point(
            self.combined_arrays(left, right, output_scale), output_zero_point.reshape(()), lhs.dtype
        )

    def combined_arrays(self, lhs: tuple[Array, Array], rhs: tuple[Array, Array], output_scale: Array) -> Array:
        """Returns `combined` for arrays."""
        raise NotImplementedError(f"{self.name} does not define how it combines arrays")


class QnnSumOp(QnnBinaryOp):
    """Base of the sum and the difference: both sides are first requantised to the result's scale."""

    OF_DISTANCES: ClassVar[str]
    """The op that combines both sides at that scale."""
    ON_ARRAYS: ClassVar[np.ufunc]
    """The same function of arrays."""

    def combined(
        self,
        build: DecompositionBuilder,
        lhs: tuple[SSAValue, SSAValue],
        rhs: tuple[SSAValue, SSAValue],
        output_scale: SSAValue,
    ) -> SSAValue:
        """Rounds each side once."""
        sides = [scaled(build, distances, ratio(build, (scale,), output_scale)) for distances, scale in (lhs, rhs)]
        left, right, _, left_zero_point, _, right_zero_point, *_ = build.operands
        if not (fits_data(left_zero_point, left) and fits_data(right_zero_point, right)):
            # The sum of both and a zero point fits in 64 bits.
            sides = [build.op("clip", side, a_min=-(2.0**61), a_max=2.0**61) for side in sides]
        return build.op(self.OF_DISTANCES, *sides)

    def combined_arrays(self, lhs: tuple[Array, Array], rhs: tuple[Array, Array], output_scale: Array) -> Array:
        """Rounds each side once."""
        from xrelay.dialects.relay.meaning import quantized

        # The limits exceed 32 bits by far, and the sum fits in 64 bits.
        left, right = (
            np.clip(quantized.scale_distances(distances, quantized.ratio(scale, output_scale)), -(1 << 61), 1 << 61)
            for distances, scale in (lhs, rhs)
        )
        return self.ON_ARRAYS(left, right)


@register_relay_op
@irdl_op_definition
class QnnAddOp(QnnSumOp):
    """The sum of two quantised tensors, elementwise with numpy's broadcasting.

    Both are requantised to the result's scale, rounding halves up, and added. The result's zero point is added to the
    sum, which is saturated. The error is at most one step of the result's scale.

    Constraints:
    - C8: the shapes of lhs and rhs broadcast.

    Example:
    ```mlir
    %y = relay.qnn.add(%a, %b, %sa, %za, %sb, %zb, %s, %z) : (tensor<4x8xi8>, tensor<8xi8>, tensor<f32>, tensor<i32>,
        tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4x8xi8>
    ```

    """

    name = "relay.qnn.add"
    OF_DISTANCES = "add"
    ON_ARRAYS = np.add


@register_relay_op
@irdl_op_definition
class QnnSubtractOp(QnnSumOp):
    """The difference of two quantised tensors, elementwise with numpy's broadcasting.

    Both are requantised to the result's scale, rounding halves up, and subtracted. The result's zero point is added to
    the difference, which is saturated.

    Constraints:
    - C8: the shapes of lhs and rhs broadcast.

    Example:
    ```mlir
    %y = relay.qnn.subtract(%a, %b, %sa, %za, %sb, %zb, %s, %z) : (tensor<4x8xi8>, tensor<8xi8>, tensor<f32>,
        tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4x8xi8>
    ```

    """

    name = "relay.qnn.subtract"
    OF_DISTANCES = "subtract"
    ON_ARRAYS = np.subtract


@register_relay_op
@irdl_op_definition
class QnnMulOp(QnnBinaryOp):
    """The product of two quantised tensors, elementwise with numpy's broadcasting.

    The differences from the zero points are multiplied. The product, saturated to 32 bits, is requantised from the
    product of both scales to the result's scale, rounding halves up.

    Constraints:
    - C8: the shapes of lhs and rhs broadcast.

    Example:
    ```mlir
    %y = relay.qnn.mul(%a, %b, %sa, %za, %sb, %zb, %s, %z) : (tensor<4x8xi8>, tensor<8xi8>, tensor<f32>, tensor<i32>,
        tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4x8xi8>
    ```

    """

    name = "relay.qnn.mul"

    def combined(
        self,
        build: DecompositionBuilder,
        lhs: tuple[SSAValue, SSAValue],
        rhs: tuple[SSAValue, SSAValue],
        output_scale: SSAValue,
    ) -> SSAValue:
        """Rounds the product once."""
        wide = (build.op("cast", distances, dtype="int64") for distances, _ in (lhs, rhs))
        product = build.op("clip", build.op("multiply", *wide), a_min=-(2.0**31), a_max=2.0**31 - 1)
        return scaled(build, build.op("cast", product, dtype="int32"), ratio(build, (lhs[1], rhs[1]), output_scale))

    def combined_arrays(self, lhs: tuple[Array, Array], rhs: tuple[Array, Array], output_scale: Array) -> Array:
        """Rounds the product once."""
        from xrelay.dialects.relay.meaning import quantized

        (left, left_scale), (right, right_scale) = lhs, rhs
        limits = np.iinfo(np.int32)
        product = np.clip(left.astype(np.int64) * right.astype(np.int64), limits.min, limits.max)
        scale = left_scale.astype(np.float64) * right_scale.astype(np.float64)
        return quantized.scale_distances(product, quantized.ratio(scale, output_scale))


@register_relay_op
@irdl_op_definition
class QnnConcatenateOp(ConcatenatingOp, QnnOp):
    """The quantised tensors of a tuple, each requantised to the result's scale and concatenated along `axis`.

    Halves are rounded up. The second and third operands are tuples of scales and zero points.

    Constraints:
    - C1: the first operand is a tuple of at least one tensor.
    - C2: `axis` is an axis of them.
    - C3: they have the same rank, and the same extents except along `axis`.
    - C4: they have the same element type.
    - C5: the element type is i8, ui8, i16, ui16 or i32.
    - C6: the scales and zero points are tuples of as many tensors with one element, f32 and i32.
    - C7: scale and zero point of the result have one element, f32 and i32.

    Example:
    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<2x3xi8>, tensor<2x5xi8>) -> tuple<tensor<2x3xi8>, tensor<2x5xi8>>
    %ts = relay.tuple(%sa, %sb) : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
    %tz = relay.tuple(%za, %zb) : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>
    %y = relay.qnn.concatenate(%t, %ts, %tz, %s, %z) {axis = 1} : (tuple<tensor<2x3xi8>, tensor<2x5xi8>>,
        tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> tensor<2x8xi8>
    ```

    """

    name = "relay.qnn.concatenate"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.NEVER

    data = operand_def()
    input_scales = operand_def()
    input_zero_points = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()

    axis = int_property(0)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the fields like `concatenate`; each field has one scale and one zero point."""
        decision = super().propagate_layouts(layouts)
        return with_parameters(decision, len(self.operands)) if isinstance(decision, LayoutDecision) else decision

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the concatenated type; checks C1 to C7."""
        result = super().infer_type(facts)
        element = element_type_of(result)
        facts.require(element in QUANTIZED, "C5", lambda: f"the element type must be quantised, found {element}")
        count = len(_types_in(facts[0]))
        for index, kind in ((1, f32), (2, i32)):
            parameters = _types_in(facts[index])
            facts.require(len(parameters) == count, "C6", f"operand #{index} must be a tuple of {count} tensors")
            _require_numbers(facts, parameters, kind, "C6")
        _require_numbers(facts, [facts[3]], f32, "C7")
        _require_numbers(facts, [facts[4]], i32, "C7")
        return result

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The concatenated requantised fields, each rounded once."""
        data, scales, zero_points = (fields_of(build, value) for value in build.operands[:3])
        output_scale, output_zero_point = (number(build, parameter) for parameter in build.operands[3:])
        joined: list[SSAValue] = []
        for each, scale, zero_point in zip(data, scales, zero_points, strict=True):
            factor = ratio(build, (number(build, scale),), output_scale)
            whole = scaled(build, distance(build, each, number(build, zero_point)), factor)
            joined.append(shifted(build, whole, output_zero_point, dtype_of(each)))
        return build.op("concatenate", build.add(TupleOp.call(*joined)), axis=self.axis.value.data)

    def evaluate(
        self,
        data: tuple[Array, ...],
        input_scales: tuple[Array, ...],
        input_zero_points: tuple[Array, ...],
        output_scale: Array,
        output_zero_point: Array,
    ) -> Array:
        """Requantises each field to the result's scale and concatenates."""
        from xrelay.dialects.relay.meaning import quantized

        joined: list[Array] = []
        for each, scale, zero_point in zip(data, input_scales, input_zero_points, strict=True):
            distances = quantized.distance(each, zero_point.reshape(()))
            joined.append(quantized.requantize(distances, scale, output_scale, output_zero_point, each.dtype))
        return np.concatenate(joined, axis=self.axis.value.data)


def fields_of(build: DecompositionBuilder, value: SSAValue) -> list[SSAValue]:
    """Returns the fields of a tuple: the operands of its `relay.tuple` op if there is one, else projections."""
    if isinstance(value.owner, TupleOp):
        return list(value.owner.fields)
    return [build.add(TupleGetItemOp.call(value, index=index)) for index in range(len(_types_in(value.type)))]


def _types_in(type: Attribute) -> Sequence[Attribute]:
    """Returns the field types of a tuple; an empty sequence for other types."""
    return type.types.data if isinstance(type, TupleType) else ()


def _require_numbers(facts: Facts, types: Sequence[Attribute], element: Attribute, constraint: str) -> None:
    """Requires that each of `types` is a tensor of one element of type `element`."""
    for type in types:
        legal = isinstance(type, TensorType) and type.element_type == element and is_number(shape_of(type))
        facts.require(legal, constraint, lambda type=type: f"one number of {element} is expected, found {type}")
