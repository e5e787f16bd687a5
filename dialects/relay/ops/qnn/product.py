"""Matrix products of quantised tensors: `relay.qnn.dense`, `relay.qnn.batch_matmul` and `relay.qnn.contrib_dense_pack`.

The result is the 32-bit sum of the products of the differences from the zero points. Times the product of both scales
it is the represented value. The scales are operands only to record them in the program.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xrelay.dialects.relay.core.constraints import QUANTIZED, ElementsIn, OneOrAlong, TypeIn, scales_and_zero_points
from xrelay.dialects.relay.core.sliding_window import extents_in, require_blocks
from xrelay.dialects.relay.op_definition import (
    Array,
    Constraints,
    Dim,
    Facts,
    Layout,
    OpPatternKind,
    Quantization,
    RankOf,
    optional_int,
    optional_int_property,
    register_relay_op,
    shape_of,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.nn.dense import packed_block, packed_layout
from xrelay.dialects.relay.ops.qnn.op_base import QnnOp, along, distance, number, require_one_or_each
from xrelay.dialects.relay.structure.composite import DecompositionBuilder

_CONSTRAINTS: Constraints = {
    **scales_and_zero_points([4, 5], [2, 3]),
    "C3": ElementsIn((0, 1), QUANTIZED),
    "C4": TypeIn("out_dtype", (i32,)),
}


class QnnDenseBase(QnnOp):
    """Base of the products with a weight, whose zero points and scales are one number or one for each unit."""

    QUANTIZATION = Quantization.PRODUCT
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    CONSTRAINTS = {**_CONSTRAINTS, "C5": RankOf(0, 1), "C10": OneOrAlong((2, 4))}

    data = operand_def()
    weight = operand_def()
    input_zero_point = operand_def()
    kernel_zero_point = operand_def()
    input_scale = operand_def()
    kernel_scale = operand_def()

    units = optional_int_property()
    out_dtype = prop_def(default_value=i32)

    def weight_extents(self, facts: Facts) -> tuple[Dim, Dim]:
        """Returns the units and the depth of the weight."""
        own, columns = facts.shape(1)
        return own, columns

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the last extent replaced by the units; checks C7 to C9."""
        *outer, depth = facts.shape(0)
        own, columns = self.weight_extents(facts)
        facts.require_equal(depth, columns, "C7", "the depths of data and weight differ:")
        units = optional_int(self.units)
        if units is not None:
            facts.require_equal(own, units, "C8", "the weight's units and `units` differ:")
        for parameter in (3, 5):
            require_one_or_each(facts, parameter, own, "C9", "units")
        return tensor_type((*outer, own), i32)

    def unpack_weight(self, weight: Array) -> Array:
        """Returns the weight in layout NC."""
        return weight

    def evaluate(
        self, data: Array, weight: Array, input_zero_point: Array, kernel_zero_point: Array, *scales: Array
    ) -> Array:
        """Multiplies by the transposed weight."""
        from xrelay.dialects.relay.meaning import quantized

        plain = self.unpack_weight(weight)
        left = quantized.distance(data, input_zero_point.reshape(()))
        right = quantized.distance(plain, quantized.broadcast_along(kernel_zero_point, plain, 0))
        return np.asarray(np.matmul(left, right.T))


