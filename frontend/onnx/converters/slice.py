"""Slice: a part of a tensor."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.computed_slice import computed_slice
from xrelay.frontend.onnx.converters.extents import known_axes, static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Slice", until=9, attributes=("axes", "ends", "starts"))
@converts("Slice", since=10)
def convert_slice(node: NodeView) -> SSAValue:
    """A part; its bounds are attributes before opset 10, then inputs, of which each may be computed."""
    if any(node.constant(index) is None for index in (1, 2, 3, 4) if node.optional_input(index) is not None):
        return computed_slice(node)
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
