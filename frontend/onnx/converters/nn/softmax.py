"""Softmax, LogSoftmax and Hardmax."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    ConvertFunction,
    NodeView,
    axis_attribute,
    converts,
    joined_axes,
    numpy_dtype,
    shape_of,
)


def _flattening(op: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        return flattened_softmax(node, op)

    return convert


def flattened_softmax(node: NodeView, op: str) -> SSAValue:
    """Returns a softmax of an opset before 13, over the axes from `axis` on, merged into one."""
    x, shape = node.input(0), node.shape(0)
    rank = len(shape)
    last = rank if node.opset < 11 else rank - 1
    axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value <= last)
    if axis == rank:
        return _of_each_element(node, op)
    axis %= rank
    if axis == rank - 1 or all(extent == 1 for extent in shape[axis + 1 :]):
        return node.emit(op, x, axis=axis)
    flat = joined_axes(node, x, axis)
    return node.emit("reshape_like", node.emit(op, flat, axis=axis), x)


def _of_each_element(node: NodeView, op: str) -> SSAValue:
    """The softmax of each element as a row of its own, since no axes follow the last."""
    rank = len(node.shape(0))
    found = node.emit(op, node.emit("expand_dims", node.input(0), axis=rank), axis=rank)
    return node.emit("squeeze", found, axis=(rank,))


def _along_axis(op: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        return node.emit(op, node.input(0), axis=axis_attribute(node, -1))

    return convert


for _op_type, _op in (("Softmax", "nn.softmax"), ("LogSoftmax", "nn.log_softmax")):
    converts(_op_type, since=1, until=12, attributes=("axis",))(_flattening(_op))
    converts(_op_type, since=13, attributes=("axis",))(_along_axis(_op))


@converts("Hardmax", until=12, attributes=("axis",))
def convert_hardmax_1(node: NodeView) -> SSAValue:
    """Hardmax of the axes from `axis` on, merged into one."""
    x, rank = node.input(0), len(node.shape(0))
    axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value < rank) % max(rank, 1)
    if axis == rank - 1:
        return _hardmax(node, x, axis)
    return node.emit("reshape_like", _hardmax(node, joined_axes(node, x, axis), axis), x)


@converts("Hardmax", since=13, attributes=("axis",))
def convert_hardmax(node: NodeView) -> SSAValue:
    """1 at the first maximum along the axis, 0 elsewhere."""
    return _hardmax(node, node.input(0), axis_attribute(node, -1))


def _hardmax(node: NodeView, data: SSAValue, axis: int) -> SSAValue:
    first = node.emit("cast", node.emit("argmax", data, axis=axis, keepdims=True), dtype="int64")
    shape = node.emit("shape_of", data, dtype="int64")
    start, at, step = (node.emit_ints(number) for number in (0, axis, 1))
    places = node.emit("arange", start, node.emit("take", shape, at, axis=0, mode="clip"), step)
    trailing = len(shape_of(data.type)) - axis - 1
    if trailing:
        places = node.emit("expand_dims", places, axis=1, num_newaxis=trailing)
    return node.emit("cast", node.emit("equal", first, places), dtype=numpy_dtype(node.element_type(0)))
