"""Col2Im: the sum of the blocks of an image at their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import MAX_AXES
from xrelay.frontend.onnx.converters.definition import (
    NodeView,
    Number,
    Numbers,
    converts,
    element_type_of,
    numpy_dtype,
    rounded_once,
    shape_of,
)


@dataclass(frozen=True)
class _Axis:
    """The parameters of an axis: extents of the image and of a block, number of blocks, and attributes."""

    image: Number
    block: Number
    count: Number
    stride: int
    dilation: int
    pad: int


@converts("Col2Im", since=18, attributes=("dilations", "pads", "strides"), limits="shapes of known length")
@rounded_once
def convert_col2im(node: NodeView, x: SSAValue) -> SSAValue:
    """Adds each element of a block to its element of the image; the padding is dropped.

    The elements are the rows of a matrix, which `scatter_nd` adds to the rows of the image; row 0 collects the padding.
    """
    numbers, axes = Numbers(node), _axes(node)
    if len(shape_of(x.type)) != 3:
        raise node.error(f"(N, C * elements of a block, blocks) is expected, found {x.type}")
    size = numbers.of("multiply", *(axis.block for axis in axes))
    count = numbers.of("multiply", *(axis.count for axis in axes))
    channels = numbers.of("floor_divide", numbers.extent(x, 1), size)
    split = numbers.reshaped(x, [0, channels, size, count])
    rows = node.emit("reshape", node.emit("transpose", split, axes=(2, 3, 0, 1)), newshape=(-3, 0, 0))
    lines = numbers.of("add", numbers.of("multiply", *(axis.image for axis in axes)), 1)
    zero = np.zeros((), numpy_dtype(element_type_of(x.type)))
    zeros = numbers.filled(zero, [lines, numbers.extent(rows, 1), numbers.extent(rows, 2)], "zeros")
    total = node.emit("scatter_nd", zeros, _image_rows(node, axes), rows, mode="add")
    kept = node.emit("take", total, numbers.arange(1, lines), axis=0, mode="fast")
    return numbers.reshaped(node.emit("transpose", kept, axes=(1, 2, 0)), [0, 0, *(axis.image for axis in axes)])


def _axes(node: NodeView) -> list[_Axis]:
    """The parameters of each axis, from inputs and attributes."""
    numbers = Numbers(node)
    images, blocks = numbers.input(1), numbers.input(2)
    if not images or blocks is None or len(blocks) != len(images):
        found = f"{node.input(1).type} and {node.input(2).type}"
        raise node.error(f"image and block must have an extent for each axis, found {found}")
    rank = len(images)
    if 2 * rank > MAX_AXES:
        raise node.error(f"an image of {rank} axes; at most {MAX_AXES // 2} are supported")
    strides, dilations = (node.attribute_ints(name, (1,) * rank) or () for name in ("strides", "dilations"))
    pads = node.attribute_ints("pads", (0,) * (2 * rank)) or ()
    if (len(strides), len(dilations), len(pads)) != (rank, rank, 2 * rank) or min(*strides, *dilations) < 1:
        raise node.error(f"strides {list(strides)}, dilations {list(dilations)} and pads {list(pads)} of {rank} axes")
    if any(isinstance(extent, int) and extent < 1 for extent in (*images, *blocks)):
        raise node.error(f"an image of {node.known_ints(1)} and blocks of {node.known_ints(2)}")
    axes: list[_Axis] = []
    for axis, (image, block) in enumerate(zip(images, blocks, strict=True)):
        reach = numbers.of("multiply", numbers.of("subtract", block, 1), dilations[axis])
        room = numbers.of("subtract", numbers.of("add", image, pads[axis] + pads[axis + rank] - 1), reach)
        steps = numbers.of("floor_divide", room, strides[axis])
        count = numbers.of("maximum", numbers.of("add", steps, 1), 0)
        axes.append(_Axis(image, block, count, strides[axis], dilations[axis], pads[axis]))
    return axes


def _image_rows(node: NodeView, axes: Sequence[_Axis]) -> SSAValue:
    """The image row of each element of each block, as a list ordered by element, then by block."""
    numbers, rank = Numbers(node), 2 * len(axes)
    total, is_outside = numbers.value(0), node.emit_constant(np.array(False))
    for number, axis in enumerate(axes):
        within = _along(node, axis.block, axis.dilation, rank - number)
        start = _along(node, axis.count, axis.stride, rank - number - len(axes))
        place = node.emit("subtract", node.emit("add", within, start), numbers.value(axis.pad))
        image = numbers.value(axis.image)
        total = node.emit("add", node.emit("multiply", total, image), place)
        for beyond in (node.emit("less", place, numbers.value(0)), node.emit("greater_equal", place, image)):
            is_outside = node.emit("logical_or", is_outside, beyond)
    rows = node.emit("where", is_outside, numbers.value(0), node.emit("add", total, numbers.value(1)))
    return node.emit("reshape", rows, newshape=(1, -1))


def _along(node: NodeView, count: Number, step: int, rank: int) -> SSAValue:
    """The `count` numbers 0, `step`, … along the first axis of a tensor of rank `rank`."""
    numbers = Numbers(node)
    found = node.emit("multiply", numbers.arange(0, count), numbers.value(step))
    return node.emit("expand_dims", found, axis=1, num_newaxis=rank - 1) if rank > 1 else found
