"""Relu, Sigmoid, Tanh, Softmax, LogSoftmax and Clip."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.reduction import log_sum_exp
from xrelay.frontend.onnx.converters.unary import register_unary
from xrelay.frontend.onnx.node import NodeView, constant_value
from xrelay.frontend.onnx.registry import ConvertFunction, converts
from xrelay.index_algebra.dims import shape_text

register_unary({"Relu": "nn.relu", "Sigmoid": "sigmoid", "Tanh": "tanh"})


def _softmax(node: NodeView, value: SSAValue, axis: int) -> SSAValue:
    return node.emit("nn.softmax", value, axis=axis)


def _log_softmax(node: NodeView, value: SSAValue, axis: int) -> SSAValue:
    return node.emit("subtract", value, log_sum_exp(node, value, (axis,), True))


def _flattening(apply: Callable[[NodeView, SSAValue, int], SSAValue]) -> ConvertFunction:
    """Before opset 13 the softmaxes work on the input flattened to two dimensions at `axis`."""

    def convert(node: NodeView) -> SSAValue:
        shape = node.shape(0)
        rank = len(shape)
        axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value <= rank) % max(rank, 1)
        if axis == rank - 1 or all(extent == 1 for extent in shape[axis + 1 :]):
            return apply(node, node.input(0), axis)
        known = tuple(extent for extent in shape if isinstance(extent, int))
        if len(known) != rank:
            raise node.error(
                f"{node.proto.op_type} over the flattened axes {axis}… of shape {shape_text(shape)} needs known extents"
            )
        flat = node.emit("reshape", node.input(0), newshape=(prod(known[:axis]), prod(known[axis:])))
        return node.emit("reshape", apply(node, flat, 1), newshape=known)

    return convert


def _along_axis(apply: Callable[[NodeView, SSAValue, int], SSAValue]) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        rank = len(node.shape(0))
        axis = node.attribute_int("axis", -1, check=lambda value: -rank <= value < rank)
        return apply(node, node.input(0), axis % rank)

    return convert


for _op_type, _apply in (("Softmax", _softmax), ("LogSoftmax", _log_softmax)):
    converts(_op_type, since=1, until=12, attributes=("axis",))(_flattening(_apply))
    converts(_op_type, since=13, attributes=("axis",))(_along_axis(_apply))


@converts("Clip", since=6, until=10, attributes=("min", "max"))
def convert_clip_attributes(node: NodeView) -> SSAValue:
    """`clip` with its bounds as attributes."""
    largest = float(np.finfo(np.float32).max)
    return _clip(node, node.attribute_float("min", -largest), node.attribute_float("max", largest))


@converts("Clip", since=11)
def convert_clip_inputs(node: NodeView) -> SSAValue:
    """`clip` with its bounds as inputs, either of which may be absent; bounds that are computed as two operators."""
    bounds = [node.optional_input(index) for index in (1, 2)]
    if all(bound is None or constant_value(bound) is not None for bound in bounds):
        low = node.required_number(1, "min") if bounds[0] is not None else -float("inf")
        high = node.required_number(2, "max") if bounds[1] is not None else float("inf")
        if low <= high:
            return _clip(node, low, high)
    value = node.input(0)
    for bound, relay_name in zip(bounds, ("maximum", "minimum"), strict=True):
        value = value if bound is None else node.emit(relay_name, value, bound)
    return value


def _clip(node: NodeView, low: float, high: float) -> SSAValue:
    return node.emit("clip", node.input(0), a_min=low, a_max=high)
