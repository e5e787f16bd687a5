"""Gradients of operators over the width, by twins: the same operators over height and width, on images of height 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.index_algebra.windows import WindowAxis


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
