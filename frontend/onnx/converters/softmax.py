"""Softmax and LogSoftmax."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.single_precision import rounded_once
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts
from xrelay.index_algebra.dims import shape_text


def _softmax(node: NodeView, value: SSAValue, axis: int) -> SSAValue:
    return node.emit("nn.softmax", value, axis=axis)


def _log_softmax(node: NodeView, value: SSAValue, axis: int) -> SSAValue:
    """X - max(x) - log(sum(exp(x - max(x)))): of large logits the difference keeps every digit, the sum does not."""
    largest = node.emit("max", value, axis=(axis,), keepdims=True)
    shifted = node.emit("subtract", value, largest)
    total = node.emit("sum", node.emit("exp", shifted), axis=(axis,), keepdims=True)
    return node.emit("subtract", shifted, node.emit("log", total))


def _flattening(apply: Callable[[NodeView, SSAValue, int], SSAValue]) -> ConvertFunction:
    """Before opset 13 the softmaxes work on the input flattened to two dimensions at `axis`."""

    def formula(node: NodeView, x: SSAValue) -> SSAValue:
        shape = node.shape(0)
        rank = len(shape)
        axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value <= rank) % max(rank, 1)
        if axis == rank - 1 or all(extent == 1 for extent in shape[axis + 1 :]):
            return apply(node, x, axis)
        known = tuple(extent for extent in shape if isinstance(extent, int))
        if len(known) != rank:
            raise node.error(
                f"{node.proto.op_type} over the flattened axes {axis}… of shape {shape_text(shape)} needs known extents"
            )
        flat = node.reshape(x, (prod(known[:axis]), prod(known[axis:])))
        return node.reshape(apply(node, flat, 1), known)

    return rounded_once(formula)


def _along_axis(apply: Callable[[NodeView, SSAValue, int], SSAValue]) -> ConvertFunction:
    def formula(node: NodeView, x: SSAValue) -> SSAValue:
        rank = len(node.shape(0))
        axis = node.attribute_int("axis", -1, check=lambda value: -rank <= value < rank)
        return apply(node, x, axis % rank)

    return rounded_once(formula)


for _op_type, _apply in (("Softmax", _softmax), ("LogSoftmax", _log_softmax)):
    converts(_op_type, since=1, until=12, attributes=("axis",))(_flattening(_apply))
    converts(_op_type, since=13, attributes=("axis",))(_along_axis(_apply))
