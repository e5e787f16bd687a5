"""Slice with bounds that are known only at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.frontend.onnx.converters.shared.cut import slice_between
from xrelay.frontend.onnx.converters.shared.extents import known_axes
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import certainly_differ


def computed_slice(node: NodeView) -> SSAValue:
    """`dyn.strided_slice`, with each list of bounds completed for all axes up to the last named one."""
    count = node.shape(1)[0] if len(node.shape(1)) == 1 else None
    if not isinstance(count, int):
        raise node.error(f"starts are {node.input(1).type}, a list of known length is expected")
    for index in (2, 4):
        given = (count,) if node.optional_input(index) is None else node.shape(index)
        if len(given) != 1 or certainly_differ(given[0], count):
            raise node.error(f"input #{index} is {node.input(index).type}, a list of {count} is expected, as of starts")
    if node.optional_input(3) is not None and node.known_ints(3) is None:
        return _along_computed_axes(node, count)
    rank, named = len(node.shape(0)), node.optional_setting_ints(3, "axes")
    if named is None and count > rank:
        raise node.error(f"{count} starts for a tensor of rank {rank}")
    axes = known_axes(node, tuple(range(count)) if named is None else named, rank)
    if len(axes) != count:
        raise node.error(f"{count} starts and {len(axes)} axes; one of each is expected")
    bounds = [_of_every_axis(node, index, axes, rest) for index, rest in _whole_axis(node).items()]
    begin, end, step = bounds
    return slice_between(node, node.input(0), begin, end, step)


def _along_computed_axes(node: NodeView, count: int) -> SSAValue:
    """Scatters the bounds to their axes; an invalid axis is an index out of range at run time."""
    if node.shape(3) != (count,):
        raise node.error(f"{count} starts and axes {node.input(3).type}; one of each is expected")
    rank, axes = len(node.shape(0)), node.emit("cast", node.input(3), dtype="int64")
    bounds: list[SSAValue] = []
    for index, rest in _whole_axis(node).items():
        bound, given = node.emit_constant(np.repeat(rest, rank), "bounds"), node.optional_input(index)
        if given is not None:
            bound = node.emit("scatter_elements", bound, axes, given, axis=0)
        bounds.append(bound)
    begin, end, step = bounds
    return slice_between(node, node.input(0), begin, end, step)


def _whole_axis(node: NodeView) -> Mapping[int, Array]:
    """For the input of each bound, the value that selects the whole axis, as a list."""
    dtype = numpy_dtype(node.element_type(1))
    if dtype.kind not in "iu":
        raise node.error(f"starts are {node.input(1).type}, integers are expected")
    return {index: np.array([rest], dtype) for index, rest in ((1, 0), (2, np.iinfo(dtype).max), (4, 1))}


def _of_every_axis(node: NodeView, index: int, axes: Sequence[int], rest: Array) -> SSAValue:
    """The bounds in input `index` for `axes`, and `rest` for the other axes before the last of them."""
    given, count = node.optional_input(index), max(axes, default=-1) + 1
    if given is None:
        return node.emit_constant(np.repeat(rest, count), "bounds")
    if list(axes) == list(range(count)):
        return given
    places = [axes.index(axis) if axis in axes else len(axes) for axis in range(count)]
    filled = node.emit("concatenate", node.make_tuple([given, node.emit_constant(rest, "rest")]), axis=0)
    return node.emit("take", filled, node.emit_ints(places, "places"), axis=0, mode="fast")
