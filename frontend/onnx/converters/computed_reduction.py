"""Reductions over axes that only the run tells.

The elements are brought into an order in which those that are reduced together are rows: `take` at places that are
computed of the extents. The reduction is over the rows then, and the shape of the result is computed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
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

ReduceRows = Callable[[SSAValue], SSAValue]
"""Reduces each row of a matrix to a number."""


def reduced_at_run_time(node: NodeView, reduce_rows: ReduceRows, *, keepdims: bool) -> SSAValue:
    """Input 0 reduced over the axes that input 1 names, a list of known length that is not empty.

    An axis that the data does not have is an index out of range when it runs, and so is one that is named twice
    where the axes are not kept: the rank of the result is the data's less the number of axes.
    """
    rank, extents = len(node.shape(0)), extents_of(node)
    named = named_axes(node, rank)
    kept = node.emit("where", named, integer(node, 1), extents)
    reduced = node.emit("where", named, extents, integer(node, 1))
    rows = node.emit("stack", node.make_tuple([node.emit("prod", each) for each in (kept, reduced)]), axis=0)
    result = reduce_rows(reshaped(node, _sorted_by_axes(node, named, extents), rows))
    return reshaped(node, result, kept if keepdims else extents_left(node, named, rank - axis_count(node)))


def _sorted_by_axes(node: NodeView, named: SSAValue, extents: SSAValue) -> SSAValue:
    """The elements as a list, in the order that they have with the named axes behind the others."""
    order = node.emit("argsort", node.emit("cast", named, dtype="int64"), dtype="int64")
    turned, strides = (
        node.emit("take", each, order, axis=0, mode="fast") for each in (extents, _strides(node, extents))
    )
    count = node.emit("ndarray_size", node.input(0), dtype="int64")
    numbers = node.emit("arange", integer(node, 0), count, integer(node, 1))
    places = node.emit("floor_divide", node.reshape(numbers, (-1, 1)), _strides(node, turned))
    offsets = node.emit("multiply", node.emit("floor_mod", places, turned), strides)
    data = node.reshape(node.input(0), (-1,))
    return node.emit("take", data, node.emit("sum", offsets, axis=(1,)), axis=0, mode="fast")


def _strides(node: NodeView, extents: SSAValue) -> SSAValue:
    """By how many elements neighbours along each axis lie apart: the product of the extents behind it."""
    rank = len(node.shape(0))
    is_behind = node.emit_constant(np.triu(np.ones((rank, rank), np.bool_), 1), "behind")
    return node.emit("prod", node.emit("where", is_behind, extents, integer(node, 1)), axis=(1,))
