"""CenterCropPad."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.cut import cut
from xrelay.frontend.onnx.converters.shared.extents import known_axes
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("CenterCropPad", since=18, attributes=("axes",))
def convert_center_crop_pad(node: NodeView) -> SSAValue:
    """Crops long axes around their centre, and pads short ones; an odd element is cut or added at the end."""
    rank = len(node.shape(0))
    named = node.attribute_ints("axes")
    axes = known_axes(node, tuple(range(rank)) if named is None else named, rank)
    if node.shape(1) != (len(axes),):
        raise node.error(f"{len(axes)} extents are expected, found {node.input(1).type}")
    wanted, extents = node.known_ints(1), [node.shape(0)[axis] for axis in axes]
    found = [extent for extent in extents if isinstance(extent, int)]
    if wanted is None or len(found) < len(axes) or not all(isinstance(each, int) for each in node.shape(0)):
        return _computed(node, axes)
    return _known(node, axes, found, wanted)


def _known(node: NodeView, axes: Sequence[int], found: Sequence[int], wanted: Sequence[int]) -> SSAValue:
    rank, places = len(node.shape(0)), dict[int, range]()
    widths = [0] * (2 * rank)
    for axis, extent, target in zip(axes, found, wanted, strict=True):
        if target < 0:
            raise node.error(f"an extent of {target} is expected")
        first = max(extent - target, 0) // 2
        places[axis] = range(first, first + min(extent, target))
        missing = max(target - extent, 0)
        widths[2 * axis : 2 * axis + 2] = missing // 2, missing - missing // 2
    node.require_size(wanted, 8)
    data = cut(node, node.input(0), places)
    return node.emit("nn.pad", data, node.scalar_like(0, 0), pad_width=widths) if any(widths) else data


def _computed(node: NodeView, axes: Sequence[int]) -> SSAValue:
    """`dyn.strided_slice` and `dyn.nn.pad`, with bounds computed from the extents of all axes."""
    rank = len(node.shape(0))
    shape = node.emit("shape_of", node.input(0))
    joined = node.make_tuple([shape, node.emit("cast", node.input(1), dtype="int64")])
    places = [rank + axes.index(axis) if axis in axes else axis for axis in range(rank)]
    at = node.emit_ints(places, "places")
    wanted = node.emit("take", node.emit("concatenate", joined, axis=0), at, axis=0, mode="fast")
    zero, two = node.scalar(0, wanted), node.scalar(2, wanted)
    surplus = node.emit("maximum", node.emit("subtract", shape, wanted), zero)
    first = node.emit("divide", surplus, two)
    last = node.emit("add", first, node.emit("minimum", shape, wanted))
    step = node.emit_constant(np.ones(rank, np.int64), "step")
    data = node.emit("dyn.strided_slice", node.input(0), first, last, step)
    missing = node.emit("maximum", node.emit("subtract", wanted, shape), zero)
    before = node.emit("divide", missing, two)
    widths = node.emit("stack", node.make_tuple([before, node.emit("subtract", missing, before)]), axis=1)
    return node.emit("dyn.nn.pad", data, widths, node.scalar_like(0, 0))
