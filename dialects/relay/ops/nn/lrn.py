"""`relay.nn.lrn`: normalisation across neighbouring channels."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.along_axis import AlongAxisOp
from xrelay.dialects.relay.op_definition import (
    MAX_EXTENT,
    Array,
    AtLeast,
    AxisOf,
    Body,
    Dim,
    Finite,
    FloatElements,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    OpPatternKind,
    Tensors,
    TopiBuilder,
    axis_index,
    float_property,
    int_property,
    minimum,
    register_relay_op,
)

MAX_FIXED_REACH = 32
"""A window with this reach or less keeps its size for any extent."""


@register_relay_op
class LRNOp(AlongAxisOp):
    """Local response normalisation: each element is divided by a power of the squares around it along `axis`.

    With c the index along `axis`, of extent n:

        total[…c…] = sum of data[…k…]² for k from max(0, c - (size - 1) // 2) to min(n - 1, c + size // 2)
        result[…c…] = data[…c…] / (bias + alpha / size * total[…c…]) ^ beta

    Relay requires an odd `size`. With an even `size` the window has one more element after the centre than before it,
    as in ONNX.

    Example:
    ```mlir
    %y = relay.nn.lrn(%x) {size = 5, bias = 1.0, alpha = 1.0e-04} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```

    """

    name = "relay.nn.lrn"
    PATTERN = OpPatternKind.OPAQUE
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        "C1": AxisOf(),
        "C2": AtLeast("size"),
        "C3": FloatElements(),
        "C4": Finite(("bias", "alpha", "beta")),
    }

    size = int_property(5)
    axis = int_property(1)
    bias = float_property(2.0)
    alpha = float_property(1e-5)
    beta = float_property(0.75)

    def evaluate(self, data: Array) -> Array:
        """Sums each window, then divides, in double precision; sums that overflow their type are infinite."""
        from xrelay.dialects.relay.meaning.element_types import accumulator
        from xrelay.dialects.shared.numerics import float_power

        axis, size = self.axis.value.data % data.ndim, self.size.value.data
        squares = np.moveaxis(data.astype(np.float64) ** 2, axis, 0)
        extent = squares.shape[0]
        total = np.zeros_like(squares)
        for channel in range(extent):
            first, last = channel - (size - 1) // 2, channel + size // 2
            total[channel] = squares[max(first, 0) : last + 1].sum(axis=0)
        sums = accumulator(data.dtype)
        with np.errstate(over="ignore"):
            total = np.moveaxis(total, 0, axis).astype(sums).astype(np.float64)
            base = (self.bias.value.data + self.alpha.value.data / size * total).astype(sums).astype(np.float64)
        return (data.astype(np.float64) / float_power(base, self.beta.value.data)).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """`x / base^beta`; as `x * exp(-beta * log(base))` if the base is certainly positive.

        Both functions stay in vector registers, a power would not.
        """
        data = build.operand(0)
        shape, element = build.shape(data), build.element(data)
        axis, size = self.axis.value.data % len(shape), self.size.value.data
        down, up = (_within(shape[axis], reach) for reach in ((size - 1) // 2, size // 2))

        def squares(b: Body) -> SSAValue:
            at = [*b.spatial]
            at[axis] = at[axis] + b.reduction[0] - b.expr(down)
            inside = b.in_bounds([at[axis]], [shape[axis]])
            x = b.guard(inside, element, lambda: b.read(data, *at), 0)
            return b.accumulate_product(b.accumulators[0], x, x)

        total = build.compute("lrn_squares", shape, element, squares, reduce={"k": down + up + 1}, init=[0])
        bias, scale, beta = self.bias.value.data, self.alpha.value.data / size, self.beta.value.data

        def normalize(b: Body) -> SSAValue:
            base = b.plus(b.times(b.read(total, *b.spatial), scale), bias)
            # The logarithm of an infinite base times 0 is NaN.
            if bias <= 0 or scale < 0 or beta == 0:
                return b.divide(b.read(data, *b.spatial), b.power(base, beta))
            power = b.exp(b.times(b.log(base), -beta))
            return b.times(b.read(data, *b.spatial), power)

        return [build.compute("nn_lrn", shape, element, normalize)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """`g * s^-beta - x * 2 * alpha * beta / size * sum(g * x * s^(-beta - 1))`, where s is the base of the power.

        The sum is over the windows that contain an element, which reach as far up as its own window reaches down.
        """
        if 0 in build.shape(self.data):
            return [build.zeros_like(self.data)]
        size, alpha, beta = self.size.value.data, self.alpha.value.data, self.beta.value.data
        before, after = (size - 1) // 2, size // 2
        squares = self._window_means(build.op("multiply", self.data, self.data), before, after, build)
        base = build.op("add", build.op("multiply", squares, alpha), self.bias.value.data)
        scale = build.op("power", base, -beta)
        share = build.op("divide", build.op("multiply", build.op("multiply", of, self.data), scale), base)
        others = build.op("multiply", self._window_means(share, after, before, build), 2 * alpha * beta)
        return [build.op("subtract", build.op("multiply", of, scale), build.op("multiply", self.data, others))]

    def _window_means(self, value: SSAValue, before: int, after: int, build: GradientBuilder) -> SSAValue:
        """The sum over the elements around each along the axis, divided by the size of the window."""
        shape = build.shape(value)
        rank, axis = len(shape), axis_index(self.axis.value.data, len(shape))
        order = [*(other for other in range(rank) if other != axis), axis]
        last = build.op("transpose", value, axes=order)
        # The axis becomes the width of one image whose channels are all other axes: -3 joins two, -2 keeps the rest.
        lines = build.op("expand_dims", last, axis=0)
        for _ in range(rank - 2):
            lines = build.op("reshape", lines, newshape=(0, -3, -2))
        lines = lines if rank > 1 else build.op("expand_dims", lines, axis=0)
        size, reach = self.size.value.data, shape[axis]
        longest = reach - 1 if isinstance(reach, int) else MAX_EXTENT
        before, after = min(before, longest), min(after, longest)
        window = {"pool_size": before + after + 1, "padding": (before, after), "count_include_pad": True}
        means = build.reshape_like(build.op("nn.avg_pool1d", lines, **window), last)
        if before + after + 1 < size:
            means = build.op("multiply", means, (before + after + 1) / size)
        return build.op("transpose", means, axes=[order.index(other) for other in range(rank)])


def _within(extent: Dim, reach: int) -> Dim:
    """The reach of a window to one side, which is not longer than the extent."""
    return reach if reach <= MAX_FIXED_REACH else minimum(extent, reach)
