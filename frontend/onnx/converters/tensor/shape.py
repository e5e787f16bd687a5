"""Shape, Size, Reshape, Flatten, Squeeze, Unsqueeze and ExpandDims; shapes and axes may be known only at run time.

Squeeze without axes on dynamic extents, as PyTorch writes `squeeze(0)`, is an If per axis that may have extent 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx
from onnx import helper, numpy_helper
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    NodeView,
    axes_are_computed,
    axis_count,
    converts,
    cut,
    extents_left,
    extents_of,
    is_static,
    known_axes,
    merged_axes,
    named_axes,
    reshaped,
)
from xrelay.frontend.onnx.problems import ReplacedNodeError

MAX_OPEN: Final = 6
"""The maximum number of dynamic axes, since there is a branch for each subset with extent 1."""
FIRST_WITH_INPUT: Final = 13
"""The first opset in which axes are an input of Squeeze."""


def _squeeze_by_extents(node: NodeView) -> list[onnx.NodeProto]:
    """Returns nodes that compute a Squeeze without axes, by Squeezes with axes in the branches of Ifs.

    Raises `ModelImportError` if more than `MAX_OPEN` extents are dynamic.
    """
    shape = node.shape(0)
    left = [axis for axis, extent in enumerate(shape) if not isinstance(extent, int)]
    if len(left) > MAX_OPEN:
        text = f"{len(left)} open extents, at most {MAX_OPEN} may be open"
        raise node.error(text, help="name the axes, or fix the input shapes with shapes={…}")
    data, output = node.proto.input[0], node.proto.output[0]
    nodes = [helper.make_node("Shape", [data], [f"{output}/shape"]), _ints(f"{output}/one", [1])]
    for axis in left:
        nodes += [
            _ints(f"{output}/axis{axis}", [axis]),
            helper.make_node("Gather", [f"{output}/shape", f"{output}/axis{axis}"], [f"{output}/extent{axis}"]),
            helper.make_node("Equal", [f"{output}/extent{axis}", f"{output}/one"], [f"{output}/is_one{axis}"]),
        ]
    known = [axis for axis, extent in enumerate(shape) if extent == 1]
    return [*nodes, *_squeeze_nodes(node, left, known, output)]


def _squeeze_nodes(node: NodeView, left: Sequence[int], axes: Sequence[int], output: str) -> list[onnx.NodeProto]:
    """Nodes that squeeze `axes` and the axes in `left` with extent 1; the recursion is as deep as `left` is long."""
    if not left:
        return _squeeze(node, axes, output)
    axis = left[0]
    choice = helper.make_node("If", [f"{node.proto.output[0]}/is_one{axis}"], [output], name=node.name)
    for branch, more in (("then_branch", [axis]), ("else_branch", [])):
        inner = f"{output}/{axis}{'' if more else ' kept'}"
        body = _squeeze_nodes(node, left[1:], [*axes, *more], inner)
        graph = helper.make_graph(body, branch, [], [onnx.ValueInfoProto(name=inner)])
        choice.attribute.append(helper.make_attribute(branch, graph))
    return [choice]


def _squeeze(node: NodeView, axes: Sequence[int], output: str) -> list[onnx.NodeProto]:
    data, axes = node.proto.input[0], sorted(axes)
    if not axes:
        return [helper.make_node("Identity", [data], [output], name=node.name)]
    if node.opset < FIRST_WITH_INPUT:
        return [helper.make_node("Squeeze", [data], [output], name=node.name, axes=axes)]
    given = f"{output}/axes"
    return [_ints(given, axes), helper.make_node("Squeeze", [data, given], [output], name=node.name)]


def _ints(name: str, values: Sequence[int]) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(values, np.int64)))


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
        raise ReplacedNodeError(_squeeze_by_extents(node), node.describe())
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


@converts("Shape", attributes=("start", "end"))
def convert_shape(node: NodeView) -> SSAValue:
    """`shape_of`, then the slice `start:end` (opset 15)."""
    rank = len(node.shape(0))
    first, last, _ = slice(node.attribute_int("start", 0), node.attribute_int("end", rank)).indices(rank)
    shape = node.emit("shape_of", node.input(0))
    return cut(node, shape, {0: range(first, max(first, last))})


@converts("Size")
def convert_size(node: NodeView) -> SSAValue:
    """`ndarray_size`."""
    return node.emit("ndarray_size", node.input(0))
