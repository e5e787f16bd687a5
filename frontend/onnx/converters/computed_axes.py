"""Squeeze, Unsqueeze and reductions at axes that only the run tells: `dyn.reshape` to a shape that is computed."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.types import MAX_AXES
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import shape_text


def axes_are_computed(node: NodeView) -> bool:
    """Whether the axes, input 1, are there and only the run tells them."""
    if "axes" in node.attribute_names or node.optional_input(1) is None:
        return False
    return node.constant(1) is None and node.known_ints(1) is None


def squeezed_at_run_time(node: NodeView) -> SSAValue:
    """The extents of the axes that are not named, in their order; those of the others are 1, or the counts differ."""
    rank = len(node.shape(0))
    shape = extents_left(node, named_axes(node, rank), rank - axis_count(node))
    return reshaped(node, node.input(0), shape)


def unsqueezed_at_run_time(node: NodeView) -> SSAValue:
    """1 at the axes that are named, between them the extents of the data; too few of either is an index too large."""
    named = named_axes(node, len(node.shape(0)) + axis_count(node))
    others = node.emit("cast", node.emit("logical_not", named), dtype="int64")
    numbers = node.emit("multiply", node.emit("cumsum", others, axis=0), others)
    one, extents = node.emit_ints([1]), extents_of(node)
    filled = node.emit("concatenate", node.make_tuple([one, extents]), axis=0)
    return reshaped(node, node.input(0), node.emit("take", filled, numbers, axis=0, mode="raise"))


def axis_count(node: NodeView) -> int:
    """How many axes input 1 names."""
    shape = node.shape(1)
    if len(shape) != 1 or not isinstance(shape[0], int):
        raise node.error(f"axes of shape {shape_text(shape)}: a list of known length is expected")
    return shape[0]


def named_axes(node: NodeView, rank: int) -> SSAValue:
    """For each of `rank` axes whether input 1 names it; a number that is none of them is an index out of range."""
    if rank > MAX_AXES:
        raise node.error(f"{rank} axes; a tensor has at most {MAX_AXES}")
    places = node.emit_constant(np.arange(rank), "places")
    axes = node.emit("take", places, node.input(1), axis=0, mode="raise")
    return node.emit("any", node.emit("equal", node.reshape(axes, (-1, 1)), places), axis=(0,))


def extents_left(node: NodeView, named: SSAValue, left: int) -> SSAValue:
    """The extents of the `left` axes of input 0 that are not named, in their order."""
    rank = len(node.shape(0))
    if left < 0:
        raise node.error(f"{rank - left} axes of a tensor of rank {rank}")
    flags = node.emit("cast", named, dtype="int64")
    places = node.emit("strided_slice", node.emit("argsort", flags, dtype="int64"), begin=(0,), end=(left,))
    # Where fewer axes are named than there are numbers, one is named twice: no index is right.
    missing = node.emit("subtract", integer(node, rank - left), node.emit("sum", flags))
    places = node.emit("add", places, node.emit("multiply", missing, integer(node, rank)))
    return node.emit("take", extents_of(node), places, axis=0, mode="raise")


def extents_of(node: NodeView) -> SSAValue:
    """The extents of input 0, a list of 64-bit integers."""
    return node.emit("shape_of", node.input(0), dtype="int64")


def integer(node: NodeView, number: int) -> SSAValue:
    """A constant of rank 0."""
    return node.emit_ints(number)


def reshaped(node: NodeView, value: SSAValue, shape: SSAValue) -> SSAValue:
    """`value` in a shape that is computed, whose extents may be 0."""
    return node.emit("dyn.reshape", value, shape, allowzero=True)
