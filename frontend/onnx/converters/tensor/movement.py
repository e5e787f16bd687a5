"""Slice, Expand, Tile, Trilu and ReverseSequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    Array,
    Bounds,
    NodeView,
    certainly_differ,
    converts,
    cut,
    cut_open,
    is_static,
    known_axes,
    known_axis,
    numpy_dtype,
    of_every_axis,
    shape_of,
    slice_between,
    static_shape,
)


@converts("Slice", until=9, attributes=("axes", "ends", "starts"))
@converts("Slice", since=10)
def convert_slice(node: NodeView) -> SSAValue:
    """A slice; the bounds are attributes before opset 10, then inputs, which may be computed."""
    if any(node.constant(index) is None for index in (1, 2, 3, 4) if node.optional_input(index) is not None):
        return _slice_between_values(node)
    bounds, shape = _constant_bounds(node), node.shape(0)
    known = {axis: extent for axis, extent in enumerate(shape) if axis in bounds and isinstance(extent, int)}
    value = cut(node, node.input(0), {axis: _slice_indices(bounds[axis], extent) for axis, extent in known.items()})
    return cut_open(node, value, {axis: bound for axis, bound in bounds.items() if axis not in known})


def _constant_bounds(node: NodeView) -> dict[int, Bounds]:
    """The constant bounds of each named axis."""
    axes = node.optional_setting_ints(3, "axes")
    starts, ends = node.setting_ints(1, "starts"), node.setting_ints(2, "ends")
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = node.optional_setting_ints(4, "steps") or (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise node.error(
            f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes and {len(steps)} steps; one of each is expected"
        )
    if 0 in steps:
        raise node.error("a step of Slice is 0")
    return dict(zip(known_axes(node, axes, len(node.shape(0))), zip(starts, ends, steps, strict=True), strict=True))


def _slice_indices(bounds: Bounds, extent: int) -> range:
    """The indices from `start` to `end`, clamped as in ONNX: for negative steps, `start` is at least element 0."""
    start, end, step = bounds
    first, last = (bound + extent if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(min(max(first, 0), extent), min(max(last, 0), extent), step)
    return range(max(min(first, extent - 1), 0), max(min(last, extent - 1), -1), step) if extent else range(0)


def _slice_between_values(node: NodeView) -> SSAValue:
    """`dyn.strided_slice`, with each list of bounds completed for all axes up to the last named one.

    If the axes are known only at run time, the bounds are scattered to them; an invalid axis is an index out of range.
    """
    count = node.shape(1)[0] if len(node.shape(1)) == 1 else None
    if not isinstance(count, int):
        raise node.error(f"starts are {node.input(1).type}, a list of known length is expected")
    for index in (2, 4):
        given = (count,) if node.optional_input(index) is None else node.shape(index)
        if len(given) != 1 or certainly_differ(given[0], count):
            raise node.error(f"input #{index} is {node.input(index).type}, a list of {count} is expected, as of starts")
    axes = _named_axes(node, count)
    dtype = numpy_dtype(node.element_type(1))
    if dtype.kind not in "iu":
        raise node.error(f"starts are {node.input(1).type}, integers are expected")
    whole = ((1, 0), (2, np.iinfo(dtype).max), (4, 1))
    begin, end, step = (_bound(node, index, axes, np.array([rest], dtype)) for index, rest in whole)
    return slice_between(node, node.input(0), begin, end, step)


def _named_axes(node: NodeView, count: int) -> list[int] | SSAValue:
    """The axes of the bounds, the first ones by default; a value if they are known only at run time."""
    if node.optional_input(3) is not None and node.known_ints(3) is None:
        if node.shape(3) != (count,):
            raise node.error(f"{count} starts and axes {node.input(3).type}; one of each is expected")
        return node.emit("cast", node.input(3), dtype="int64")
    rank, named = len(node.shape(0)), node.optional_setting_ints(3, "axes")
    if named is None and count > rank:
        raise node.error(f"{count} starts for a tensor of rank {rank}")
    axes = known_axes(node, tuple(range(count)) if named is None else named, rank)
    if len(axes) != count:
        raise node.error(f"{count} starts and {len(axes)} axes; one of each is expected")
    return axes


def _bound(node: NodeView, index: int, axes: list[int] | SSAValue, rest: Array) -> SSAValue:
    """The bounds in input `index` at their axes, and `rest`, which selects a whole axis, at the others."""
    given = node.optional_input(index)
    if isinstance(axes, SSAValue):
        bound = node.emit_constant(np.repeat(rest, len(node.shape(0))), "bounds")
        return bound if given is None else node.emit("scatter_elements", bound, axes, given, axis=0)
    count = max(axes, default=-1) + 1
    if given is None:
        return node.emit_constant(np.repeat(rest, count), "bounds")
    if axes == list(range(count)):
        return given
    places = [axes.index(axis) if axis in axes else len(axes) for axis in range(count)]
    return of_every_axis(node, given, rest, places)


@converts("Expand", since=8, limits="shape of known length")
def convert_expand(node: NodeView) -> SSAValue:
    """Bidirectional broadcast to a shape; `dyn.broadcast_to` if one of the shapes is not known."""
    if node.constant(1) is None or not is_static(node.input(0).type):
        return node.emit("dyn.broadcast_to", node.input(0), node.input(1))
    wanted = node.required_ints(1, "shape")
    shape = (1,) * (len(wanted) - len(static_shape(node, node.input(0)))) + static_shape(node, node.input(0))
    wanted = (1,) * (len(shape) - len(wanted)) + wanted
    if any(new < 0 or (old != 1 and new not in (1, old)) for old, new in zip(shape, wanted, strict=True)):
        raise node.error(f"shapes {shape} and {wanted} do not broadcast")
    target = tuple(new if old == 1 else old for old, new in zip(shape, wanted, strict=True))
    _check_size(node, target)
    return node.emit("broadcast_to", node.input(0), shape=target)


@converts("Tile", since=6, limits="repeats of known length")
def convert_tile(node: NodeView) -> SSAValue:
    """`tile`; `dyn.tile` if the repeats or the shape are not known."""
    if node.constant(1) is None or not is_static(node.input(0).type):
        repeats = node.input(1)
        if shape_of(repeats.type) != (len(node.shape(0)),):
            raise node.error(f"repeats {repeats.type} do not suit rank {len(node.shape(0))}")
        return node.emit("dyn.tile", node.input(0), repeats)
    counts, shape = node.required_ints(1, "repeats"), static_shape(node, node.input(0))
    if len(counts) != len(shape) or any(count < 0 for count in counts):
        raise node.error(f"repeats {list(counts)} do not suit rank {len(shape)}")
    _check_size(node, [count * extent for count, extent in zip(counts, shape, strict=True)])
    return node.emit("tile", node.input(0), reps=counts) if any(count != 1 for count in counts) else node.input(0)


def _check_size(node: NodeView, shape: Sequence[int]) -> None:
    """Raises an error for a result above the limit of constants: a few bytes of a model may request gigabytes."""
    node.require_size(tuple(shape), numpy_dtype(node.element_type(0)).itemsize)


@converts("Trilu", since=14, attributes=("upper",))
@converts("Trilu", domain=MICROSOFT, attributes=("upper",))
def convert_trilu(node: NodeView) -> SSAValue:
    """`trilu`, at the main diagonal by default."""
    k = node.emit_constant(np.zeros((), np.int64), "k")
    if (given := node.optional_input(1)) is not None:
        k = node.reshape(given, [])
    return node.emit("trilu", node.input(0), k, upper=node.attribute_flag("upper", True))


@converts("ReverseSequence", since=10, attributes=("batch_axis", "time_axis"))
def convert_reverse_sequence(node: NodeView) -> SSAValue:
    """`reverse_sequence`; batch and time are the first two axes."""
    rank = len(node.shape(0))
    time = known_axis(node, node.attribute_int("time_axis", 0), rank)
    batch = known_axis(node, node.attribute_int("batch_axis", 1), rank)
    return node.emit("reverse_sequence", node.input(0), node.input(1), seq_axis=time, batch_axis=batch)
