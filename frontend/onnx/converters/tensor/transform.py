"""Transpose and Pad; widths and axes may be known only at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import is_static
from xrelay.frontend.onnx.converters.shared.axes import axis_count, extents_of, of_every_axis
from xrelay.frontend.onnx.converters.shared.cut import LAST, Bounds, cut, cut_open
from xrelay.frontend.onnx.converters.shared.extents import known_axes, known_axis, static_shape
from xrelay.frontend.onnx.converters.shared.numbers import scalar_input
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts
from xrelay.index_algebra.dims import shape_text

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
    return _pad(node, node.attribute_ints("pads", ()) or (), value)


@converts("Pad", since=11, attributes=("mode",), limits="computed pads below 0")
@converts("Pad", domain=MICROSOFT, attributes=("mode",), limits="computed pads below 0")
def convert_pad_inputs(node: NodeView) -> SSAValue:
    """`nn.pad` if pads and axes are known, else `dyn.nn.pad`; the value has the data's dtype and may be computed."""
    value = _value(node)
    if node.is_computed(1) or node.is_computed(3):
        return _padded_at_run_time(node, value, node.attribute_string("mode", "constant", MODES))
    pads = node.required_ints(1, "pads")
    if node.optional_input(3) is not None:
        pads = _pads_of_all_axes(node, pads, node.required_ints(3, "axes"))
    return _pad(node, pads, value)


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


def _pads_of_all_axes(node: NodeView, pads: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    rank = len(node.shape(0))
    known = [known_axis(node, axis, rank) for axis in axes]
    if len(set(known)) != len(known) or len(pads) != 2 * len(known):
        raise node.error(f"axes {list(axes)} with pads {list(pads)}: distinct axes and two pads for each are expected")
    whole = [0] * (2 * rank)
    for position, axis in enumerate(known):
        whole[axis] = pads[position]
        whole[axis + rank] = pads[position + len(known)]
    return tuple(whole)


def _pad(node: NodeView, pads: tuple[int, ...], value: SSAValue) -> SSAValue:
    rank = len(node.shape(0))
    mode = node.attribute_string("mode", "constant", MODES)
    if len(pads) != 2 * rank:
        raise node.illegal("pads", list(pads), f"{2 * rank} integers are expected")
    pairs = [(pads[axis], pads[axis + rank]) for axis in range(rank)]
    data = _cropped(node, pairs) if any(pad < 0 for pad in pads) else node.input(0)
    pairs = [(max(before, 0), max(after, 0)) for before, after in pairs]
    if mode == "wrap" and not is_static(data.type) and min(pads, default=0) >= 0:
        return _padded_at_run_time(node, value, mode)
    if mode == "wrap":
        return _wrapped(node, data, pairs)
    interleaved = tuple(pad for pair in pairs for pad in pair)
    return node.emit("nn.pad", data, value, pad_width=interleaved, pad_mode=mode)


def _cropped(node: NodeView, pairs: Sequence[tuple[int, int]]) -> SSAValue:
    """The data without the elements that negative pads remove at the ends of its axes."""
    places: dict[int, range] = {}
    bounds: dict[int, Bounds] = {}
    for axis, ((before, after), extent) in enumerate(zip(pairs, node.shape(0), strict=True)):
        if not isinstance(extent, int):
            bounds[axis] = max(-before, 0), after if after < 0 else LAST, 1
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


def _padded_at_run_time(node: NodeView, value: SSAValue, mode: str) -> SSAValue:
    """`dyn.nn.pad` with the widths of every axis; for mode "wrap" a `take` of indices that wrap around.

    An axis that is not named has widths of 0; an invalid axis is an index out of range at run time.
    """
    rank, pads = len(node.shape(0)), node.emit("cast", node.input(1), dtype=i64)
    axes = range(rank) if node.optional_input(3) is None else node.known_ints(3)
    count = axis_count(node, 3) if axes is None else len(axes)
    if node.shape(1) != (2 * count,):
        raise node.error(f"pads of shape {shape_text(node.shape(1))} for {count} axes: two for each are expected")
    if axes is None:
        sides = [_scattered(node, pads, first, count, rank) for first in (0, count)]
    else:
        named, rest = known_axes(node, axes, rank), 2 * count
        before = [named.index(axis) if axis in named else rest for axis in range(rank)]
        after = [min(place + count, rest) for place in before]
        sides = [of_every_axis(node, pads, np.zeros(1, np.int64), places) for places in (before, after)]
    if mode == "wrap":
        return _wrapped_at_run_time(node, *sides)
    widths = node.emit("stack", node.make_tuple(sides), axis=1)
    return node.emit("dyn.nn.pad", node.input(0), widths, value, pad_mode=mode)


def _scattered(node: NodeView, pads: SSAValue, first: int, count: int, rank: int) -> SSAValue:
    """The widths on one side of every axis; the `count` pads from `first` on belong to computed axes."""
    given = node.emit("strided_slice", pads, begin=(first,), end=(first + count,))
    nothing = node.emit_constant(np.zeros(rank, np.int64), "widths")
    return node.emit("scatter_elements", nothing, node.emit("cast", node.input(3), dtype=i64), given, axis=0)


def _wrapped_at_run_time(node: NodeView, before: SSAValue, after: SSAValue) -> SSAValue:
    """The data repeated along each axis, from `before` elements before its start to `after` elements after its end."""
    extents, data = extents_of(node), node.input(0)
    ends = node.emit("add", extents, after)
    starts = node.emit("subtract", node.emit_ints(0), before)
    for axis in range(len(node.shape(0))):
        start, end, extent = (
            node.emit("take", each, node.emit_ints(axis), axis=0, mode="fast") for each in (starts, ends, extents)
        )
        places = node.emit("floor_mod", node.emit("arange", start, end, node.emit_ints(1)), extent)
        data = node.emit("take", data, places, axis=axis, mode="fast")
    return data
