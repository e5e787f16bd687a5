"""Reshape, Flatten, Squeeze, Unsqueeze and ExpandDims; shapes and axes may be known only at run time."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import is_static
from xrelay.frontend.onnx.converters.shared.axes import (
    axes_are_computed,
    axis_count,
    extents_left,
    extents_of,
    named_axes,
    reshaped,
)
from xrelay.frontend.onnx.converters.shared.extents import known_axes, merged_axes
from xrelay.frontend.onnx.converters.tensor.squeeze_by_extents import squeeze_by_extents
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.problems import ReplacedNodeError
from xrelay.frontend.onnx.registry import MICROSOFT, converts


@converts("Reshape", until=4, attributes=("shape", "consumed_inputs"))
@converts("Reshape", since=5, attributes=("allowzero",), limits="shape of known length")
def convert_reshape(node: NodeView) -> SSAValue:
    """`reshape` if the shape is known, else `dyn.reshape`; -1 is inferred, and 0 copies unless `allowzero`.

    The shape is an attribute before opset 5, then an input.
    """
    allowzero = node.attribute_flag("allowzero")
    if "shape" not in node.attribute_names and node.constant(1) is None:
        return node.emit("dyn.reshape", node.input(0), node.input(1), allowzero=allowzero)
    shape = node.setting_ints(1, "shape")
    if any(extent < -1 for extent in shape) or shape.count(-1) > 1:
        raise node.error(f"the shape {list(shape)} is illegal", help="extents are positive, 0, or at most one -1")
    return node.emit("reshape", node.input(0), newshape=shape, allowzero=allowzero)


@converts("Flatten", attributes=("axis",))
def convert_flatten(node: NodeView) -> SSAValue:
    """`nn.batch_flatten` for axis 1; for others the axes before and after are merged."""
    shape = node.shape(0)
    rank = len(shape)
    axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value <= rank)
    if axis == 1 and rank >= 2:
        return node.emit("nn.batch_flatten", node.input(0))
    split = axis if axis >= 0 else axis + rank
    columns = merged_axes(node, node.input(0), split, rank)
    return merged_axes(node, columns, 0, split)


@converts("Squeeze", until=12, attributes=("axes",))
@converts("Squeeze", since=13, limits="native code: known axes")
def convert_squeeze(node: NodeView) -> SSAValue:
    """`squeeze`, of all axes of extent 1 if there is no list of axes, which is an attribute before opset 13.

    Raises `ReplacedNodeError` if these axes depend on dynamic extents.
    """
    if axes_are_computed(node):
        return _squeezed_at_run_time(node)
    axes = node.optional_setting_ints(1, "axes")
    if axes is None and not is_static(node.input(0).type):
        raise ReplacedNodeError(squeeze_by_extents(node), node.describe())
    return node.emit("squeeze", node.input(0), axis=axes)


def _squeezed_at_run_time(node: NodeView) -> SSAValue:
    """Keeps the extents of the other axes in order; `dyn.reshape` fails unless the named axes have extent 1."""
    rank = len(node.shape(0))
    shape = extents_left(node, named_axes(node, rank), rank - axis_count(node))
    return reshaped(node, node.input(0), shape)


@converts("Unsqueeze", until=12, attributes=("axes",))
@converts("Unsqueeze", since=13, limits="native code: known axes")
def convert_unsqueeze(node: NodeView) -> SSAValue:
    """`expand_dims` at each axis in the list, which is an attribute before opset 13."""
    if axes_are_computed(node):
        return _unsqueezed_at_run_time(node)
    value, axes = node.input(0), node.setting_ints(1, "axes")
    for axis in sorted(known_axes(node, axes, len(node.shape(0)) + len(axes))):
        value = node.emit("expand_dims", value, axis=axis)
    return value


def _unsqueezed_at_run_time(node: NodeView) -> SSAValue:
    """Inserts extents of 1 at the named axes; a duplicate axis causes an index out of range at run time."""
    named = named_axes(node, len(node.shape(0)) + axis_count(node))
    others = node.emit("cast", node.emit("logical_not", named), dtype="int64")
    numbers = node.emit("multiply", node.emit("cumsum", others, axis=0), others)
    one, extents = node.emit_ints([1]), extents_of(node)
    filled = node.emit("concatenate", node.make_tuple([one, extents]), axis=0)
    return reshaped(node, node.input(0), node.emit("take", filled, numbers, axis=0, mode="raise"))


@converts("ExpandDims", domain=MICROSOFT, limits="a constant axis")
def convert_expand_dims(node: NodeView) -> SSAValue:
    """`expand_dims`."""
    axis = known_axes(node, [node.required_int(1, "axis")], len(node.shape(0)) + 1)[0]
    return node.emit("expand_dims", node.input(0), axis=axis)
