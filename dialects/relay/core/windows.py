"""Arithmetic and checks of sliding windows over two axes, for convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.properties import flatten
from xrelay.dialects.relay.layout.layout import Layout, LayoutError
from xrelay.index_algebra.dims import Dim, Shape

Pads = tuple[int, int, int, int]
"""Padding as (top, left, bottom, right)."""


def four_pads(padding: Sequence[int]) -> Pads:
    """Relay's padding of one (all sides), two (height, width) or four (top, left, bottom, right) numbers as four."""
    if len(padding) == 1:
        return (padding[0], padding[0], padding[0], padding[0])
    if len(padding) == 2:
        return (padding[0], padding[1], padding[0], padding[1])
    top, left, bottom, right = padding
    return (top, left, bottom, right)


def pair(numbers: Sequence[int]) -> tuple[int, int]:
    """One number for both axes, or one for each."""
    return (numbers[0], numbers[-1])


def normalize_padding(attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
    """Python's shorthands: padding always becomes four numbers."""
    padding = attributes.get("padding")
    if isinstance(padding, (int, tuple, list)):
        numbers = flatten(padding)
        attributes["padding"] = four_pads(numbers) if len(numbers) in (1, 2, 4) else numbers
    return attributes


def require_window(op: RelayOp, strides: Sequence[int], dilation: Sequence[int], constraint: str) -> None:
    """Require strides and dilation to be one or two positive numbers."""
    for what, numbers in (("strides", strides), ("dilation", dilation)):
        op.require(
            len(numbers) in (1, 2) and min(numbers) > 0,
            constraint,
            f"{what} must be one or two positive numbers, found {list(numbers)}",
        )


def require_padding(op: RelayOp, padding: Sequence[int], constraint: str) -> None:
    """Require padding to be one, two or four numbers that are not negative."""
    op.require(
        len(padding) in (1, 2, 4) and min(padding) >= 0,
        constraint,
        f"padding must be 1, 2 or 4 numbers that are not negative, found {list(padding)}",
    )


def window_count(extent: Dim, window: Dim, stride: int, dilation: int, pads: int, *, ceil_mode: bool = False) -> Dim:
    """How many windows fit along an axis of `extent` with `pads` elements of padding in all."""
    room = extent + pads - (dilation * (window - 1) + 1)
    return (room + (stride - 1 if ceil_mode else 0)) // stride + 1


def parse_layout(op: RelayOp, text: str, axes: str, constraint: str) -> Layout:
    """The layout `text`, required to consist of `axes` in any order."""
    try:
        layout = Layout.parse(text)
    except LayoutError as error:
        op.require(False, constraint, error.message, help=error.help)
        raise
    op.require(sorted(layout.primal) == sorted(axes), constraint, f"layout {text} must have the axes {', '.join(axes)}")
    return layout


def extents_in(op: RelayOp, layout: Layout, shape: Shape, constraint: str) -> dict[str, Dim]:
    """The extents of the primal axes of `shape` in `layout`."""
    try:
        return layout.primal_extents(shape)
    except LayoutError as error:
        op.require(False, constraint, error.message, help=error.help)
        raise


def shape_in(op: RelayOp, layout: Layout, extents: dict[str, Dim], constraint: str) -> Shape:
    """The shape in `layout` of a tensor with primal `extents`."""
    try:
        return layout.shape_from(extents)
    except LayoutError as error:
        op.require(False, constraint, error.message, help=error.help)
        raise
