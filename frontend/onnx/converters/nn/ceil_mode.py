"""`ceil_mode` of pools: the last window may extend past the padded data, but no window starts in the end padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.converters.shared.cut import LAST, cut, slice_between
from xrelay.frontend.onnx.converters.shared.numbers import Number, Numbers
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.windows import WindowAxis

_FIRST_SPATIAL = 2


def rounds_up(node: NodeView, window: Sequence[WindowAxis[int]]) -> bool:
    """Returns whether the attribute `ceil_mode` may add a window along some axis of input 0."""
    if not node.attribute_flag("ceil_mode"):
        return False
    extents = node.shape(0)[_FIRST_SPATIAL:]
    return not all(
        isinstance(extent, int) and axis.room(extent) % axis.stride == 0
        for axis, extent in zip(window, extents, strict=True)
    )


def without_empty_windows(node: NodeView, pooled: SSAValue, window: Sequence[WindowAxis[int]]) -> SSAValue:
    """Returns `pooled` without the windows that start in the end padding, which Relay's `ceil_mode` includes.

    `pooled` is the pool of input 0 with `ceil_mode`. A window starts in the end padding only if the padding and the
    stride together exceed the reach of the window.
    """
    ends: dict[int, Number] = {}
    for number, axis in enumerate(window, start=_FIRST_SPATIAL):
        if axis.after + axis.stride > axis.reach:
            ends[number] = _starts_before_end(Numbers(node), node.input(0), number, axis)
    known = {axis: end for axis, end in ends.items() if isinstance(end, int)}
    for axis in known:
        del ends[axis]
    counts = shape_of(pooled.type)
    fitting = {axis: range(min(end, count)) for axis, end in known.items() if isinstance(count := counts[axis], int)}
    value = cut(node, pooled, fitting)
    if not ends:
        return value
    numbers, axes = Numbers(node), range(max(ends) + 1)
    begin, step = (node.emit_ints([number] * len(axes), "bounds") for number in (0, 1))
    return slice_between(node, value, begin, numbers.stacked([ends.get(axis, LAST) for axis in axes]), step)


def _starts_before_end(numbers: Numbers, data: SSAValue, number: int, axis: WindowAxis[int]) -> Number:
    """The number of window positions, one stride apart, that start before the end of axis `number` of `data`."""
    extent = numbers.of("add", numbers.extent(data, number), axis.before + axis.stride - 1)
    return numbers.of("floor_divide", extent, axis.stride)
