"""Reductions over axes that are known only at run time.

Each axis is split in two, a kept and a reduced one; the elements are along one of them, and the other has extent 1. The
reduction is then over all axes of the second kind, without a transpose.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.axes import (
    axis_count,
    extents_left,
    extents_of,
    named_axes,
    reshaped,
)
from xrelay.frontend.onnx.node import NodeView

ReduceAxes = Callable[[SSAValue, tuple[int, ...]], SSAValue]
"""Reduces a value over axes and removes them."""


def reduced_at_run_time(node: NodeView, reduce: ReduceAxes, *, keepdims: bool) -> SSAValue:
    """Input 0 reduced over the axes in input 1, a non-empty list of known length.

    An invalid axis is an index out of range at run time, and so is a duplicate axis unless the axes are kept: the rank
    of the result is the data's minus the number of axes.
    """
    rank, extents = len(node.shape(0)), extents_of(node)
    named, one = named_axes(node, rank), node.emit_ints(1)
    pairs = [node.emit("where", named, one, extents), node.emit("where", named, extents, one)]
    split = node.reshape(node.emit("stack", node.make_tuple(pairs), axis=1), (2 * rank,))
    result = reduce(reshaped(node, node.input(0), split), tuple(range(1, 2 * rank, 2)))
    return result if keepdims else reshaped(node, result, extents_left(node, named, rank - axis_count(node)))
