"""Slice: a part of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.converters.extents import known_axes, static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Slice", since=10, limits="native code: constant bounds")
def convert_slice_inputs(node: NodeView) -> SSAValue:
    """A part, its bounds as inputs; `dyn.strided_slice` where one of them is computed."""
    given = [index for index in (1, 2, 4) if node.optional_input(index) is not None]
    if any(node.constant(index) is None for index in given):
        return _computed_slice(node)
    return _slice(node)


@converts("Slice", until=9, attributes=("axes", "ends", "starts"))
def convert_slice_attributes(node: NodeView) -> SSAValue:
    """A part, its bounds as attributes."""
    return _slice(node)


def _slice(node: NodeView) -> SSAValue:
    """A part at bounds that are known."""
    shape, axes = static_shape(node, node.input(0)), node.optional_setting_ints(3, "axes")
    starts, ends = node.setting_ints(1, "starts"), node.setting_ints(2, "ends")
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = node.optional_setting_ints(4, "steps") or (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise node.error(
            f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes and {len(steps)} steps; one of each is expected"
        )
    if 0 in steps:
        raise node.error("a step of Slice is 0")
    bounds = zip(starts, ends, known_axes(node, axes, len(shape)), steps, strict=True)
    return cut(node, node.input(0), {axis: _places(start, end, step, shape[axis]) for start, end, axis, step in bounds})


def _computed_slice(node: NodeView) -> SSAValue:
    """A part whose bounds the run says: each list of bounds is filled up for the axes in front of the last one."""
    count = node.shape(1)[0] if len(node.shape(1)) == 1 else None
    if not isinstance(count, int):
        raise node.error(f"starts are {node.input(1).type}, a list of known length is expected")
    named = node.optional_setting_ints(3, "axes")
    axes = known_axes(node, tuple(range(count)) if named is None else named, len(node.shape(0)))
    if len(axes) != count:
        raise node.error(f"{count} starts and {len(axes)} axes; one of each is expected")
    dtype = numpy_dtype(node.element_type(1))
    bounds = [
        _of_every_axis(node, index, axes, np.array([rest], dtype))
        for index, rest in ((1, 0), (2, np.iinfo(dtype).max), (4, 1))
    ]
    return node.emit("dyn.strided_slice", node.input(0), *bounds)


def _of_every_axis(node: NodeView, index: int, axes: Sequence[int], rest: Array) -> SSAValue:
    """The bounds that input `index` says of `axes`, and `rest` for the others in front of the last of those."""
    given, count = node.optional_input(index), max(axes, default=-1) + 1
    if given is None:
        return node.emit_constant(np.repeat(rest, count), "bounds")
    if list(axes) == list(range(count)):
        return given
    places = [axes.index(axis) if axis in axes else len(axes) for axis in range(count)]
    filled = node.emit("concatenate", node.make_tuple([given, node.emit_constant(rest, "rest")]), axis=0)
    return node.emit("take", filled, node.emit_constant(np.array(places, np.int64), "places"), axis=0, mode="fast")


def cut(node: NodeView, value: SSAValue, places: dict[int, range]) -> SSAValue:
    """The elements at these places of each axis that is named, an axis of known extent."""
    shape = static_shape(node, value)
    chosen = {axis: each for axis, each in places.items() if each != range(shape[axis])}
    if not chosen:
        return value
    # Backwards to the first place ends before it, which as a bound is behind the end counted from there.
    ends = [each.stop if each.stop >= 0 else -shape[axis] - 1 for axis, each in chosen.items()]
    return node.emit(
        "strided_slice",
        value,
        begin=[each.start for each in chosen.values()],
        end=ends,
        strides=[each.step for each in chosen.values()],
        axes=tuple(chosen),
    )


def _places(start: int, end: int, step: int, extent: int) -> range:
    """The places from `start` to `end`, clamped as ONNX clamps them: backwards, `start` is an element at least."""
    first, last = (bound + extent if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(min(max(first, 0), extent), min(max(last, 0), extent), step)
    return range(max(min(first, extent - 1), 0), max(min(last, extent - 1), -1), step) if extent else range(0)
