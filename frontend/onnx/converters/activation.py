"""Relu, Sigmoid, Tanh, Softmax, Clip and their kin."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.dims import product
from xrelay.frontend.onnx.converters.unary import register_unary
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

register_unary({"Relu": "nn.relu", "Sigmoid": "sigmoid", "Tanh": "tanh"})


@converts("Softmax", since=1, until=12, attributes=("axis",))
def convert_flattening_softmax(node: NodeView) -> SSAValue:
    """Before opset 13 Softmax works on the input flattened to two dimensions at `axis`."""
    shape = node.shape(0)
    rank = len(shape)
    axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value <= rank) % max(rank, 1)
    if axis == rank - 1:
        return node.emit("nn.softmax", node.input(0), axis=axis)
    if all(extent == 1 for extent in shape[axis + 1 :]):
        return node.emit("nn.softmax", node.input(0), axis=axis)
    rows, columns = product(shape[:axis]), product(shape[axis:])
    if not (isinstance(rows, int) and isinstance(columns, int) and all(isinstance(extent, int) for extent in shape)):
        raise node.error(f"Softmax over the flattened axes {axis}… of shape {shape} needs known extents")
    flat = node.emit("reshape", node.input(0), newshape=(rows, columns))
    result = node.emit("nn.softmax", flat, axis=1)
    return node.emit("reshape", result, newshape=tuple(extent for extent in shape if isinstance(extent, int)))


@converts("Softmax", since=13, attributes=("axis",))
def convert_softmax(node: NodeView) -> SSAValue:
    """`nn.softmax` along one axis."""
    rank = len(node.shape(0))
    axis = node.attribute_int("axis", -1, check=lambda value: -rank <= value < rank)
    return node.emit("nn.softmax", node.input(0), axis=axis % rank)


@converts("Clip", since=6, until=10, attributes=("min", "max"))
def convert_clip_attributes(node: NodeView) -> SSAValue:
    """`clip` with its bounds as attributes."""
    largest = float(np.finfo(np.float32).max)
    return _clip(node, node.attribute_float("min", -largest), node.attribute_float("max", largest))


@converts("Clip", since=11)
def convert_clip_inputs(node: NodeView) -> SSAValue:
    """`clip` with its bounds as constant inputs, either of which may be absent."""
    low = node.required_number(1, "min") if node.optional_input(1) is not None else -float("inf")
    high = node.required_number(2, "max") if node.optional_input(2) is not None else float("inf")
    return _clip(node, low, high)


def _clip(node: NodeView, low: float, high: float) -> SSAValue:
    return node.emit("clip", node.input(0), a_min=low, a_max=high)
