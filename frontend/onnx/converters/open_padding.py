"""auto_pad SAME over axes whose extents only the run tells: the data is padded instead of the window."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.numbers import Number, Numbers
from xrelay.frontend.onnx.converters.windows import auto_pad, unpadded_window
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis


def padding_is_computed(node: NodeView, kernel: Sequence[int]) -> bool:
    """Whether the node asks for SAME, and how much that is depends on extents that have no number yet."""
    if auto_pad(node) not in ("SAME_UPPER", "SAME_LOWER"):
        return False
    axes = [WindowAxis[Dim](axis.size, axis.stride, axis.dilation) for axis in unpadded_window(node, kernel)]
    totals = [axis.padding_to_keep(extent) for axis, extent in zip(axes, node.shape(0)[2:], strict=True)]
    return not all(isinstance(total, int) for total in totals)


def padded_to_keep(node: NodeView, kernel: Sequence[int], data: SSAValue, filler: SSAValue) -> SSAValue:
    """`data`, of the shape of input 0, with as many fillers around it as SAME asks for."""
    numbers, rank = Numbers(node), len(node.shape(0))
    sides: list[tuple[Number, Number]] = [(0, 0)] * (rank - len(kernel))
    for number, axis in enumerate(unpadded_window(node, kernel), start=len(sides)):
        sides.append(_sides(numbers, numbers.extent(node.input(0), number), axis, auto_pad(node)))
    columns = [numbers.stacked(side) for side in zip(*sides, strict=True)]
    return node.emit("dyn.nn.pad", data, node.emit("stack", node.make_tuple(columns), axis=1), filler)


def without_padding(node: NodeView, data: SSAValue) -> NodeView:
    """The node on data that is padded already, where all windows fit and none sticks out."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    kept = [each for each in proto.attribute if each.name not in ("auto_pad", "pads", "ceil_mode")]
    del proto.attribute[:]
    proto.attribute.extend(kept)
    return NodeView(proto, node.graph, [data, *node.inputs[1:]])


def _sides(numbers: Numbers, extent: Number, axis: WindowAxis[int], mode: str) -> tuple[Number, Number]:
    """Padding before and after an axis, so that it has ceil(extent / stride) windows."""
    stride = axis.stride
    count = numbers.of("floor_divide", numbers.of("add", extent, stride - 1), stride)
    covered = numbers.of("add", numbers.of("multiply", count, stride), axis.reach - stride)
    total = numbers.of("maximum", numbers.of("subtract", covered, extent), 0)
    smaller = numbers.of("floor_divide", total, 2)
    larger = numbers.of("subtract", total, smaller)
    return (smaller, larger) if mode == "SAME_UPPER" else (larger, smaller)
