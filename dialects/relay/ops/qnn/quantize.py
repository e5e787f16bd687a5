"""Conversions to, from and between quantised types: `relay.qnn.quantize`, `dequantize` and `requantize`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32, f64, i8, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xrelay.dialects.relay.core.constraints import (
    QUANTIZED,
    ElementsIn,
    OneOrAlong,
    TypeIn,
    is_number,
    scales_and_zero_points,
)
from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    Facts,
    Layout,
    LayoutAnswer,
    OneOf,
    cast_once,
    int_property,
    numpy_dtype,
    register_relay_op,
    shape_of,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.qnn.op_base import (
    QnnOp,
    along,
    distance,
    dtype_of,
    following,
    is_one,
    number,
    ratio,
    scaled,
    scaled_in_floats,
    shifted,
)
from xrelay.dialects.relay.structure.composite import DecompositionBuilder
from xrelay.dialects.shared.dtypes import element_type

_FLOATS = tuple(element_type(name) for name in ("float16", "bfloat16", "float32", "float64"))


class _ConvertsElements(QnnOp):
    """Base of the ops with the shape of their data and the element type `out_dtype`."""

    data = operand_def()

    axis = int_property(-1)
    out_dtype = prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with elements of `out_dtype`."""
        return tensor_type(facts.shape(0), self.out_dtype)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Follows the layout of the data if it does not split the axis of scales and zero points."""
        has_axis = not all(is_number(shape_of(parameter.type)) for parameter in self.operands[1:])
        return following(self, layouts[0], self.axis.value.data if has_axis else None)


@register_relay_op
@irdl_op_definition
class QuantizeOp(_ConvertsElements):
    """`round(data / output_scale) + output_zero_point`, saturated: the quantised number for each element.

    Quotients, computed in f32, or in f64 for f64 data, are rounded to the nearest integer, halves to even. NaN becomes
    the zero point.

    Example:
    ```mlir
    %q = relay.qnn.quantize(%x, %s, %z) {out_dtype = i8} : (tensor<2x3xf32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.quantize"
    CONSTRAINTS = {
        **scales_and_zero_points([1], [2]),
        "C3": OneOrAlong((1, 2), "axis"),
        "C4": ElementsIn((0,), _FLOATS),
        "C5": TypeIn("out_dtype", QUANTIZED),
    }

    data = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()

    axis = int_property(-1)
    out_dtype = prop_def(default_value=i8)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A quotient, rounded and shifted by the zero point."""
        data, output_scale, output_zero_point = build.operands
        rank, axis = build.rank(data), self.axis.value.data
        scale, zero_point = (along(build, each, rank, axis) for each in (output_scale, output_zero_point))
        quotient = data
        if not is_one(output_scale):
            quotient = build.op("divide", data, build.op("cast", scale, dtype=dtype_of(data)))
        return shifted(build, build.op("round", quotient), zero_point, numpy_dtype(self.out_dtype))

    def evaluate(self, data: Array, output_scale: Array, output_zero_point: Array) -> Array:
        """Rounds quotients by the scale."""
        from xrelay.dialects.relay.meaning import quantized

        axis, wide = self.axis.value.data, np.promote_types(data.dtype, np.float32)
        quotient = data.astype(wide) / quantized.broadcast_along(output_scale, data, axis).astype(wide)
        zero_point = quantized.broadcast_along(output_zero_point, data, axis)
        return quantized.add_zero_point(np.rint(quotient), zero_point, numpy_dtype(self.out_dtype))


@register_relay_op
@irdl_op_definition
class DequantizeOp(_ConvertsElements):
    """`input_scale * (data - input_zero_point)`: the value represented by each quantised number.

    The difference is computed in 32 bits, the product in f32, or in f64 if `out_dtype` is f64.

    Example:
    ```mlir
    %y = relay.qnn.dequantize(%q, %s, %z) {axis = 0}
        : (tensor<2x3xi8>, tensor<2xf32>, tensor<i32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.qnn.dequantize"
    CONSTRAINTS = {
        **scales_and_zero_points([1], [2]),
        "C3": OneOrAlong((1, 2), "axis"),
        "C4": ElementsIn((0,), QUANTIZED),
        "C5": TypeIn("out_dtype", _FLOATS),
    }

    data = operand_def()
    input_scale = operand_def()
    input_zero_point = operand_def()

    axis = int_property(-1)
    out_dtype = prop_def(default_value=f32)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A difference and a product."""
        data, *parameters = build.operands
        rank, axis = build.rank(data), self.axis.value.data
        scale, zero_point = (along(build, parameter, rank, axis) for parameter in parameters)
        result = numpy_dtype(self.out_dtype)
        wide = "float64" if result.itemsize == 8 else "float32"
        distances = build.op("cast", distance(build, data, zero_point), dtype=wide)
        product = build.op("multiply", distances, build.op("cast", scale, dtype=wide))
        return build.op("cast", product, dtype=result)

    def evaluate(self, data: Array, input_scale: Array, input_zero_point: Array) -> Array:
        """Multiplies differences by the scale."""
        from xrelay.dialects.relay.meaning import quantized

        axis, result = self.axis.value.data, numpy_dtype(self.out_dtype)
        wide = np.promote_types(result, np.float32)
        distances = quantized.distance(data, quantized.broadcast_along(input_zero_point, data, axis)).astype(wide)
        return cast_once(
            np.asarray(distances * quantized.broadcast_along(input_scale, data, axis).astype(wide)), result
        )


@register_relay_op
@irdl_op_definition
class RequantizeOp(_ConvertsElements):
    """`round((data - input_zero_point) * input_scale / output_scale) + output_zero_point`, saturated.

    The difference is computed in 32 bits. `rounding` is the rounding of halves: `UPWARD` rounds -1.5 to -1, `TONEAREST`
    to -2; both round 1.5 to 2. `compute_dtype` is the type of the product: i64 multiplies in fixed point by the
    quotient of the scales rounded to 31 bits; f32 and f64 multiply in that type by the quotient rounded to it.

    Example:
    ```mlir
    %r = relay.qnn.requantize(%q, %s, %z, %t, %u) {rounding = "TONEAREST"}
        : (tensor<2x3xi32>, tensor<3xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
    ```

    """

    name = "relay.qnn.requantize"
    CONSTRAINTS = {
        **scales_and_zero_points([1, 3], [2, 4]),
        "C3": OneOrAlong((1, 2), "axis"),
        "C4": OneOrAlong((3, 4)),
        "C5": ElementsIn((0,), QUANTIZED),
        "C6": OneOf("rounding", ("UPWARD", "TONEAREST")),
        "C7": TypeIn("compute_dtype", (i64, f32, f64)),
        "C8": TypeIn("out_dtype", QUANTIZED),
    }

    data = operand_def()
    input_scale = operand_def()
    input_zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()

    axis = int_property(-1)
    rounding = string_property("UPWARD")
    compute_dtype = prop_def(default_value=i64)
    out_dtype = prop_def(default_value=i8)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts the string "None" for the default, as in Relay's Python."""
        return {name: None if value == "None" else value for name, value in attributes.items()}

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A difference times the quotient of the scales, rounded and shifted by the zero point."""
        data, *parameters = build.operands
        rank, axis = build.rank(data), self.axis.value.data
        input_scale, input_zero_point = (along(build, parameter, rank, axis) for parameter in parameters[:2])
        output_scale, output_zero_point = (number(build, parameter) for parameter in parameters[2:])
        distances = distance(build, data, input_zero_point)
        factor = ratio(build, (input_scale,), output_scale)
        away, wide = self.rounding.data == "TONEAREST", numpy_dtype(self.compute_dtype)
        if wide.kind == "i":
            whole = scaled(build, distances, factor, away=away)
        else:
            whole = scaled_in_floats(build, distances, factor, wide, away=away)
        return shifted(build, whole, output_zero_point, numpy_dtype(self.out_dtype))

    def evaluate(
        self,
        data: Array,
        input_scale: Array,
        input_zero_point: Array,
        output_scale: Array,
        output_zero_point: Array,
    ) -> Array:
        """Multiplies differences by the quotient of the scales and rounds."""
        from xrelay.dialects.relay.meaning import quantized

        axis, away, dtype = self.axis.value.data, self.rounding.data == "TONEAREST", numpy_dtype(self.compute_dtype)
        distances = quantized.distance(data, quantized.broadcast_along(input_zero_point, data, axis))
        factor = quantized.ratio(quantized.broadcast_along(input_scale, data, axis), output_scale)
        if dtype.kind == "i":
            whole = quantized.scale_distances(distances, factor, away=away)
        else:
            whole = quantized.scaled_in_floats(distances, factor, dtype, away=away)
        return quantized.add_zero_point(whole, output_zero_point.reshape(()), numpy_dtype(self.out_dtype))
