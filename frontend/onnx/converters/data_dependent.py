"""NonZero and Unique: results whose length the data decides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.extents import known_axis
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("NonZero", since=9)
def convert_nonzero(node: NodeView) -> SSAValue:
    """`argwhere`, with a column for each element instead of a row."""
    rows = node.emit("argwhere", node.input(0))
    return node.emit("cast", node.emit("transpose", rows, axes=(1, 0)), dtype="int64")


@converts("Unique", since=11, attributes=("axis", "sorted"), limits="no axis but the only one")
def convert_unique(node: NodeView) -> Sequence[SSAValue]:
    """`unique` of the flattened data, its lists cut to what is found."""
    is_sorted = bool(node.attribute_int("sorted", 1, check=lambda value: value in (0, 1)))
    rank = len(node.shape(0))
    if "axis" in node.attribute_names:
        known_axis(node, node.attribute_int("axis", 0), rank)
        if rank != 1:
            raise node.error(f"Unique along an axis of a tensor of rank {rank} is not supported")
    data = node.input(0) if rank == 1 else node.reshape(node.input(0), [-1])
    wants_counts = len(node.outputs) > 3
    lists = node.emit("unique", data, is_sorted=is_sorted, return_counts=wants_counts)
    number = node.emit("cast", node.tuple_field(lists, 3), dtype="int64")

    def cut(field: int) -> SSAValue:
        values = node.tuple_field(lists, field)
        values = node.emit("cast", values, dtype="int64") if field else values
        begin, step = (
            node.emit_constant(np.array([value], np.int64), name) for value, name in ((0, "begin"), (1, "step"))
        )
        return node.emit("dyn.strided_slice", values, begin, number, step)

    inverse = node.emit("cast", node.tuple_field(lists, 2), dtype="int64")
    return [cut(0), cut(1), inverse, *([cut(4)] if wants_counts else [])]
