"""Gradients of convolutions, and of windows over the width by twins: operators over height and width.

A twin is the same operator on images of height 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis, of_any_size, sides_of

Window = Sequence[WindowAxis[int]]


def known_extents(op: Operation, extents: Mapping[str, Dim], axes: str) -> list[int]:
    """Returns the extents of a weight along its spatial axes; `PassError` if one is dynamic."""
    sizes: list[int] = []
    for axis in axes:
        extent = extents[axis]
        if not isinstance(extent, int):
            raise not_differentiable(op, f"the extent {extent} of the weight is not known")
        sizes.append(extent)
    return sizes


def window_attributes(window: Window, groups: int) -> dict[str, AttributeValue]:
    """Returns strides, padding and dilation, one number per axis and side, and the groups."""
    strides, dilation = tuple(axis.stride for axis in window), tuple(axis.dilation for axis in window)
    return {"strides": strides, "padding": sides_of(window), "dilation": dilation, "groups": groups}


def exchanged(layout: Layout) -> str:
    """Returns the layout of the same weight with the channels of data and result exchanged."""
    return str(layout).translate(str.maketrans("OIoi", "IOio"))


def gradient_of_data(
    build: GradientBuilder,
    data: tuple[SSAValue, Layout],
    image: tuple[SSAValue, Layout],
    weight: tuple[SSAValue, Layout],
    axes: str,
    window: Window,
    groups: int,
) -> SSAValue:
    """Returns the gradient in the data of a convolution, whose result has the gradient `image`.

    It is a transposed convolution, which covers the windows only. Elements after the last window, which exist for
    strides above 1, are its `output_padding` and zero; with dynamic extents the surplus is cut off at run time.
    """
    if 0 in build.shape(data[0]):
        return build.zeros_like(data[0])
    extents = data[1].primal_extents(build.shape(data[0]))
    found = build.op(
        f"nn.conv{len(axes)}d_transpose",
        image[0],
        weight[0],
        **window_attributes(window, groups),
        output_padding=[_after_last_window(axis, extents[letter]) for letter, axis in zip(axes, window, strict=True)],
        data_layout=str(image[1]),
        kernel_layout=exchanged(weight[1]),
        out_layout=str(data[1]),
    )
    return found if build.shape(found) == build.shape(data[0]) else build.op("slice_like", found, data[0])


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
