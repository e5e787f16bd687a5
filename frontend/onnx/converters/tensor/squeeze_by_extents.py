"""Squeeze without axes on dynamic extents: an If per axis that may have extent 1, as PyTorch writes `squeeze(0)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx
from onnx import helper, numpy_helper

from xrelay.frontend.onnx.node import NodeView

MOST_OPEN: Final = 6
"""The maximum number of dynamic axes, since there is a branch for each subset with extent 1."""
FIRST_WITH_INPUT: Final = 13
"""The first opset in which axes are an input of Squeeze."""


def squeeze_by_extents(node: NodeView) -> list[onnx.NodeProto]:
    """Returns nodes that compute a Squeeze without axes, by Squeezes with axes in the branches of Ifs.

    Raises `ModelImportError` if more than `MOST_OPEN` extents are dynamic.
    """
    shape = node.shape(0)
    left = [axis for axis, extent in enumerate(shape) if not isinstance(extent, int)]
    if len(left) > MOST_OPEN:
        text = f"{len(left)} open extents, at most {MOST_OPEN} may be open"
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
    return [*nodes, *_chosen(node, left, known, output)]


def _chosen(node: NodeView, left: Sequence[int], axes: Sequence[int], output: str) -> list[onnx.NodeProto]:
    """Nodes that squeeze `axes` and the axes in `left` with extent 1; the recursion is as deep as `left` is long."""
    if not left:
        return _squeeze(node, axes, output)
    axis = left[0]
    choice = helper.make_node("If", [f"{node.proto.output[0]}/is_one{axis}"], [output], name=node.name)
    for branch, more in (("then_branch", [axis]), ("else_branch", [])):
        inner = f"{output}/{axis}{'' if more else ' kept'}"
        body = _chosen(node, left[1:], [*axes, *more], inner)
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
