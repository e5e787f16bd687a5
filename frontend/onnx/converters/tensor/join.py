"""Concat and Split."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import END_OF_AXIS, NodeView, Number, Numbers, converts, known_axis


@converts("Concat", since=4, attributes=("axis",))
def convert_concat(node: NodeView) -> SSAValue:
    """`concatenate` of a tuple."""
    operands = [node.input(index) for index in range(len(node.inputs))]
    if not operands:
        raise node.error("Concat has no inputs")
    if "axis" not in node.attribute_names:
        raise node.error("attribute 'axis' is required")
    axis = known_axis(node, node.attribute_int("axis", 0), len(node.shape(0)))
    return node.emit("concatenate", node.make_tuple(operands), axis=axis)


@converts("Split", since=2, until=12, attributes=("axis", "split"))
@converts("Split", since=13, attributes=("axis", "num_outputs"))
def convert_split(node: NodeView) -> list[SSAValue]:
    """`split` if the sizes of the parts are known, else a slice for each part.

    The sizes are an attribute before opset 13, then an input; without them the parts are equal.
    """
    parts, axis = len(node.proto.output), known_axis(node, node.attribute_int("axis", 0), len(node.shape(0)))
    if node.attribute_int("num_outputs", parts) != parts:
        raise node.error(f"attribute 'num_outputs' differs from the number of outputs, {parts}")
    if "split" not in node.attribute_names and node.optional_input(1) is None:
        return _split(node, axis, _equal_sizes(node, axis, parts))
    if "split" in node.attribute_names or node.known_ints(1) is not None:
        return _split(node, axis, node.setting_ints(1, "split"))
    if node.shape(1) != (parts,) or not parts:
        raise node.error(f"sizes are {node.input(1).type}, a list of {parts} is expected, one for each output")
    return _slices(node, axis, node.emit("cast", node.input(1), dtype="int64"))


def _equal_sizes(node: NodeView, axis: int, parts: int) -> Sequence[Number]:
    """Equal parts; from opset 18 on, the last part is smaller if the extent is not divisible."""
    numbers = Numbers(node)
    extent, others = numbers.extent(node.input(0), axis), parts - 1
    if node.opset < 18:
        if isinstance(extent, int) and extent % parts:
            raise node.error(f"extent {extent} does not divide into {parts} equal parts")
        return [numbers.of("floor_divide", extent, parts)] * parts
    size = numbers.of("floor_divide", numbers.of("add", extent, others), parts)
    return [*[size] * others, numbers.of("subtract", extent, numbers.of("multiply", size, others))]


def _split(node: NodeView, axis: int, sizes: Sequence[Number]) -> list[SSAValue]:
    """Parts of these sizes."""
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes):
        lists = [node.emit("expand_dims", Numbers(node).value(size), axis=0) for size in sizes]
        return _slices(node, axis, node.emit("concatenate", node.make_tuple(lists), axis=0))
    parts, extent = len(node.proto.output), node.shape(0)[axis]
    if len(known) != parts or min(known, default=0) < 0 or (isinstance(extent, int) and sum(known) != extent):
        raise node.error(f"parts of {known} do not divide extent {extent} into {parts} outputs")
    result = node.emit("split", node.input(0), indices_or_sections=tuple(accumulate(known[:-1])), axis=axis)
    return [node.tuple_field(result, index) for index in range(parts)]


def _slices(node: NodeView, axis: int, sizes: SSAValue) -> list[SSAValue]:
    """A slice between consecutive sums of the computed sizes, for each part."""
    parts = len(node.proto.output)
    ends = node.emit("cumsum", sizes, axis=0)
    starts = node.emit("subtract", ends, sizes)
    places = _part_indices(node, sizes, axis, parts)
    bounds = [node.emit("take", each, places, axis=0, mode="raise") for each in (starts, ends)]
    return [_part(node, axis, number, *bounds) for number in range(parts)]


def _part_indices(node: NodeView, sizes: SSAValue, axis: int, parts: int) -> SSAValue:
    """The indices of the parts; invalid indices if the sizes do not fill the axis."""
    extents = node.emit("shape_of", node.input(0), dtype="int64")
    extent = node.emit("take", extents, node.emit_constant(np.array(axis)), axis=0, mode="fast")
    is_whole = node.emit("equal", node.emit("sum", sizes, axis=(0,)), extent)
    is_negative = node.emit("less", node.emit("min", sizes, axis=(0,)), node.emit_constant(np.array(0)))
    divides = node.emit("logical_and", is_whole, node.emit("logical_not", is_negative))
    numbers = node.emit_constant(np.arange(parts), "places")
    return node.emit("where", divides, numbers, node.emit_constant(np.array(parts)))


def _part(node: NodeView, axis: int, number: int, starts: SSAValue, ends: SSAValue) -> SSAValue:
    """Part `number`: whole along the axes before the split axis."""
    bounds = [
        _after(node, rest, axis, node.emit("strided_slice", each, begin=(number,), end=(number + 1,)))
        for rest, each in ((0, starts), (END_OF_AXIS, ends))
    ]
    return node.emit("dyn.strided_slice", node.input(0), *bounds, node.emit_constant(np.ones(axis + 1, np.int64)))


def _after(node: NodeView, rest: int, count: int, bound: SSAValue) -> SSAValue:
    """`bound` preceded by `count` bounds that are all `rest`."""
    if not count:
        return bound
    others = node.emit_constant(np.full(count, rest, np.int64))
    return node.emit("concatenate", node.make_tuple([others, bound]), axis=0)
