"""Convolutions of quantised images: `relay.qnn.conv2d` and `relay.qnn.conv2d_transpose`.

The result is the sum of the products of the differences from the zero points, in 32 bits; in the padding the difference
is 0. The represented value is the result times the product of both scales. The scales do not change the result: as
operands they are only recorded in the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i32
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
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.op_definition import (
    Array,
    Constraints,
    Facts,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    register_relay_op,
    shape_of,
)
from xrelay.dialects.relay.ops.nn.conv import ConvOp, FilterOp
from xrelay.dialects.relay.ops.nn.conv_transpose import ConvTransposeOp
from xrelay.dialects.relay.ops.qnn.op_base import QnnOp, along, distance, number, require_one_or_each, with_parameters
from xrelay.dialects.relay.structure.composite import DecompositionBuilder


class QnnFilterOp(FilterOp, QnnOp):
    """Base of the convolutions of quantised images; C1 to C9, C11 and C12 are those of plain convolutions."""

    MIXED_PRECISION = MixedPrecision.NEVER
    PLAIN: ClassVar[str]
    """The operator on plain images."""

    data = operand_def()
    weight = operand_def()
    input_zero_point = operand_def()
    kernel_zero_point = operand_def()
    input_scale = operand_def()
    kernel_scale = operand_def()

    out_dtype = prop_def(default_value=i32)

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C10, C11, C13 to C15 and the constraints on all filters."""
        parameters = scales_and_zero_points([4, 5], [2, 3])
        return {
            **super().constraints_over(axes),
            "C10": ElementsIn((0, 1), QUANTIZED),
            "C11": TypeIn("out_dtype", (i32,)),
            "C13": parameters["C1"],
            "C14": parameters["C2"],
            "C15": OneOrAlong((2, 4)),
        }

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the result type of the plain convolution with 32-bit elements; checks C16."""
        result = super().infer_type(facts)
        layout = self.layouts[1]
        weight = self.extents_in(layout, facts.shape(1))
        facts.require(
            is_number(facts.shape(3)) or layout.factor("O") is None,
            "C16",
            f"layout {layout} splits the axis along which the zero points of the weight lie",
        )
        require_one_or_each(facts, 3, weight["O"], "C16", "weight's filters")
        require_one_or_each(facts, 5, self.result_channels(weight), "C16", "result's channels")
        return result

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the operand types; the weight's type follows from `channels`, `kernel_size` and the data."""
        return [*super().infer_operand_types(Facts(self.name, facts[:2]), result_type), *facts[2:]]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layouts unless the user requests others, which `with_layouts` checks."""
        return LayoutRefusal("no layout is requested")

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Returns the plain convolution of the differences from the zero points."""
        data, weight, zero_point, weight_zero_point, *_ = build.operands
        axis = self.layouts[1].index("O")
        left = distance(build, data, number(build, zero_point))
        right = distance(build, weight, along(build, weight_zero_point, len(shape_of(weight.type)), axis))
        return build.add(get_relay_op(self.PLAIN).typed([left, right], self.properties))

    def distances(
        self, data: Array, weight: Array, input_zero_point: Array, kernel_zero_point: Array, *scales: Array
    ) -> tuple[Array, Array]:
        """Returns data and weight minus their zero points."""
        from xrelay.dialects.relay.meaning import quantized

        zero_points = quantized.broadcast_along(kernel_zero_point, weight, self.layouts[1].index("O"))
        return quantized.distance(data, input_zero_point.reshape(())), quantized.distance(weight, zero_points)


@register_relay_op
@irdl_op_definition
class QnnConv2DOp(QnnFilterOp, ConvOp):
    """Two-dimensional convolution of quantised images: `nn.conv2d` of the differences from the zero points, in i32.

    Zero point and scale of the weight are single numbers, or one number for each filter.

    Constraints:
    - C3: the weight's in-channels times `groups` are the data's channels.
    - C4: `groups` is positive and divides the out-channels.
    - C5: `channels`, if given, is the weight's number of out-channels.
    - C6: `kernel_size`, if given, is the weight's height and width, which are positive.
    - C9: the dilated kernel is not larger than the padded data.
    - C16: zero point and scale of the weight are single numbers, or one number for each filter if the layout does not
      split the filters into blocks.

    Example:
    ```mlir
    %y = relay.qnn.conv2d(%x, %w, %zx, %zw, %sx, %sw) {padding = [1, 1, 1, 1]} : (tensor<1x3x8x8xui8>,
        tensor<4x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<4xf32>) -> tensor<1x4x8x8xi32>
    ```

    """

    name = "relay.qnn.conv2d"
    AXES = "HW"
    PLAIN = "nn.conv2d"
    ARGUMENTS = (
        "kernel_size",
        "channels",
        "strides",
        "padding",
        "dilation",
        "groups",
        "data_layout",
        "kernel_layout",
        "out_layout",
        "out_dtype",
    )

    def with_layouts(
        self, data: Layout, weight: Layout, out: Layout, *, pads: bool = False
    ) -> LayoutDecision | LayoutRefusal:
        """Returns the decision of the plain convolution; refuses to split the axis of the weight's zero points.

        It does not pad, because scales of filters would have to be filled up as well.
        """
        del pads
        if weight.factor("O") is not None and not is_number(shape_of(self.kernel_zero_point.type)):
            return LayoutRefusal(f"layout {weight} splits the axis along which the zero points of the weight lie")
        decision = super().with_layouts(data, weight, out)
        return decision if isinstance(decision, LayoutRefusal) else with_parameters(decision, len(self.operands))

    def evaluate(self, data: Array, weight: Array, *parameters: Array) -> Array:
        """Convolves the differences from the zero points; sums wrap around in 32 bits."""
        return super().evaluate(*self.distances(data, weight, *parameters))


@register_relay_op
@irdl_op_definition
class QnnConv2DTransposeOp(QnnFilterOp, ConvTransposeOp):
    """Two-dimensional transposed convolution of quantised images: `nn.conv2d_transpose` of the differences, in i32.

    The zero point of the weight is a single number, or one number for each of its out-channels. The scale of the weight
    is a single number, or one number for each channel of the result.

    Constraints:
    - C3: the weight's in-channels are the data's channels.
    - C4: `groups` is positive and divides the in-channels.
    - C5: `channels`, if given, is the weight's out-channels times `groups`.
    - C6: `kernel_size`, if given, is the weight's height and width, which are positive.
    - C9: data and result have at least one row and one column.
    - C16: zero point and scale of the weight are single numbers, or one number for each channel if the layout does not
      split the channels into blocks.

    Example:
    ```mlir
    %y = relay.qnn.conv2d_transpose(%x, %w, %zx, %zw, %sx, %sw) {strides = [2, 2]} : (tensor<1x4x5x5xi8>,
        tensor<4x2x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<2xf32>) -> tensor<1x2x11x11xi32>
    ```

    """

    name = "relay.qnn.conv2d_transpose"
    AXES = "HW"
    PLAIN = "nn.conv2d_transpose"

    def evaluate(self, data: Array, weight: Array, *parameters: Array) -> Array:
        """Spreads the differences from the zero points; sums wrap around in 32 bits."""
        return super().evaluate(*self.distances(data, weight, *parameters))