@register_relay_op
@irdl_op_definition
class QnnDenseOp(QnnDenseBase):
    """Matrix product with the transposed weight: data (…, k) by weight (units, k) gives (…, units), of i32.

    `result[…, j] = sum over k of (data[…, k] - input_zero_point) * (weight[j, k] - kernel_zero_point)`. Scale and zero
    point of the weight are single numbers, or one number for each unit.

    Constraints:
    - C7: the last axis of the data is as long as the weight's second.
    - C8: `units`, if given, is the weight's first extent.
    - C9: scale and zero point of the weight are single numbers, or one number for each unit.

    Example:
    ```mlir
    %y = relay.qnn.dense(%x, %w, %zx, %zw, %sx, %sw) : (tensor<2x64xui8>, tensor<16x64xi8>, tensor<i32>, tensor<i32>,
        tensor<f32>, tensor<16xf32>) -> tensor<2x16xi32>
    ```

    """

    name = "relay.qnn.dense"
    CONSTRAINTS = {**QnnDenseBase.CONSTRAINTS, "C6": RankOf(1, 2, 2)}

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The product of the differences from the zero points."""
        data, weight, zero_point, weight_zero_point, *_ = build.operands
        left = distance(build, data, number(build, zero_point))
        right = distance(build, weight, along(build, weight_zero_point, 2, 0))
        return build.op("nn.dense", left, right)


@register_relay_op
@irdl_op_definition
class QnnBatchMatmulOp(QnnOp):
    """Matrix products of two stacks: x (…, m, k) by y (…, n, k), whose matrices are transposed, gives (…, m, n) of i32.

    `result[b, i, j] = sum over k of (x[b, i, k] - x_zero_point) * (y[b, j, k] - y_zero_point)`.

    Constraints:
    - C7: the depths k of x and y are equal.
    - C8: the axes before the matrices broadcast.

    Example:
    ```mlir
    %z = relay.qnn.batch_matmul(%x, %y, %zx, %zy, %sx, %sy) : (tensor<3x2x8xi8>, tensor<3x5x8xi8>, tensor<i32>,
        tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<3x2x5xi32>
    ```

    """

    name = "relay.qnn.batch_matmul"
    QUANTIZATION = Quantization.PRODUCT
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    CONSTRAINTS = {
        **_CONSTRAINTS,
        "C5": RankOf(0, 2),
        "C6": RankOf(1, 2),
        "C9": OneOrAlong((2, 3, 4, 5)),
    }

    x = operand_def()
    y = operand_def()
    x_zero_point = operand_def()
    y_zero_point = operand_def()
    x_scale = operand_def()
    y_scale = operand_def()

    out_dtype = prop_def(default_value=i32)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the broadcast axes followed by rows and columns; checks C7 and C8."""
        first, second = facts.shape(0), facts.shape(1)
        facts.require_equal(first[-1], second[-1], "C7", "the depths of x and y differ:")
        stacks = facts.broadcast_shapes((first[:-2], second[:-2]), "C8", "stacks of shapes")
        return tensor_type((*stacks, first[-2], second[-2]), i32)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The product of the differences from the zero points."""
        x, y, x_zero_point, y_zero_point, *_ = build.operands
        left, right = distance(build, x, number(build, x_zero_point)), distance(build, y, number(build, y_zero_point))
        return build.op("nn.batch_matmul", left, right)

    def evaluate(self, x: Array, y: Array, x_zero_point: Array, y_zero_point: Array, *scales: Array) -> Array:
        """Multiplies by the transposed matrices."""
        from xrelay.dialects.relay.meaning import quantized

        left = quantized.distance(x, x_zero_point.reshape(()))
        right = quantized.distance(y, y_zero_point.reshape(()))
        return np.asarray(np.matmul(left, np.swapaxes(right, -1, -2)))


@register_relay_op
@irdl_op_definition
class QnnContribDensePackOp(QnnDenseBase):
    """Matrix product with a packed weight: data (…, k) by weight (units / b, k, b) gives (…, units), of i32.

    `result[…, j] = sum over k of (data[…, k] - input_zero_point) * (weight[j // b, k, j % b] - kernel_zero_point)`: the
    weight is that of `qnn.dense` transformed from layout `NC` to `weight_layout`. Its scale and zero point are single
    numbers, or one number for each unit.

    Constraints:
    - C6: `weight_layout` is NC with N in blocks, e.g. NC16n, and the weight has its rank and inner extent.
    - C7: the last axis of the data is as long as the weight's C.
    - C8: `units`, if given, is the weight's N.
    - C9: scale and zero point of the weight are single numbers, or one number for each unit.

    Example:
    ```mlir
    %y = relay.qnn.contrib_dense_pack(%x, %w, %zx, %zw, %sx, %sw) {weight_layout = "NC8n"} : (tensor<2x64xui8>,
        tensor<2x64x8xi8>, tensor<i32>, tensor<16xi32>, tensor<f32>, tensor<16xf32>) -> tensor<2x16xi32>
    ```

    """

    name = "relay.qnn.contrib_dense_pack"

    weight_layout = string_property("NC8n")

    @property
    def layout(self) -> Layout:
        """The weight's layout; checks C6."""
        return packed_layout(self, self.weight_layout.data, "C6")

    def weight_extents(self, facts: Facts) -> tuple[Dim, Dim]:
        """Returns the extents N and C; checks C6."""
        extents = extents_in(self, self.layout, facts.shape(1), "C6")
        require_blocks(facts, self.layout, facts.shape(1), "C6")
        return extents["N"], extents["C"]

    def unpack_weight(self, weight: Array) -> Array:
        """Unpacks the weight."""
        from xrelay.dialects.relay.meaning.layouts import to_plain

        return to_plain(weight, self.layout, "NC")

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The product of the differences from the zero points; a vector of zero points is packed like the weight."""
        data, weight, zero_point, weight_zero_point, *_ = build.operands
        if shape_of(weight_zero_point.type):
            one = shape_of(weight_zero_point.type) == (1,)
            blocks = build.op("reshape", weight_zero_point, newshape=(1, 1) if one else (-1, packed_block(self.layout)))
            weight_zero_point = build.op("expand_dims", blocks, axis=1)
        left, right = distance(build, data, number(build, zero_point)), distance(build, weight, weight_zero_point)
        return build.op("nn.contrib_dense_pack", left, right, weight_layout=self.weight_layout.data)
