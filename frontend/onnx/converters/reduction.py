"""ReduceMean, ReduceSum, ReduceMax."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts


def _by_attribute(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        return _reduce(node, relay_name, node.attribute_ints("axes"))

    return convert


def _by_input(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        axes = None
        if node.optional_input(1) is not None:
            axes = node.required_ints(1, "axes")
        if not axes and node.attribute_int("noop_with_empty_axes", 0):
            return node.input(0)
        return _reduce(node, relay_name, axes)

    return convert


def _reduce(node: NodeView, relay_name: str, axes: tuple[int, ...] | None) -> SSAValue:
    """The reduction over `axes`, all of them where none are named."""
    rank = len(node.shape(0))
    over = tuple(axes) if axes else tuple(range(rank))
    if any(not -rank <= axis < rank for axis in over):
        raise node.illegal("axes", list(over), f"axes of a tensor of rank {rank} lie in [-{rank}, {rank - 1}]")
    keepdims = node.attribute_int("keepdims", 1, check=lambda value: value in (0, 1))
    normalized = tuple(sorted(axis % rank for axis in over))
    return node.emit(relay_name, node.input(0), axis=normalized, keepdims=bool(keepdims))


# The opset at which `axes` moved from an attribute to an input.
for _op_type, _relay_name, _moved in (("ReduceMean", "mean", 18), ("ReduceSum", "sum", 13), ("ReduceMax", "max", 18)):
    converts(_op_type, until=_moved - 1, attributes=("axes", "keepdims"))(_by_attribute(_relay_name))
    converts(_op_type, since=_moved, attributes=("keepdims", "noop_with_empty_axes"))(_by_input(_relay_name))
