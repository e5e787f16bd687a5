"""Transpose and Pad; widths and axes may be known only at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    END_OF_AXIS,
    MICROSOFT,
    Bounds,
    Integers,
    NodeView,
    Numbers,
    axis_count,
    converts,
    cut,
    cut_open,
    extents_of,
    is_static,
    known_axes,
    numpy_dtype,
    of_every_axis,
    padded,
    scalar_input,
    shape_text,
    static_shape,
)

MODES = ("constant", "edge", "reflect", "wrap")


@converts("Transpose", attributes=("perm",))
def convert_transpose(node: NodeView) -> SSAValue:
    """`transpose`; without `perm` the axes are reversed."""
    rank = len(node.shape(0))
    axes = node.attribute_ints("perm") or tuple(reversed(range(rank)))
    if sorted(axes) != list(range(rank)):
        raise node.illegal("perm", list(axes), f"a permutation of 0…{rank - 1} is expected")
    return node.emit("transpose", node.input(0), axes=axes)


@converts("Pad", since=2, until=10, attributes=("mode", "pads", "value"))
def convert_pad_attributes(node: NodeView) -> SSAValue:
    """`nn.pad` with pads and value as attributes."""
    value = node.emit_constant(np.array(node.attribute_float("value", 0.0)).astype(numpy_dtype(node.element_type(0))))
    rank, pads = len(node.shape(0)), node.attribute_ints("pads", ()) or ()
    if len(pads) != 2 * rank:
        raise node.illegal("pads", list(pads), f"{2 * rank} integers are expected")
    return _pad(node, (pads[:rank], pads[rank:]), value)


@converts("Pad", since=11, attributes=("mode",), limits="computed pads below 0")
@converts("Pad", domain=MICROSOFT, attributes=("mode",), limits="computed pads below 0")
def convert_pad_inputs(node: NodeView) -> SSAValue:
    """`nn.pad` if pads and axes are known, else `dyn.nn.pad`; the value has the data's dtype and may be computed."""
    value = _value(node)
    return _pad(node, _sides(node), value)


def _value(node: NodeView) -> SSAValue:
    """The padding value, as a tensor of rank 0."""
    element = node.element_type(0)
    if node.optional_input(2) is None:
        return node.scalar_like(0, 0)
    if node.element_type(2) != element:
        raise node.error(f"the constant_value is {numpy_dtype(node.element_type(2))}, the data {numpy_dtype(element)}")
    if node.constant(2) is not None:
        return node.emit_constant(node.required_scalar(2, "constant_value"))
    return scalar_input(node, 2)


def _sides(node: NodeView) -> tuple[Integers, Integers]:
    """The widths before and after each axis, 0 for an axis that input 3 does not name; known if pads and axes are.

    A computed axis that is invalid is an index out of range at run time.
    """
    rank, pads = len(node.shape(0)), None
    if not node.is_computed(1) and not node.is_computed(3):
        pads = node.required_ints(1, "pads")
    given = node.emit("cast", node.input(1), dtype=i64) if pads is None else None
    axes = range(rank) if node.optional_input(3) is None else node.known_ints(3)
    count = axis_count(node, 3) if axes is None else len(axes)
    if node.shape(1) != (2 * count,):
        raise node.error(f"pads of shape {shape_text(node.shape(1))} for {count} axes: two for each are expected")
    if given is not None and axes is None:
        return _scattered(node, given, 0, count), _scattered(node, given, count, count)
    named = known_axes(node, axes or (), rank)
    before = [named.index(axis) if axis in named else 2 * count for axis in range(rank)]
    after = [min(place + count, 2 * count) for place in before]
    if given is None:
        known = (*(pads or ()), 0)
        return tuple(known[place] for place in before), tuple(known[place] for place in after)
    first, last = (of_every_axis(node, given, np.zeros(1, np.int64), places) for places in (before, after))
    return first, last


def _scattered(node: NodeView, pads: SSAValue, first: int, count: int) -> SSAValue:
    """The widths on one side of every axis; the `count` pads from `first` on belong to computed axes."""
    given = node.emit("strided_slice", pads, begin=(first,), end=(first + count,))
    nothing = node.emit_constant(np.zeros(len(node.shape(0)), np.int64), "widths")
    return node.emit("scatter_elements", nothing, node.emit("cast", node.input(3), dtype=i64), given, axis=0)


def _pad(node: NodeView, sides: tuple[Integers, Integers], value: SSAValue) -> SSAValue:
    """The data with these widths of padding before and after each axis; known negative widths cut the data."""
    mode, data = node.attribute_string("mode", "constant", MODES), node.input(0)
    before, after = sides
    if isinstance(before, tuple) and isinstance(after, tuple) and min((*before, *after), default=0) < 0:
        data = _cropped(node, list(zip(before, after, strict=True)))
        before, after = (tuple(max(width, 0) for width in side) for side in (before, after))
    if mode != "wrap":
        return padded(node, data, (before, after), value, mode)
    if isinstance(before, tuple) and isinstance(after, tuple) and (data is not node.input(0) or is_static(data.type)):
        return _wrapped(node, data, list(zip(before, after, strict=True)))
    return _wrapped_at_run_time(node, before, after)


def _cropped(node: NodeView, pairs: Sequence[tuple[int, int]]) -> SSAValue:
    """The data without the elements that negative pads remove at the ends of its axes."""
    places: dict[int, range] = {}
    bounds: dict[int, Bounds] = {}
    for axis, ((before, after), extent) in enumerate(zip(pairs, node.shape(0), strict=True)):
        if not isinstance(extent, int):
            bounds[axis] = max(-before, 0), after if after < 0 else END_OF_AXIS, 1
            continue
        first, last = -min(before, 0), extent + min(after, 0)
        if first > last:
            raise node.illegal("pads", [before, after], f"axis {axis} has {extent} elements")
        places[axis] = range(first, last)
    return cut_open(node, cut(node, node.input(0), places), bounds)


def _wrapped(node: NodeView, data: SSAValue, pairs: Sequence[tuple[int, int]]) -> SSAValue:
    """The data repeated along each axis, and cut to the padded extent."""
    shape = static_shape(node, data)
    counts: list[int] = []
    places: dict[int, range] = {}
    for axis, ((before, after), extent) in enumerate(zip(pairs, shape, strict=True)):
        if extent == 0 and before + after > 0:
            raise node.error(f"axis {axis} has no elements to pad it with")
        first = -before % extent if extent else 0
        places[axis] = range(first, first + before + extent + after)
        counts.append(-(-places[axis].stop // extent) if extent else 1)
    tiled = node.emit("tile", data, reps=tuple(counts)) if any(count != 1 for count in counts) else data
    return cut(node, tiled, places)


def _wrapped_at_run_time(node: NodeView, before: Integers, after: Integers) -> SSAValue:
    """The data repeated along each axis, from `before` elements before its start to `after` elements after its end."""
    numbers, extents, data = Numbers(node), extents_of(node), node.input(0)
    ends = node.emit("add", extents, numbers.value(after))
    starts = node.emit("subtract", numbers.value(0), numbers.value(before))
    for axis in range(len(node.shape(0))):
        if all(isinstance(side, tuple) and side[axis] == 0 for side in (before, after)):
            continue
        start, end, extent = (
            node.emit("take", each, node.emit_ints(axis), axis=0, mode="fast") for each in (starts, ends, extents)
        )
        places = node.emit("floor_mod", node.emit("arange", start, end, node.emit_ints(1)), extent)
        data = node.emit("take", data, places, axis=axis, mode="fast")
    return data
