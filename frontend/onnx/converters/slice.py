"""Slice, at bounds that are known."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.extents import known_axis, static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Slice", since=1, until=9, attributes=("axes", "ends", "starts"))
def convert_slice_attributes(node: NodeView) -> SSAValue:
    """A part, its bounds as attributes."""
    starts = node.attribute_ints("starts", ()) or ()
    axes = node.attribute_ints("axes") or tuple(range(len(starts)))
    return _slice(node, starts, node.attribute_ints("ends", ()) or (), axes, (1,) * len(starts))


@converts("Slice", since=10, limits="constant bounds")
def convert_slice_inputs(node: NodeView) -> SSAValue:
    """A part, its bounds as constant inputs."""
    starts, ends = node.required_ints(1, "starts"), node.required_ints(2, "ends")
    axes, steps = tuple(range(len(starts))), (1,) * len(starts)
    if node.optional_input(3) is not None:
        axes = node.required_ints(3, "axes")
    if node.optional_input(4) is not None:
        steps = node.required_ints(4, "steps")
    return _slice(node, starts, ends, axes, steps)


def _slice(
    node: NodeView, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], steps: Sequence[int]
) -> SSAValue:
    shape = static_shape(node, node.input(0))
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise node.error(
            f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes and {len(steps)} steps; one of each is expected"
        )
    distinct = [known_axis(node, axis, len(shape)) for axis in axes]
    if len(set(distinct)) != len(distinct):
        raise node.illegal("axes", list(axes), "every axis may be named once")
    if 0 in steps:
        raise node.error("a step of Slice is 0")
    bounds = zip(starts, ends, distinct, steps, strict=True)
    return cut(node, node.input(0), {axis: _places(start, end, step, shape[axis]) for start, end, axis, step in bounds})


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
