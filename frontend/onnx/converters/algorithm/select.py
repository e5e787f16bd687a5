"""NonZero and Unique: results whose length depends on the data."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, axis_attribute, converts, shape_of


@converts("NonZero", since=9)
def convert_nonzero(node: NodeView) -> SSAValue:
    """`argwhere`, transposed to one column per element."""
    rows = node.emit("argwhere", node.input(0))
    return node.emit("cast", node.emit("transpose", rows, axes=(1, 0)), dtype="int64")


@converts("Unique", since=11, attributes=("axis", "sorted"))
def convert_unique(node: NodeView) -> Sequence[SSAValue]:
    """`unique`, with its results cut to their valid length; slices along an axis are compared by their ranks."""
    is_sorted = node.attribute_flag("sorted", True)
    rank, axis = len(node.shape(0)), axis_attribute(node, 0) if "axis" in node.attribute_names else None
    wants_counts = len(node.outputs) > 3
    if rank == 1 or axis is None:
        data = node.input(0) if rank == 1 else node.reshape(node.input(0), [-1])
        lists = node.emit("unique", data, is_sorted=is_sorted, return_counts=wants_counts)
        found = _cut(node, node.tuple_field(lists, 0), lists)
    else:
        order = (axis, *(other for other in range(rank) if other != axis))
        slices = node.emit("transpose", node.input(0), axes=order)
        lists = node.emit("unique", _ranks(node, slices), is_sorted=is_sorted, return_counts=wants_counts)
        chosen = node.emit("take", slices, node.tuple_field(lists, 1), axis=0, mode="fast")
        found = node.emit("transpose", _cut(node, chosen, lists), axes=[order.index(place) for place in range(rank)])
    wanted = (1, 2, 4) if wants_counts else (1, 2)
    places, inverse, *counts = (node.emit("cast", node.tuple_field(lists, field), dtype="int64") for field in wanted)
    return [found, _cut(node, places, lists), inverse, *(_cut(node, each, lists) for each in counts)]


@converts("Unique", domain=MICROSOFT)
def convert_unique_in_order(node: NodeView) -> Sequence[SSAValue]:
    """`unique` of a list in order of first occurrence: the elements, the index of each input in them, and counts."""
    lists = node.emit("unique", node.input(0), is_sorted=False, return_counts=True)
    inverse, counts = (node.emit("cast", node.tuple_field(lists, field), dtype="int64") for field in (2, 4))
    return [_cut(node, node.tuple_field(lists, 0), lists), inverse, _cut(node, counts, lists)]


def _ranks(node: NodeView, slices: SSAValue) -> SSAValue:
    """The ranks of slices along the first axis, each flattened to a row."""
    extents = shape_of(slices.type)
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) == len(extents):
        return node.emit("rank_rows", node.reshape(slices, (known[0], prod(known[1:]))))
    return node.emit("rank_rows", node.emit("reshape", slices, newshape=(0, -1)))


def _cut(node: NodeView, values: SSAValue, lists: SSAValue) -> SSAValue:
    """The valid part of `values` along the first axis, of the length in `lists`, the result of `unique`."""
    number = node.emit("cast", node.tuple_field(lists, 3), dtype="int64")
    begin, step = (node.emit_ints([value], name) for value, name in ((0, "begin"), (1, "step")))
    return node.emit("dyn.strided_slice", values, begin, number, step)
