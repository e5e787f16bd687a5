"""Lists with an entry for each axis, for operators whose axes may be known only at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import MAX_AXES
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import shape_text


def axes_are_computed(node: NodeView) -> bool:
    """Returns whether input 1, the axes, is present and known only at run time."""
    return "axes" not in node.attribute_names and node.is_computed(1)


def axis_count(node: NodeView, index: int = 1) -> int:
    """Returns the number of axes that input `index` names."""
    shape = node.shape(index)
    if len(shape) != 1 or not isinstance(shape[0], int):
        raise node.error(f"axes of shape {shape_text(shape)}: a list of known length is expected")
    return shape[0]


def named_axes(node: NodeView, rank: int) -> SSAValue:
    """For each of `rank` axes, whether input 1 names it; an invalid axis is an index out of range at run time."""
    if rank > MAX_AXES:
        raise node.error(f"{rank} axes; a tensor has at most {MAX_AXES}")
    places = node.emit_constant(np.arange(rank), "places")
    axes = node.emit("take", places, node.input(1), axis=0, mode="raise")
    return node.emit("any", node.emit("equal", node.reshape(axes, (-1, 1)), places), axis=(0,))


def extents_left(node: NodeView, named: SSAValue, left: int) -> SSAValue:
    """Returns the extents of the `left` axes of input 0 that are not named, in order."""
    rank = len(node.shape(0))
    if left < 0:
        raise node.error(f"{rank - left} axes of a tensor of rank {rank}")
    flags = node.emit("cast", named, dtype="int64")
    places = node.emit("strided_slice", node.emit("argsort", flags, dtype="int64"), begin=(0,), end=(left,))
    # If fewer axes are named than numbers are given, one is a duplicate: make the indices invalid.
    missing = node.emit("subtract", node.emit_ints(rank - left), node.emit("sum", flags))
    places = node.emit("add", places, node.emit("multiply", missing, node.emit_ints(rank)))
    return node.emit("take", extents_of(node), places, axis=0, mode="raise")


def extents_of(node: NodeView) -> SSAValue:
    """Returns the extents of input 0, a list of 64-bit integers."""
    return node.emit("shape_of", node.input(0), dtype="int64")


def reshaped(node: NodeView, value: SSAValue, shape: SSAValue) -> SSAValue:
    """Returns `value` in a computed shape, whose extents may be 0."""
    return node.emit("dyn.reshape", value, shape, allowzero=True)


def of_every_axis(node: NodeView, given: SSAValue, rest: Array, places: Sequence[int]) -> SSAValue:
    """Returns the elements at `places` of the list `given` followed by `rest`.

    `rest` has one element, for the axes that a node does not name.
    """
    filled = node.emit("concatenate", node.make_tuple([given, node.emit_constant(rest, "rest")]), axis=0)
    return node.emit("take", filled, node.emit_ints(places, "places"), axis=0, mode="fast")
