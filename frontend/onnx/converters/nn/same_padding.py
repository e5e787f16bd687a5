"""Padding that depends on dynamic extents, such as `auto_pad` SAME: the data is padded or cut instead of the window."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    END_OF_AXIS,
    Dim,
    NodeView,
    Number,
    Numbers,
    padded,
    slice_between,
)
from xrelay.frontend.onnx.converters.nn.windows import auto_pad, unpadded_window
from xrelay.index_algebra.windows import WindowAxis


def padding_is_computed(node: NodeView, kernel: Sequence[int]) -> bool:
    """Returns whether the node has SAME padding whose size depends on dynamic extents."""
    if auto_pad(node) not in ("SAME_UPPER", "SAME_LOWER"):
        return False
    axes = [WindowAxis[Dim](axis.size, axis.stride, axis.dilation) for axis in unpadded_window(node, kernel)]
    totals = [axis.padding_to_keep(extent) for axis, extent in zip(axes, node.shape(0)[2:], strict=True)]
    return not all(isinstance(total, int) for total in totals)


def padded_to_keep(node: NodeView, kernel: Sequence[int], data: SSAValue, filler: SSAValue) -> SSAValue:
    """Returns `data`, which has the shape of input 0, with SAME padding of `filler`."""
    numbers, rank = Numbers(node), len(node.shape(0))
    sides: list[tuple[Number, Number]] = [(0, 0)] * (rank - len(kernel))
    for number, axis in enumerate(unpadded_window(node, kernel), start=len(sides)):
        sides.append(_sides(numbers, numbers.extent(node.input(0), number), axis, auto_pad(node)))
    return _padded(numbers, data, sides, filler)


def cut_to_output_shape(node: NodeView, whole: SSAValue, wanted: Sequence[int], extra: Sequence[int]) -> SSAValue:
    """Returns the part of a transposed convolution that `output_shape` keeps, with trailing zeros if it is larger.

    `whole` is the result without padding, `extra` the attribute `output_padding`.
    """
    numbers, first = Numbers(node), len(node.shape(0)) - len(wanted)
    begins: list[Number] = [0] * first
    ends: list[Number] = [END_OF_AXIS] * first
    sides: list[tuple[Number, Number]] = [(0, 0)] * first
    for axis, (want, more) in enumerate(zip(wanted, extra, strict=True), start=first):
        surplus = numbers.of("subtract", numbers.extent(whole, axis), want)
        before, _ = _halves(numbers, numbers.of("maximum", numbers.of("add", surplus, more), 0), auto_pad(node))
        begins.append(before)
        ends.append(numbers.of("add", before, want))
        sides.append((0, numbers.of("maximum", numbers.of("subtract", before, surplus), 0)))
    padded = _padded(numbers, whole, sides, node.scalar(0, whole))
    steps = node.emit_ints([1] * len(begins), "steps")
    kept = slice_between(node, padded, numbers.stacked(begins), numbers.stacked(ends), steps)
    return node.emit("reshape", kept, newshape=(*(0,) * first, *wanted))


def _padded(numbers: Numbers, data: SSAValue, sides: Sequence[tuple[Number, Number]], filler: SSAValue) -> SSAValue:
    """`data` with these numbers of fillers before and after each axis."""
    before, after = (numbers.stacked(side) for side in zip(*sides, strict=True))
    return padded(numbers.node, data, (before, after), filler)


def without_padding(node: NodeView, data: SSAValue) -> NodeView:
    """Returns the node applied to padded data, without padding and `ceil_mode`, since all windows fit."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    kept = [each for each in proto.attribute if each.name not in ("auto_pad", "pads", "ceil_mode")]
    del proto.attribute[:]
    proto.attribute.extend(kept)
    return NodeView(proto, node.graph, [data, *node.inputs[1:]])


def _sides(numbers: Numbers, extent: Number, axis: WindowAxis[int], mode: str) -> tuple[Number, Number]:
    """Padding before and after an axis for which it has ceil(extent / stride) windows."""
    stride = axis.stride
    count = numbers.of("floor_divide", numbers.of("add", extent, stride - 1), stride)
    covered = numbers.of("add", numbers.of("multiply", count, stride), axis.reach - stride)
    return _halves(numbers, numbers.of("maximum", numbers.of("subtract", covered, extent), 0), mode)


def _halves(numbers: Numbers, total: Number, mode: str) -> tuple[Number, Number]:
    """`windows.halves` of a number that may be computed."""
    smaller = numbers.of("floor_divide", total, 2)
    larger = numbers.of("subtract", total, smaller)
    return (smaller, larger) if mode == "SAME_UPPER" else (larger, smaller)
