"""Slice."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.cut import Bounds, cut, cut_open
from xrelay.frontend.onnx.converters.shared.extents import known_axes
from xrelay.frontend.onnx.converters.tensor.computed_slice import computed_slice
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Slice", until=9, attributes=("axes", "ends", "starts"))
@converts("Slice", since=10)
def convert_slice(node: NodeView) -> SSAValue:
    """A slice; the bounds are attributes before opset 10, then inputs, which may be computed."""
    if any(node.constant(index) is None for index in (1, 2, 3, 4) if node.optional_input(index) is not None):
        return computed_slice(node)
    bounds, shape = _constant_bounds(node), node.shape(0)
    known = {axis: extent for axis, extent in enumerate(shape) if axis in bounds and isinstance(extent, int)}
    value = cut(node, node.input(0), {axis: _places(bounds[axis], extent) for axis, extent in known.items()})
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


def _places(bounds: Bounds, extent: int) -> range:
    """The indices from `start` to `end`, clamped as in ONNX: for negative steps, `start` is at least element 0."""
    start, end, step = bounds
    first, last = (bound + extent if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(min(max(first, 0), extent), min(max(last, 0), extent), step)
    return range(max(min(first, extent - 1), 0), max(min(last, extent - 1), -1), step) if extent else range(0)
