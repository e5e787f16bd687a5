"""Reductions over axes that only the run tells.

Each axis becomes two, one of which has extent 1: the second has the elements where the axis is named, the first where
it stays. The reduction is over all second ones then, and reads its data where they are.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.computed_axes import (
    axis_count,
    extents_left,
    extents_of,
    integer,
    named_axes,
    reshaped,
)
from xrelay.frontend.onnx.node import NodeView

ReduceAxes = Callable[[SSAValue, tuple[int, ...]], SSAValue]
"""Reduces a value over axes, which vanish."""


def reduced_at_run_time(node: NodeView, reduce: ReduceAxes, *, keepdims: bool) -> SSAValue:
    """Input 0 reduced over the axes that input 1 names, a list of known length that is not empty.

    An axis that the data does not have is an index out of range when it runs, and so is one that is named twice
    where the axes are not kept: the rank of the result is the data's less the number of axes.
    """
    rank, extents = len(node.shape(0)), extents_of(node)
    named, one = named_axes(node, rank), integer(node, 1)
    pairs = [node.emit("where", named, one, extents), node.emit("where", named, extents, one)]
    split = node.reshape(node.emit("stack", node.make_tuple(pairs), axis=1), (2 * rank,))
    result = reduce(reshaped(node, node.input(0), split), tuple(range(1, 2 * rank, 2)))
    return result if keepdims else reshaped(node, result, extents_left(node, named, rank - axis_count(node)))
