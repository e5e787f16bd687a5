"""DeformConv: a convolution whose window is sampled at places that an input moves."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.converters.extents import static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES, check_size

_ATTRIBUTES = ("dilations", "group", "kernel_shape", "offset_group", "pads", "strides")


@converts("DeformConv", since=19, attributes=_ATTRIBUTES, limits="images of known extents")
def convert_deform_conv(node: NodeView) -> SSAValue:
    """`image.grid_sample` at the window's places, zeros outside, and one product with the weights for each group."""
    shape, weight, moved = (static_shape(node, node.input(index)) for index in range(3))
    parts, group = _positive(node, "offset_group"), _positive(node, "group")
    if not len(shape) == len(weight) == len(moved) == 4:
        raise node.error(f"images are expected, found {node.input(0).type}")
    (n, c, h, w), (filters, depth, rows, columns) = shape, weight
    taps, (height, width) = rows * columns, moved[2:]
    if (c, moved[1]) != (depth * group, 2 * parts * taps) or c % parts or filters % group:
        raise node.error(f"{group} groups and {parts} offset groups of {list(shape)}, {list(weight)} and {list(moved)}")
    dtype = numpy_dtype(node.element_type(0))
    offsets = node.reshape(node.input(2), (n * parts, taps, 2, height, width))
    places = node.emit("add", offsets, node.emit_constant(_places(node, weight[2:], moved[2:]).astype(dtype), "window"))
    # From numbers of elements to the grid's places, whose -1 and 1 are the outermost elements; of one element alone
    # there would be no way between them, so that a zero follows, as outside.
    one, sizes = node.scalar(1, places), node.emit_constant(_ways(h, w).astype(dtype), "sizes")
    grid = node.emit("subtract", node.emit("divide", node.emit("multiply", places, node.scalar(2, places)), sizes), one)
    backwards = node.emit_constant(np.array([1, 0]), "backwards")
    grid = node.emit("transpose", node.emit("take", grid, backwards, axis=2, mode="fast"), axes=(0, 2, 1, 3, 4))
    grid = node.reshape(grid, (n * parts, 2, taps * height, width))
    data = node.reshape(node.input(0), (n * parts, c // parts, h, w))
    if 1 in (h, w):
        widths = (0, 0, 0, 0, 0, int(h == 1), 0, int(w == 1))
        data = node.emit("nn.pad", data, node.scalar(0, data), pad_width=widths)
    found = node.emit("image.grid_sample", data, grid)
    if node.optional_input(4) is not None:
        found = node.emit("multiply", found, node.reshape(node.input(4), (n * parts, 1, taps * height, width)))
    found = node.reshape(found, (n, group, depth * taps, height * width))
    matrix = node.reshape(node.input(1), (1, group, filters // group, depth * taps))
    result = node.emit("nn.batch_matmul", matrix, found, transpose_b=False)
    result = node.reshape(result, (n, filters, height, width))
    return result if node.optional_input(3) is None else node.emit("nn.bias_add", result, node.input(3), axis=1)


def _ways(height: int, width: int) -> Array:
    """How far the outermost elements lie apart along rows and columns, beside the axes of the places."""
    return np.maximum(np.array([height, width]) - 1, 1).reshape(1, 1, 2, 1, 1)


def _positive(node: NodeView, name: str) -> int:
    return node.attribute_int(name, 1, check=lambda value: value > 0)


def _places(node: NodeView, window: tuple[int, ...], extents: tuple[int, ...]) -> Array:
    """Row and column of each tap at each place of the window, before they are moved: (1, taps, 2, height, width)."""
    pads = node.attribute_ints("pads", (0, 0, 0, 0)) or ()
    strides, dilations = (node.attribute_ints(name, (1, 1)) or () for name in ("strides", "dilations"))
    if (len(pads), len(strides), len(dilations)) != (4, 2, 2):
        raise node.error(f"pads {list(pads)}, strides {list(strides)} and dilations {list(dilations)} of images")
    problem = check_size((*window, 2, *extents), np.dtype(np.int64).itemsize, MAX_COMPUTED_BYTES)
    if problem is not None:
        raise node.error(problem)
    axes = [
        np.arange(taps)[:, None] * dilation + np.arange(extent) * stride - pad
        for taps, dilation, extent, stride, pad in zip(window, dilations, extents, strides, pads[:2], strict=True)
    ]
    rows, columns = np.broadcast_arrays(axes[0][:, None, :, None], axes[1][None, :, None, :])
    return np.stack([rows, columns], 2).reshape(1, prod(window), 2, *extents)
