"""Squeeze and Unsqueeze at axes that only the run tells: `dyn.reshape` to a shape that is computed."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

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
    left = rank - _count(node)
    if left < 0:
        raise node.error(f"{rank - left} axes of a tensor of rank {rank}")
    named = node.emit("cast", _named(node, rank), dtype="int64")
    places = node.emit("strided_slice", node.emit("argsort", named, dtype="int64"), begin=(0,), end=(left,))
    # Where fewer axes are named than there are numbers, one is twice or none of the data's: no index is right.
    missing = node.emit("subtract", _integer(node, rank - left), node.emit("sum", named))
    places = node.emit("add", places, node.emit("multiply", missing, _integer(node, rank)))
    extents = node.emit("shape_of", node.input(0), dtype="int64")
    return _reshaped(node, node.emit("take", extents, places, axis=0, mode="raise"))


def unsqueezed_at_run_time(node: NodeView) -> SSAValue:
    """1 at the axes that are named, between them the extents of the data; too few of either is an index too large."""
    named = _named(node, len(node.shape(0)) + _count(node))
    others = node.emit("cast", node.emit("logical_not", named), dtype="int64")
    numbers = node.emit("multiply", node.emit("cumsum", others, axis=0), others)
    one, extents = node.emit_constant(np.array([1], np.int64)), node.emit("shape_of", node.input(0), dtype="int64")
    filled = node.emit("concatenate", node.make_tuple([one, extents]), axis=0)
    return _reshaped(node, node.emit("take", filled, numbers, axis=0, mode="raise"))


def _count(node: NodeView) -> int:
    """How many axes are named."""
    shape = node.shape(1)
    if len(shape) != 1 or not isinstance(shape[0], int):
        raise node.error(f"axes of shape {shape_text(shape)}: a list of known length is expected")
    return shape[0]


def _named(node: NodeView, rank: int) -> SSAValue:
    """For each of `rank` axes whether input 1 names it."""
    places = node.emit_constant(np.arange(rank), "places")
    from_end = node.emit("less", node.input(1), _integer(node, 0))
    axes = node.emit("where", from_end, node.emit("add", node.input(1), _integer(node, rank)), node.input(1))
    return node.emit("any", node.emit("equal", node.reshape(axes, (-1, 1)), places), axis=(0,))


def _integer(node: NodeView, number: int) -> SSAValue:
    return node.emit_constant(np.array(number, np.int64))


def _reshaped(node: NodeView, shape: SSAValue) -> SSAValue:
    return node.emit("dyn.reshape", node.input(0), shape, allowzero=True)
