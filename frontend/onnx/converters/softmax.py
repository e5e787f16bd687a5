"""Softmax and LogSoftmax."""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts
from xrelay.index_algebra.dims import shape_text


def _flattening(op: str) -> ConvertFunction:
    """Before opset 13 the softmaxes work on the input flattened to two dimensions at `axis`."""

    def convert(node: NodeView) -> SSAValue:
        x, shape = node.input(0), node.shape(0)
        rank = len(shape)
        axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value <= rank) % max(rank, 1)
        if axis == rank - 1 or all(extent == 1 for extent in shape[axis + 1 :]):
            return node.emit(op, x, axis=axis)
        known = tuple(extent for extent in shape if isinstance(extent, int))
        if len(known) != rank:
            raise node.error(
                f"{node.proto.op_type} over the flattened axes {axis}… of shape {shape_text(shape)} needs known extents"
            )
        flat = node.reshape(x, (prod(known[:axis]), prod(known[axis:])))
        return node.reshape(node.emit(op, flat, axis=1), known)

    return convert


def _along_axis(op: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        rank = len(node.shape(0))
        axis = node.attribute_int("axis", -1, check=lambda value: -rank <= value < rank)
        return node.emit(op, node.input(0), axis=axis % rank)

    return convert


for _op_type, _op in (("Softmax", "nn.softmax"), ("LogSoftmax", "nn.log_softmax")):
    converts(_op_type, since=1, until=12, attributes=("axis",))(_flattening(_op))
    converts(_op_type, since=13, attributes=("axis",))(_along_axis(_op))
