"""DeformConv: a convolution whose window is sampled at offsets that are an input."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    NodeView,
    Number,
    Numbers,
    certainly_differ,
    converts,
    numpy_dtype,
    padded,
    shape_text,
    static_shape,
)

_ATTRIBUTES = ("dilations", "group", "kernel_shape", "offset_group", "pads", "strides")


@converts("DeformConv", since=19, attributes=_ATTRIBUTES, limits="weights of known extents")
def convert_deform_conv(node: NodeView) -> SSAValue:
    """`image.grid_sample` at the moved positions of the window, then a product with each group of weights."""
    weight, numbers = _checked_weight(node), Numbers(node)
    (filters, depth, rows, columns), group, parts = weight, _positive(node, "group"), _positive(node, "offset_group")
    n, height, width = (numbers.extent(node.input(2), axis) for axis in (0, 2, 3))
    c, taps, images = depth * group, rows * columns, numbers.of("multiply", n, parts)
    places = _tap_places(node, numbers, weight[2:], (height, width))
    offsets = numbers.shaped(node.input(2), (images, taps, 2, height, width))
    at = node.emit("add", offsets, node.emit("cast", places, dtype=numpy_dtype(node.element_type(0))))
    data, sizes = _with_an_edge(node, numbers)
    grid = _grid(node, at, node.emit("cast", sizes, dtype=numpy_dtype(node.element_type(0))))
    plane = numbers.of("multiply", taps, height)
    grid = numbers.shaped(grid, (images, 2, plane, width))
    rest = [numbers.extent(data, axis) for axis in (2, 3)]
    found = node.emit("image.grid_sample", numbers.shaped(data, (images, c // parts, *rest)), grid)
    if node.optional_input(4) is not None:
        found = node.emit("multiply", found, numbers.shaped(node.input(4), (images, 1, plane, width)))
    found = numbers.shaped(found, (n, group, depth * taps, numbers.of("multiply", height, width)))
    matrix = node.reshape(node.input(1), (1, group, filters // group, depth * taps))
    result = node.emit("nn.batch_matmul", matrix, found, transpose_b=False)
    result = numbers.shaped(result, (n, filters, height, width))
    return result if node.optional_input(3) is None else node.emit("nn.bias_add", result, node.input(3), axis=1)


def _checked_weight(node: NodeView) -> tuple[int, int, int, int]:
    """Returns the extents of the weight; an error if data and offsets do not match them."""
    shape, weight, moved = node.shape(0), static_shape(node, node.input(1)), node.shape(2)
    group, parts = _positive(node, "group"), _positive(node, "offset_group")
    if not len(shape) == len(weight) == len(moved) == 4:
        raise node.error(f"images are expected, found {node.input(0).type}")
    filters, depth, rows, columns = weight
    wanted = ((shape[0], moved[0]), (shape[1], depth * group), (moved[1], 2 * parts * rows * columns))
    if any(certainly_differ(*pair) for pair in wanted) or (depth * group) % parts or filters % group:
        shapes = f"{shape_text(shape)}, {list(weight)} and {shape_text(moved)}"
        raise node.error(f"{group} groups and {parts} offset groups of {shapes}")
    return filters, depth, rows, columns


def _with_an_edge(node: NodeView, numbers: Numbers) -> tuple[SSAValue, SSAValue]:
    """The data with an edge, and its extents minus 1 along rows and columns, which broadcast with positions.

    Positions are divided by these numbers, so an extent that may be 1 gets an edge of zeros, the value outside.
    """
    extents = [numbers.extent(node.input(0), axis) for axis in (2, 3)]
    edges = [int(not isinstance(extent, int) or extent == 1) for extent in extents]
    data = padded(node, node.input(0), ((0,) * 4, (0, 0, *edges)))
    last = [numbers.of("add", extent, edge - 1) for extent, edge in zip(extents, edges, strict=True)]
    return data, node.reshape(numbers.stacked(last), (1, 1, 2, 1, 1))


def _grid(node: NodeView, places: SSAValue, sizes: SSAValue) -> SSAValue:
    """The positions of elements as coordinates of `image.grid_sample`, which are -1 and 1 at the ends."""
    grid = node.emit("divide", node.emit("multiply", places, node.scalar(2, places)), sizes)
    grid = node.emit("subtract", grid, node.scalar(1, places))
    backwards = node.emit_constant(np.array([1, 0]), "backwards")
    return node.emit("transpose", node.emit("take", grid, backwards, axis=2, mode="fast"), axes=(0, 2, 1, 3, 4))


def _positive(node: NodeView, name: str) -> int:
    return node.attribute_int(name, 1, check=lambda value: value > 0)


def _tap_places(node: NodeView, numbers: Numbers, window: tuple[int, int], extents: tuple[Number, Number]) -> SSAValue:
    """Row and column of each tap at each position of the window, before offsets: (1, taps, 2, height, width)."""
    pads = node.attribute_ints("pads", (0, 0, 0, 0)) or ()
    strides, dilations = (node.attribute_ints(name, (1, 1)) or () for name in ("strides", "dilations"))
    if (len(pads), len(strides), len(dilations)) != (4, 2, 2):
        raise node.error(f"pads {list(pads)}, strides {list(strides)} and dilations {list(dilations)} of images")
    taps = np.indices(window).reshape(2, -1).T * np.array(dilations) - np.array(pads[:2])
    at = node.emit_constant(taps.reshape(1, -1, 2, 1, 1).astype(np.int64), "taps")
    for axis, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
        along = np.zeros((1, 1, 2, 1, 1), np.int64)
        along[0, 0, axis] = stride
        steps = node.emit("expand_dims", numbers.arange(0, extent), axis=1, num_newaxis=1 - axis)
        at = node.emit("add", at, node.emit("multiply", steps, node.emit_constant(along, "strides")))
    return at
