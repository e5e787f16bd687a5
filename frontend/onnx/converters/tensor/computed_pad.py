"""Pad with widths or axes that are known only at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.computed_axes import extents_of, integer
from xrelay.frontend.onnx.converters.shared.extents import known_axes
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import shape_text


def padded_at_run_time(node: NodeView, value: SSAValue, mode: str) -> SSAValue:
    """`dyn.nn.pad` with the widths of every axis; for mode "wrap" a `take` of indices that wrap around.

    An axis that is not named has widths of 0; an invalid axis is an index out of range at run time.
    """
    rank, pads = len(node.shape(0)), node.emit("cast", node.input(1), dtype=i64)
    axes = range(rank) if node.optional_input(3) is None else node.known_ints(3)
    count = _axis_count(node) if axes is None else len(axes)
    if node.shape(1) != (2 * count,):
        raise node.error(f"pads of shape {shape_text(node.shape(1))} for {count} axes: two for each are expected")
    if axes is None:
        sides = [_scattered(node, pads, first, count, rank) for first in (0, count)]
    else:
        sides = [_of_every_axis(node, pads, first, known_axes(node, axes, rank), rank) for first in (0, count)]
    if mode == "wrap":
        return _wrapped(node, *sides)
    widths = node.emit("stack", node.make_tuple(sides), axis=1)
    return node.emit("dyn.nn.pad", node.input(0), widths, value, pad_mode=mode)


def _axis_count(node: NodeView) -> int:
    """The number of named axes, which are known only at run time."""
    shape = node.shape(3)
    if len(shape) != 1 or not isinstance(shape[0], int):
        raise node.error(f"axes of shape {shape_text(shape)}: a list of known length is expected")
    return shape[0]


def _of_every_axis(node: NodeView, pads: SSAValue, first: int, axes: Sequence[int], rank: int) -> SSAValue:
    """The widths on one side of every axis, 0 except for `axes`, whose widths are the pads from `first` on."""
    places = np.full(rank, 2 * len(axes), np.int64)
    places[list(axes)] = first + np.arange(len(axes))
    filled = node.emit("concatenate", node.make_tuple([pads, node.emit_constant(np.zeros(1, np.int64))]), axis=0)
    return node.emit("take", filled, node.emit_constant(places), axis=0, mode="fast")


def _scattered(node: NodeView, pads: SSAValue, first: int, count: int, rank: int) -> SSAValue:
    """The widths on one side of every axis; the `count` pads from `first` on belong to computed axes."""
    given = node.emit("strided_slice", pads, begin=(first,), end=(first + count,))
    nothing = node.emit_constant(np.zeros(rank, np.int64), "widths")
    return node.emit("scatter_elements", nothing, node.emit("cast", node.input(3), dtype=i64), given, axis=0)


def _wrapped(node: NodeView, before: SSAValue, behind: SSAValue) -> SSAValue:
    """The data repeated along each axis, from `before` elements before its start to `behind` elements after its end."""
    extents, data = extents_of(node), node.input(0)
    ends = node.emit("add", extents, behind)
    starts = node.emit("subtract", integer(node, 0), before)
    for axis in range(len(node.shape(0))):
        start, end, extent = (
            node.emit("take", each, integer(node, axis), axis=0, mode="fast") for each in (starts, ends, extents)
        )
        places = node.emit("floor_mod", node.emit("arange", start, end, integer(node, 1)), extent)
        data = node.emit("take", data, places, axis=axis, mode="fast")
    return data
