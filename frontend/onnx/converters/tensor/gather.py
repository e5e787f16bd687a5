"""Gather, GatherElements and GatherND, elements at indices that may be computed, and OneHot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness, i64
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    Array,
    NodeView,
    axis_attribute,
    converts,
    cut,
    known_axis,
    shape_of,
)


@converts("Gather", attributes=("axis",))
def convert_gather(node: NodeView) -> SSAValue:
    """Slices at indices; constant indices are checked here, and evenly spaced ones become a strided slice."""
    shape = node.shape(0)
    axis = known_axis(node, node.attribute_int("axis", 0), len(shape))
    indices, extent = node.constant(1), shape[axis]
    if indices is None or not isinstance(extent, int):
        return node.emit("take", node.input(0), node.input(1), axis=axis, mode="raise")
    places = _checked(node, indices, axis, extent)
    is_static = all(isinstance(dim, int) for dim in shape)
    even = _as_range([int(place) for place in places.reshape(-1)]) if is_static else None
    if even is None:
        known = node.input(1) if places is indices else node.emit_constant(places, "indices")
        return node.emit("take", node.input(0), known, axis=axis, mode="fast")
    part = cut(node, node.input(0), {axis: even})
    rest = [int(dim) for dim in shape_of(part.type) if isinstance(dim, int)]
    return part if places.ndim == 1 else node.reshape(part, (*rest[:axis], *places.shape, *rest[axis + 1 :]))


def _as_range(indices: Sequence[int]) -> range | None:
    """The indices as a range if they are evenly spaced; `None` otherwise."""
    if len(indices) < 2:
        return range(indices[0], indices[0] + 1) if indices else range(0)
    step = indices[1] - indices[0]
    even = range(indices[0], indices[0] + step * len(indices), step) if step else None
    return even if even is not None and list(even) == list(indices) else None


def _checked(node: NodeView, indices: Array, axis: int, extent: int) -> Array:
    """Constant indices as nonnegative numbers; raises an error if one is out of range."""
    if indices.dtype.kind not in "iu":
        raise node.error(f"input #1 (indices) must be integers, found {indices.dtype}{list(indices.shape)}")
    wrong = indices[(indices < -extent) | (indices >= extent)]
    if wrong.size:
        raise node.error(f"index {wrong[0]} of axis {axis}, of extent {extent}, is out of range")
    # A narrow type may not represent the extent.
    return np.where(indices < 0, indices.astype(np.int64) + extent, indices) if (indices < 0).any() else indices


@converts("GatherElements", since=11, attributes=("axis",))
def convert_gather_elements(node: NodeView) -> SSAValue:
    """Elements at indices along one axis, and at their own positions along the others."""
    axis = axis_attribute(node, 0)
    return node.emit("gather", node.input(0), node.input(1), axis=axis)


@converts("GatherND", since=11, until=11)
@converts("GatherND", since=12, attributes=("batch_dims",))
@converts("GatherND", domain=MICROSOFT)
def convert_gather_nd(node: NodeView) -> SSAValue:
    """Slices at tuples of indices, which are along the first axis in Relay and along the last in ONNX."""
    batch = node.attribute_int("batch_dims", 0)
    return node.emit("gather_nd", node.input(0), tuples_first(node), batch_dims=batch)


def tuples_first(node: NodeView) -> SSAValue:
    """Returns input 1, the indices, with the components of an index along the first axis."""
    rank = len(node.shape(1))
    if rank == 0:
        raise node.error("input #1 (indices) must have an axis for the parts of an index, found a scalar")
    return node.emit("transpose", node.input(1), axes=(rank - 1, *range(rank - 1)))


@converts("OneHot", since=9, attributes=("axis",))
def convert_one_hot(node: NodeView) -> SSAValue:
    """The second value at the position along the new axis that equals the index, else the first."""
    axis = known_axis(node, node.attribute_int("axis", -1), len(node.shape(0)) + 1)
    if node.shape(1) not in ((), (1,)):
        raise node.error(f"input #1 (depth) must be one number, found {node.input(1).type}")
    off, on = (_one_of_two(node, index) for index in range(2))
    if node.is_computed(1):
        return _of_computed_depth(node, axis, on, off)
    depth = node.required_int(1, "depth")
    if depth < 0:
        raise node.error(f"input #1 (depth) must not be negative, found {depth}")
    return node.emit("one_hot", _from_the_front(node, _integer(node, depth)), on, off, depth=depth, axis=axis)


def _of_computed_depth(node: NodeView, axis: int, on: SSAValue, off: SSAValue) -> SSAValue:
    """Comparison of the indices with the positions along an axis whose extent is known only at run time."""
    depth = node.emit("cast", node.reshape(node.input(1), ()), dtype=i64)
    ones = node.emit("dyn.full", _integer(node, 1), node.emit("expand_dims", depth, axis=0))
    places = node.emit("cumsum", ones, axis=0, exclusive=True)
    trailing = len(node.shape(0)) - axis
    indices = node.emit("cast", _from_the_front(node, depth), dtype=i64)
    is_place = node.emit(
        "equal",
        node.emit("expand_dims", indices, axis=axis),
        node.emit("expand_dims", places, axis=1, num_newaxis=trailing),
    )
    return node.emit("where", is_place, on, off)


def _from_the_front(node: NodeView, depth: SSAValue) -> SSAValue:
    """The indices as integers; from opset 11 on negative ones count from the end."""
    indices, element = node.input(0), node.element_type(0)
    if not isinstance(element, IntegerType):
        indices, element = node.emit("cast", indices, dtype=i64), i64
    if element.signedness.data == Signedness.UNSIGNED or node.opset < 11:
        return indices
    # A narrow type may not represent the depth.
    indices = indices if element == i64 else node.emit("cast", indices, dtype=i64)
    negative = node.emit("less", indices, _integer(node, 0))
    return node.emit("where", negative, node.emit("add", indices, depth), indices)


def _integer(node: NodeView, number: int) -> SSAValue:
    return node.emit_ints(number)


def _one_of_two(node: NodeView, index: int) -> SSAValue:
    """One of the two values, as a scalar."""
    if len(node.shape(2)) != 1:
        raise node.error(f"input #2 (values) must be a list of two, found {node.input(2).type}")
    place = node.emit_ints(index, f"value_{index}")
    return node.emit("take", node.input(2), place, axis=0, mode="clip")
