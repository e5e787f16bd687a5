"""Gradients of convolutions with respect to their weight: `relay.nn.conv2d_backward_weight` and its kin."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.constraints import Constraints, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    int_property,
    optional_int,
    optional_int_property,
    required_ints_property,
    string_property,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.sliding_window import WindowedOp
from xrelay.dialects.relay.core.window_constraints import HoldsProducts, InLayouts, Layouts, Numbers
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim


class ConvBackwardWeightOp(WindowedOp):
    """Base of the gradients of weights; semantics and constraints as `nn.conv2d_backward_weight` states them."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.ALWAYS
    RESULT_ELEMENT: ClassVar[str | None] = "out_dtype"
    SIZE: ClassVar[str] = "kernel_size"
    ARGUMENTS: ClassVar[tuple[str, ...]] = (
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
        """C1, C2, C6, C10 and C11, beside those of the window."""
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
        sizes = ints(self.kernel_size)
        return sizes * len(self.AXES) if len(sizes) == 1 else sizes

    def infer_type(self, facts: Facts) -> Attribute:
        """A filter for each channel of the gradient, over the data's channels of a group; C3 to C5, C9 and C12."""
        grad_layout, data_layout, weight_layout = self.layouts
        grad, data = self.extents_in(grad_layout, facts.shape(0)), self.extents_in(data_layout, facts.shape(1))
        facts.require_equal(grad["N"], data["N"], "C3", "the batches of grad and data differ:")
        self._check_channels(facts, grad["C"], data["C"])
        window = self.checked_window(facts, list[Dim](self.sizes))
        for axis, count in self.window_counts(facts, window, data).items():
            facts.require_equal(grad[axis], count, "C12", f"the {axis} extents of grad and of the convolution differ:")
        weight: dict[str, Dim] = {"O": grad["C"], "I": data["C"] // self.groups.value.data}
        shape = weight_layout.shape_from(weight | dict(zip(self.AXES, self.sizes, strict=True)))
        return tensor_type(shape, self.element_type_property(self.out_dtype, facts.element(0), "C11"))

    def _check_channels(self, facts: Facts, filters: Dim, depth: Dim) -> None:
        groups, channels = self.groups.value.data, optional_int(self.channels)
        self.require(groups > 0, "C4", f"groups must be positive, found {groups}")
        for what, number in (("grad", filters), ("data", depth)):
            facts.require_equal(number % groups, 0, "C4", f"channels {number} of {what} modulo groups {groups}:")
        if channels is not None:
            facts.require_equal(filters, channels, "C5", "the channels of grad and channels differ:")


@register_relay_op
@irdl_op_definition
class Conv2DBackwardWeightOp(ConvBackwardWeightOp):
    """The gradient of `nn.conv2d` with respect to its weight, of the gradient of its result and of its data.

    With grad (N, O, Y, X), data (N, C, H, W) and `kernel_size` the height and width of the weight:

        result[o, i, r, s] = sum over (n, y, x) of grad[n, o, y, x]
            * padded[n, g * C/groups + i, y * strides[0] + r * dilation[0], x * strides[1] + s * dilation[1]]
                             where g = o // (O / groups)

    `strides`, `padding`, `dilation` and `groups` are those of the convolution. `kernel_layout` is that of the result,
    whose elements have type `out_dtype`, by default that of the operands.

    Constraints:
    - C3: grad and data have one batch.
    - C4: `groups` is positive and divides the channels of both.
    - C5: `channels`, where given, is the number of the gradient's channels.
    - C9: the dilated kernel is not larger than the padded data.
    - C12: grad has the extents that the convolution gives.

    Example:
    ```mlir
    %y = relay.nn.conv2d_backward_weight(%g, %x) {padding = [1, 1, 1, 1], channels = 8, kernel_size = [3, 3]}
        : (tensor<2x8x12x12xf32>, tensor<2x4x12x12xf32>) -> tensor<8x4x3x3xf32>
    ```

    """

    name = "relay.nn.conv2d_backward_weight"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class Conv3DBackwardWeightOp(ConvBackwardWeightOp):
    """The gradient of `nn.conv3d` with respect to its weight.

    `nn.conv2d_backward_weight` states C3 to C5, C9 and C12.

    Example:
    ```mlir
    %y = relay.nn.conv3d_backward_weight(%g, %x) {kernel_size = [2, 3, 3]}
        : (tensor<2x4x3x5x5xf32>, tensor<2x2x4x7x7xf32>) -> tensor<4x2x2x3x3xf32>
    ```

    """

    name = "relay.nn.conv3d_backward_weight"
    AXES: ClassVar[str] = "DHW"


WEIGHT_GRADIENTS = (Conv2DBackwardWeightOp, Conv3DBackwardWeightOp)
