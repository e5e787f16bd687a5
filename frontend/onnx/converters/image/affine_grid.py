"""AffineGrid: the coordinates of an image's elements, transformed by matrices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    NodeView,
    converts,
    element_type_of,
    numpy_dtype,
    rounded_once,
    shape_text,
)


@converts("AffineGrid", since=20, attributes=("align_corners",))
@rounded_once
def convert_affine_grid(node: NodeView, matrices: SSAValue) -> SSAValue:
    """The last column plus, for each axis, its coordinates times its column; columns start with the last axis."""
    shape, count = node.shape(0), node.shape(1)
    spatial = len(shape) == 3 and shape[1:] in ((2, 3), (3, 4)) and shape[1]
    if not isinstance(spatial, int) or not spatial or count != (spatial + 2,):
        raise node.error(f"matrices of shape {shape_text(shape)} with sizes of shape {shape_text(count)}")
    known = node.known_ints(1)
    if known is not None:
        node.require_size((*known[2:], spatial), 8)
    result = _column(node, matrices, spatial, spatial)
    for axis in range(spatial):
        places = node.emit("cast", _axis_coordinates(node, axis + 2), dtype=numpy_dtype(element_type_of(matrices.type)))
        trailing = [1] * (spatial - axis)
        line = node.emit("reshape", places, newshape=(-1, *trailing))
        result = node.emit(
            "add", result, node.emit("multiply", _column(node, matrices, spatial - 1 - axis, spatial), line)
        )
    return result


def _column(node: NodeView, matrices: SSAValue, column: int, spatial: int) -> SSAValue:
    """A column of each matrix, with axes of extent 1 for the image."""
    place = node.emit_ints(column, "column")
    values = node.emit("take", matrices, place, axis=2, mode="fast")
    return node.emit("expand_dims", values, axis=1, num_newaxis=spatial)


def _axis_coordinates(node: NodeView, index: int) -> SSAValue:
    """The f64 coordinates along an axis; -1 and 1 are its borders, or its first and last elements (`align_corners`)."""
    at = node.emit_ints(index, "axis")
    known = node.known_ints(1)
    if known is not None:
        number = node.emit_ints(known[index], "size")
    else:
        number = node.emit("cast", node.emit("take", node.input(1), at, axis=0, mode="fast"), dtype="int64")
    steps = node.emit("cast", node.emit("arange", *_range(node, number)), dtype="float64")
    size = node.emit("cast", number, dtype="float64")
    one, two = node.scalar(1, size), node.scalar(2, size)
    if node.attribute_flag("align_corners"):
        # A single element is at the centre.
        twice = node.emit("subtract", node.emit("multiply", steps, two), node.emit("subtract", size, one))
        last = node.emit("maximum", node.emit("subtract", size, one), one)
    else:
        twice = node.emit("subtract", node.emit("add", node.emit("multiply", steps, two), one), size)
        last = size
    return node.emit("divide", twice, last)


def _range(node: NodeView, stop: SSAValue) -> Sequence[SSAValue]:
    return node.scalar(0, stop), stop, node.scalar(1, stop)
