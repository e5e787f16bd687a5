"""Average pooling of quantised images: `relay.qnn.avg_pool2d`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import NARROW, ElementsIn, OneOrAlong, scales_and_zero_points
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.op_definition import (
    Array,
    Constraints,
    Layout,
    LayoutRefusal,
    MixedPrecision,
    bool_property,
    ints_property,
    register_relay_op,
    required_ints_property,
    string_property,
)
from xrelay.dialects.relay.ops.nn.pool import AvgPoolOp
from xrelay.dialects.relay.ops.qnn.op_base import QnnOp, distance, dtype_of, number, ratio, scaled, shifted
from xrelay.dialects.relay.structure.composite import DecompositionBuilder

_MAX_F32_WINDOW = 1 << 10
"""The greatest window size for which f32 distinguishes all sums and means of 8-bit numbers."""


@register_relay_op
@irdl_op_definition
class QnnAvgPool2DOp(AvgPoolOp, QnnOp):
    """The mean of each window over a quantised image, requantised.

    The mean of the differences from the zero point is rounded to the nearest integer and requantised to the result's
    scale, rounding halves up both times. Padding has difference 0; it counts if `count_include_pad` is true.

    Constraints:
    - C9: the dilated window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.qnn.avg_pool2d(%x, %s, %z, %t, %u) {pool_size = [2, 2], strides = [2, 2]}
        : (tensor<1x4x4x3xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x2x2x3xui8>
    ```

    """

    name = "relay.qnn.avg_pool2d"
    MIXED_PRECISION = MixedPrecision.NEVER
    AXES = "HW"
    ARGUMENTS = ()

    data = operand_def()
    input_scale = operand_def()
    input_zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()

    pool_size = required_ints_property()
    strides = ints_property(1, 1)
    padding = ints_property(0, 0, 0, 0)
    dilation = ints_property(1, 1)
    ceil_mode = bool_property(False)
    count_include_pad = bool_property(True)
    layout = string_property("NHWC")
    out_layout = string_property("")

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C10 to C13 and the constraints on pools."""
        parameters = scales_and_zero_points([1, 3], [2, 4])
        return {
            **super().constraints_over(axes),
            "C10": parameters["C1"],
            "C11": parameters["C2"],
            "C12": OneOrAlong((1, 2, 3, 4)),
            "C13": ElementsIn((0,), NARROW),
        }

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Refuses, because the layout is chosen for the equivalent plain pool."""
        return LayoutRefusal("run qnn-canonicalize-ops first")

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A float mean that is precise enough to identify halves."""
        data, *parameters = build.operands
        scale, zero_point, output_scale, output_zero_point = (number(build, each) for each in parameters)
        limits, taps = np.iinfo(dtype_of(data)), prod(self.sizes)
        dtype = "float32" if limits.bits == 8 and taps <= _MAX_F32_WINDOW else "float64"
        near = build.op("clip", zero_point, a_min=float(limits.min), a_max=float(limits.max))
        distances = build.op("cast", distance(build, data, near), dtype=dtype)
        mean = build.add(get_relay_op("nn.avg_pool2d").typed([distances], self.properties))
        # A quotient with a divisor up to `taps` whose fraction is below 1/2 is further from 1/2 than this tolerance,
        # which exceeds the rounding error.
        whole = build.op("floor", build.op("add", mean, 0.5 + 0.25 / taps))
        distances = build.op("cast", whole, dtype="int32")
        return shifted(
            build, scaled(build, distances, ratio(build, (scale,), output_scale)), output_zero_point, dtype_of(data)
        )

    def evaluate(
        self,
        data: Array,
        input_scale: Array,
        input_zero_point: Array,
        output_scale: Array,
        output_zero_point: Array,
    ) -> Array:
        """Rounds the mean of differences with integers."""
        from xrelay.dialects.relay.meaning import quantized

        limits = np.iinfo(data.dtype)
        near = np.clip(input_zero_point.reshape(()), limits.min, limits.max)
        total, count = self.sums_and_counts(quantized.distance(data, near).astype(np.int64))
        mean = np.floor_divide(2 * total + count, 2 * count)
        return self.to_layout(quantized.requantize(mean, input_scale, output_scale, output_zero_point, data.dtype))
