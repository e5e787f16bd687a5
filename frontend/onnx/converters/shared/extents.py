"""Checked extents and axes of a node's operands."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import Shape, shape_text

_REST, _PRODUCT = -2, -3
"""In the new shape of `reshape`: the remaining axes, and the product of two axes."""


def static_shape(node: NodeView, value: SSAValue) -> tuple[int, ...]:
    """Returns the extents of `value`, which must be known."""
    shape: Shape = shape_of(value.type)
    known = tuple(extent for extent in shape if isinstance(extent, int))
    if len(known) != len(shape):
        raise node.error(
            f"{node.proto.op_type} of shape {shape_text(shape)} needs known extents",
            help="fix the input shape with shapes={…}",
        )
    return known


def known_extent(node: NodeView, value: SSAValue, axis: int) -> int:
    """Returns the extent of an axis of `value`, which must exist and be known."""
    shape: Shape = shape_of(value.type)
    if not -len(shape) <= axis < len(shape):
        raise node.error(f"{value.type} has no axis {axis}")
    extent = shape[axis]
    if not isinstance(extent, int):
        raise node.error(
            f"{node.proto.op_type} of shape {shape_text(shape)} needs a known extent of axis {axis % len(shape)}",
            help="fix the input shape with shapes={…}",
        )
    return extent


def covers(factors: Shape, axes: Shape) -> bool:
    """Returns whether `factors` have the extents of `axes`; a known extent other than 1 matches a dynamic one."""
    fits = (
        own == extent or (own != 1 and not isinstance(extent, int)) for own, extent in zip(factors, axes, strict=False)
    )
    return len(factors) == len(axes) and all(fits)


def known_axis(node: NodeView, axis: int, rank: int) -> int:
    """Returns `axis` as a nonnegative number; raises an error if it is out of range for `rank`."""
    if not -rank <= axis < rank:
        raise node.illegal("axis", axis, f"axes of a tensor of rank {rank} lie in [-{rank}, {rank - 1}]")
    return axis % rank


def known_axes(node: NodeView, axes: Sequence[int], rank: int) -> list[int]:
    """Returns `axes` as nonnegative numbers; raises an error for duplicates and axes out of range."""
    found = [axis % rank for axis in axes if -rank <= axis < rank]
    if len(set(found)) != len(axes):
        raise node.illegal("axes", list(axes), f"distinct axes of a tensor of rank {rank} are expected")
    return found


def axis_attribute(node: NodeView, default: int) -> int:
    """Returns the attribute `axis`, an axis of input 0, as a nonnegative number."""
    return known_axis(node, node.attribute_int("axis", default), len(node.shape(0)))


def joined_axes(node: NodeView, value: SSAValue, axis: int) -> SSAValue:
    """Returns `value` with the axes from `axis` on merged into one."""
    return merged_axes(node, value, axis, len(shape_of(value.type)))


def merged_axes(node: NodeView, value: SSAValue, first: int, last: int) -> SSAValue:
    """Returns `value` with the axes in `[first, last)` merged into one; an empty range becomes an axis of extent 1."""
    shape = shape_of(value.type)
    if last == first + 1:
        return value
    if last == first:
        return node.emit("expand_dims", value, axis=first)
    known = [extent for extent in shape if isinstance(extent, int)]
    if len(known) == len(shape):
        return node.reshape(value, (*known[:first], prod(known[first:last]), *known[last:]))
    for _ in range(last - first - 1):
        value = node.emit("reshape", value, newshape=(*(0,) * first, _PRODUCT, _REST))
    return value


def extent_value(node: NodeView, value: SSAValue, axis: int) -> SSAValue:
    """Returns an extent of `value` as a value of the program; raises an error if the axis does not exist."""
    shape = shape_of(value.type)
    if axis >= len(shape):
        raise node.error(f"{value.type} has no axis {axis}")
    extent = shape[axis]
    if isinstance(extent, int):
        return node.emit_ints(extent, "extent")
    extents = node.emit("shape_of", value, dtype="int64")
    return node.emit("take", extents, node.emit_ints(axis, "axis"), axis=0)
