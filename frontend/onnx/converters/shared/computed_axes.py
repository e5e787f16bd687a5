"""Squeeze, Unsqueeze and reductions along axes known only at run time: `dyn.reshape` to a computed shape."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import MAX_AXES
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import shape_text


def axes_are_computed(node: NodeView) -> bool:
    """Returns whether input 1, the axes, is present and known only at run time."""
    if "axes" in node.attribute_names or node.optional_input(1) is None:
        return False
    return node.constant(1) is None and node.known_ints(1) is None


def squeezed_at_run_time(node: NodeView) -> SSAValue:
    """Keeps the extents of the other axes in order; `dyn.reshape` fails unless the named axes have extent 1."""
    rank = len(node.shape(0))
    shape = extents_left(node, named_axes(node, rank), rank - axis_count(node))
    return reshaped(node, node.input(0), shape)


def unsqueezed_at_run_time(node: NodeView) -> SSAValue:
    """Inserts extents of 1 at the named axes; a duplicate axis causes an index out of range at run time."""
    named = named_axes(node, len(node.shape(0)) + axis_count(node))
    others = node.emit("cast", node.emit("logical_not", named), dtype="int64")
    numbers = node.emit("multiply", node.emit("cumsum", others, axis=0), others)
    one, extents = node.emit_ints([1]), extents_of(node)
    filled = node.emit("concatenate", node.make_tuple([one, extents]), axis=0)
    return reshaped(node, node.input(0), node.emit("take", filled, numbers, axis=0, mode="raise"))


def axis_count(node: NodeView) -> int:
    """Returns the number of axes that input 1 names."""
    shape = node.shape(1)
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
    missing = node.emit("subtract", integer(node, rank - left), node.emit("sum", flags))
    places = node.emit("add", places, node.emit("multiply", missing, integer(node, rank)))
    return node.emit("take", extents_of(node), places, axis=0, mode="raise")


def extents_of(node: NodeView) -> SSAValue:
    """Returns the extents of input 0, a list of 64-bit integers."""
    return node.emit("shape_of", node.input(0), dtype="int64")


def integer(node: NodeView, number: int) -> SSAValue:
    """A constant of rank 0."""
    return node.emit_ints(number)


def reshaped(node: NodeView, value: SSAValue, shape: SSAValue) -> SSAValue:
    """Returns `value` in a computed shape, whose extents may be 0."""
    return node.emit("dyn.reshape", value, shape, allowzero=True)
