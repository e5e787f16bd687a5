"""Gradients of convolutions, and of windows over the width by twins: operators over height and width.

A twin is the same operator on images of height 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis, of_any_size, sides_of

Window = Sequence[WindowAxis[int]]
Placed = tuple[SSAValue, Layout]
"""A tensor with its layout."""


@dataclass(frozen=True)
class ConvolutionBuilder:
    """Builds convolutions with one window and number of groups, and their gradients, of values with their layouts."""

    build: GradientBuilder
    window: Window
    groups: int

    def _op(self, suffix: str, *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """Adds an op of the family with the attributes of the window."""
        return self.build.op(
            f"nn.conv{len(self.window)}d{suffix}",
            *operands,
            strides=tuple(axis.stride for axis in self.window),
            padding=sides_of(self.window),
            dilation=tuple(axis.dilation for axis in self.window),
            groups=self.groups,
            **attributes,
        )

    def convolved(self, data: Placed, weight: Placed, out: Layout) -> SSAValue:
        """Returns the convolution in layout `out`."""
        layouts = {"data_layout": str(data[1]), "kernel_layout": str(weight[1]), "out_layout": str(out)}
        return self._op("", data[0], weight[0], **layouts)

    def weight_gradient(self, grad: Placed, data: Placed, weight: Layout) -> SSAValue:
        """Returns the gradient in a weight of layout `weight`; the result has the gradient `grad`."""
        layouts = {"grad_layout": str(grad[1]), "data_layout": str(data[1]), "kernel_layout": str(weight)}
        sizes = [axis.size for axis in self.window]
        return self._op("_backward_weight", grad[0], data[0], kernel_size=sizes, **layouts)

    def data_gradient(self, data: Placed, grad: Placed, weight: Placed) -> SSAValue:
        """Returns the gradient in the data; the result has the gradient `grad`.

        It is a transposed convolution, which covers the windows only. Elements after the last window, which exist for
        strides above 1, are its `output_padding` and zero; with dynamic extents the surplus is cut off at run time.
        """
        build, (value, layout) = self.build, data
        if 0 in build.shape(value):
            return build.zeros_like(value)
        extents = layout.primal_extents(build.shape(value))
        axes = zip("DHW"[-len(self.window) :], self.window, strict=True)
        found = self._op(
            "_transpose",
            grad[0],
            weight[0],
            output_padding=[_after_last_window(axis, extents[letter]) for letter, axis in axes],
            data_layout=str(grad[1]),
            kernel_layout=str(exchange_channels(weight[1])),
            out_layout=str(layout),
        )
        return found if build.shape(found) == build.shape(value) else build.op("slice_like", found, value)


def exchange_channels(layout: Layout) -> Layout:
    """Returns the layout of the same weight with the channels of data and result exchanged."""
    return Layout.parse(str(layout).translate(str.maketrans("OIoi", "IOio")))


def _after_last_window(axis: WindowAxis[int], extent: Dim) -> int:
    """Returns the number of padded elements after the last window along an axis, or its maximum."""
    rest = of_any_size(axis).room(extent) % axis.stride
    return rest if isinstance(rest, int) else axis.stride - 1


class DifferentiableOp(Protocol):
    """An operator with a gradient in its class."""

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of each operand."""
        ...


def gradients_of_twin(
    twin: Operation, of: SSAValue, out_layout: Layout, layouts: Sequence[Layout], build: GradientBuilder
) -> Gradients:
    """Returns the gradients of operands in `layouts`, without the height, by the gradients of `twin`.

    `twin` is in no block, exists only for its properties and operands, and is erased.
    """
    try:
        found = cast(DifferentiableOp, twin).gradient(with_height(of, out_layout, build), build)
    finally:
        twin.erase()
    rows = zip(found, layouts, strict=True)
    return [each if each is None else build.op("squeeze", each, axis=[layout.index("W")]) for each, layout in rows]


def with_height(value: SSAValue, layout: Layout, build: GradientBuilder) -> SSAValue:
    """Inserts an axis of height 1 before the width."""
    return build.op("expand_dims", value, axis=layout.index("W"))


def layout_with_height(layout: Layout) -> str:
    """Returns the layout of a tensor with a height."""
    return str(layout).replace("W", "HW")


def window_with_height(axis: WindowAxis[int]) -> dict[str, AttributeValue]:
    """Returns strides, dilation and padding of a window of height 1 with the width `axis`."""
    return {
        "strides": (1, axis.stride),
        "dilation": (1, axis.dilation),
        "padding": (0, axis.before, 0, axis.after),
    }
