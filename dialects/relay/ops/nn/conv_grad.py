"""Gradients of convolutions in their weight: `relay.nn.conv2d_backward_weight` and `nn.conv3d_backward_weight`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.core.sliding_window import HoldsProducts, InLayouts, Layouts, Numbers, WindowedOp
from xrelay.dialects.relay.gradients.windows import ConvolutionBuilder
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Constraints,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    Layout,
    MixedPrecision,
    OpPatternKind,
    SameElements,
    Tensors,
    TopiBuilder,
    int_property,
    ints,
    optional_int,
    optional_int_property,
    register_relay_op,
    required_ints_property,
    shape_of,
    string_property,
    tensor_type,
)
from xrelay.index_algebra.windows import each

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.windows import WeightGradient


class ConvBackwardWeightOp(WindowedOp):
    """Base of the gradients of weights; `nn.conv2d_backward_weight` documents semantics and constraints."""

    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.ALWAYS
    HALF_PRECISION = HalfPrecision.SINGLE_RESULTS
    RESULT_ELEMENT = "out_dtype"
    SIZE = "kernel_size"
    ARGUMENTS = (
        "strides",
        "padding",
        "dilation",
        "groups",
        "channels",
        "kernel_size",
        "grad_layout",
        "data_layout",
        "kernel_layout",
        "out_dtype",
    )

    grad = operand_def()
    data = operand_def()

    groups = int_property(1)
    channels = optional_int_property()
    kernel_size = required_ints_property()
    grad_layout = string_property("")
    data_layout = string_property("")
    kernel_layout = string_property("")
    out_dtype = opt_prop_def()

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C1, C2, C6, C10, C11 and the constraints on windows."""
        images = (("grad_layout", f"NC{axes}"), ("data_layout", f"NC{axes}"))
        return {
            **super().constraints_over(axes),
            "C1": Layouts((*images, ("kernel_layout", f"{cls.FILTERS}{axes}"))),
            "C2": InLayouts(images),
            "C6": Numbers(("kernel_size",), (1, len(axes))),
            "C10": SameElements(),
            "C11": HoldsProducts("out_dtype"),
        }

    @property
    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """The layouts of the result's gradient, of the data and of the weight."""
        return (
            self.layout_over(self.grad_layout.data, self.image_axes),
            self.layout_over(self.data_layout.data, self.image_axes),
            self.layout_over(self.kernel_layout.data, f"{self.FILTERS}{self.AXES}"),
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The weight's extent along each spatial axis."""
        return each(ints(self.kernel_size), len(self.AXES))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a filter for each channel of the gradient; checks C3 to C5, C9 and C12."""
        grad_layout, data_layout, weight_layout = self.layouts
        grad, data = self.extents_in(grad_layout, facts.shape(0)), self.extents_in(data_layout, facts.shape(1))
        facts.require_equal(grad["N"], data["N"], "C3", "the batches of grad and data differ:")
        self._check_channels(facts, grad["C"], data["C"])
        window = self.checked_window(facts, list[Dim](self.sizes))
        for axis, count in self.window_counts(facts, window, data).items():
            facts.require_equal(grad[axis], count, "C12", f"the {axis} extents of grad and of the convolution differ:")
        weight = {"O": grad["C"], "I": data["C"] // self.groups.value.data}
        shape = weight_layout.shape_from(weight | dict(zip(self.AXES, self.sizes, strict=True)))
        return tensor_type(shape, self.element_type_property(self.out_dtype, facts.element(0), "C11"))

    def _check_channels(self, facts: Facts, filters: Dim, depth: Dim) -> None:
        groups, channels = self.groups.value.data, optional_int(self.channels)
        self.require(groups > 0, "C4", f"groups must be positive, found {groups}")
        for what, number in (("grad", filters), ("data", depth)):
            facts.require_equal(number % groups, 0, "C4", f"channels {number} of {what} modulo groups {groups}:")
        if channels is not None:
            facts.require_equal(filters, channels, "C5", "the channels of grad and channels differ:")

    def evaluate(self, grad: Array, data: Array) -> Array:
        """Sums the products of the gradient and the elements under the tap, for each tap of the filters."""
        from xrelay.dialects.relay.meaning.element_types import accumulator
        from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain
        from xrelay.dialects.relay.meaning.windows import taps

        grad_layout, data_layout, weight_layout = self.layouts
        out_dtype, groups = self.result_dtype, self.groups.value.data
        compute_dtype = accumulator(out_dtype)
        plain = to_plain(data, data_layout, self.image_axes).astype(compute_dtype, copy=False)
        grads = to_plain(grad, grad_layout, self.image_axes).astype(compute_dtype, copy=False)
        (batch, filters, *counts), depth = grads.shape, plain.shape[1] // groups
        points = prod(counts)
        grads = grads.reshape(batch, groups, filters // groups, points)
        parts = [
            np.einsum("ngop,ngip->goi", grads, seen.reshape(batch, groups, depth, points))
            for seen in taps(plain, self.window(self.sizes), counts, 0)
        ]
        weight = np.stack(parts, axis=-1).reshape(filters, depth, *self.sizes)
        return from_plain(weight, f"{self.FILTERS}{self.AXES}", weight_layout).astype(out_dtype, copy=False)

    def factors(self) -> WeightGradient:
        """Returns the factors of the index space."""
        from xrelay.dialects.relay.computes.windows import WeightGradient

        grad_layout, data_layout, _ = self.layouts
        grad = grad_layout.primal_extents(shape_of(self.grad.type))
        data = data_layout.primal_extents(shape_of(self.data.type))
        window = self.window(self.sizes)
        return WeightGradient(self.AXES, window, self.groups.value.data, grad_layout, grad, data_layout, data)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sums products for each element of the weight, in any layouts and for any extents."""
        from xrelay.dialects.relay.computes.layouts import layout_indices, primal_indices
        from xrelay.dialects.topi.named.base import TAPS, convert

        factors, element = self.factors(), build.result_type.element_type
        grad, padded = build.operand(0), factors.padded(build, build.operand(1))
        before = {letter: axis.before for letter, axis in zip(self.AXES, factors.window, strict=True)}

        def add(b: Body) -> SSAValue:
            at = primal_indices(self.layouts[2], b.spatial)
            channel = b.scaled(b.quotient(at["O"], factors.filters), factors.depth) + at["I"]
            places = factors.places(b.reduction, [at[axis] for axis in self.AXES])
            moved = {letter: place + before[letter] for letter, place in places.items()}
            seen = b.read(padded, *layout_indices(factors.data_layout, {"N": b.reduction[0], "C": channel, **moved}))
            pair = factors.read_grad(b, grad, at["O"], b.reduction), seen
            return b.accumulate_product(b.accumulators[0], *(convert(b, factor, element) for factor in pair))

        names = ("n", *(TAPS[axis] for axis in self.AXES))
        reduce = dict(zip(names, factors.points, strict=True))
        label = self.relay_name().removeprefix("nn.")
        return [build.compute(label, build.result_shape, element, add, reduce=reduce, init=[0])]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns gradients of the convolution with the weight `of`, because the op is linear in both operands."""
        grad, data, weight = self.layouts
        image, filters = (self.data, data), (build.cast_like(of, self.data), weight)
        convolution = ConvolutionBuilder(build, self.window(self.sizes), self.groups.value.data)
        of_grad = convolution.convolved(image, filters, grad)
        return [of_grad, convolution.data_gradient(image, (self.grad, grad), filters)]


@register_relay_op
class Conv2DBackwardWeightOp(ConvBackwardWeightOp):
    """The gradient of `nn.conv2d` in its weight, for the gradient `grad` of its result, and its data.

    With grad (N, O, Y, X), data (N, C, H, W) and `kernel_size` the height and width of the weight:

        result[o, i, r, s] = sum over (n, y, x) of grad[n, o, y, x]
            * padded[n, g * C/groups + i, y * strides[0] + r * dilation[0], x * strides[1] + s * dilation[1]]
                             where g = o // (O / groups)

    `strides`, `padding`, `dilation` and `groups` are those of the convolution. `kernel_layout` is the layout of the
    result, and `out_dtype` is its element type, by default that of the operands.

    Constraints:
    - C3: grad and data have the same batch.
    - C4: `groups` is positive and divides the channels of both.
    - C5: `channels`, if given, is the number of channels of grad.
    - C9: the dilated kernel is not larger than the padded data.
    - C12: grad has the spatial extents of the result of the convolution.

    Example:
    ```mlir
    %y = relay.nn.conv2d_backward_weight(%g, %x) {padding = [1, 1, 1, 1], channels = 8, kernel_size = [3, 3]}
        : (tensor<2x8x12x12xf32>, tensor<2x4x12x12xf32>) -> tensor<8x4x3x3xf32>
    ```

    """

    name = "relay.nn.conv2d_backward_weight"
    AXES = "HW"


@register_relay_op
class Conv3DBackwardWeightOp(ConvBackwardWeightOp):
    """The gradient of `nn.conv3d` in its weight.

    `nn.conv2d_backward_weight` documents C3 to C5, C9 and C12.

    Example:
    ```mlir
    %y = relay.nn.conv3d_backward_weight(%g, %x) {kernel_size = [2, 3, 3]}
        : (tensor<2x4x3x5x5xf32>, tensor<2x2x4x7x7xf32>) -> tensor<4x2x2x3x3xf32>
    ```

    """

    name = "relay.nn.conv3d_backward_weight"
    AXES = "DHW"


WEIGHT_GRADIENTS = (Conv2DBackwardWeightOp, Conv3DBackwardWeightOp)
