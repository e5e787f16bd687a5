"""Concat and Split."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.cut import LAST
from xrelay.frontend.onnx.converters.shared.extents import extent_value, known_axis
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


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
def convert_split_attribute(node: NodeView) -> list[SSAValue]:
    """`split` with the sizes of the parts as an attribute."""
    return _split(node, node.attribute_ints("split"))


@converts("Split", since=13, attributes=("axis", "num_outputs"))
def convert_split_input(node: NodeView) -> list[SSAValue]:
    """`split` with the sizes of the parts as an input, which may be computed."""
    if node.attribute_int("num_outputs", len(node.proto.output)) != len(node.proto.output):
        raise node.error(f"attribute 'num_outputs' differs from the number of outputs, {len(node.proto.output)}")
    sizes = None
    if node.optional_input(1) is not None:
        sizes = node.known_ints(1)
        if sizes is None:
            return _split_at_run_time(node)
    return _split(node, sizes)


def _split(node: NodeView, sizes: tuple[int, ...] | None) -> list[SSAValue]:
    shape = node.shape(0)
    axis = known_axis(node, node.attribute_int("axis", 0), len(shape))
    parts, extent = len(node.proto.output), shape[axis]
    if sizes is None:
        if not isinstance(extent, int):
            return _even_split_at_run_time(node, axis)
        sizes = _even_sizes(node, extent, parts)
    if len(sizes) != parts or any(size < 0 for size in sizes) or (isinstance(extent, int) and sum(sizes) != extent):
        raise node.error(f"parts of {list(sizes)} do not divide extent {extent} into {parts} outputs")
    indices = tuple(accumulate(sizes[:-1]))
    result = node.emit("split", node.input(0), indices_or_sections=indices, axis=axis)
    return [node.tuple_field(result, index) for index in range(parts)]


def _even_sizes(node: NodeView, extent: int, parts: int) -> tuple[int, ...]:
    """Equal parts; from opset 18 on the last part is smaller if the extent is not divisible."""
    if extent % parts and node.opset < 18:
        raise node.error(f"extent {extent} does not divide into {parts} equal parts")
    size = -(-extent // parts)
    return (*([size] * (parts - 1)), extent - size * (parts - 1))


def _split_at_run_time(node: NodeView) -> list[SSAValue]:
    """Parts whose sizes are an input; they must not be negative, and must add up to the extent of the axis."""
    parts, axis = len(node.proto.output), known_axis(node, node.attribute_int("axis", 0), len(node.shape(0)))
    if node.shape(1) != (parts,) or not parts:
        raise node.error(f"sizes are {node.input(1).type}, a list of {parts} is expected, one for each output")
    return _parts(node, axis, node.emit("cast", node.input(1), dtype="int64"))


def _even_split_at_run_time(node: NodeView, axis: int) -> list[SSAValue]:
    """Equal parts of an axis of dynamic extent; from opset 18 on the last part may be smaller.

    Before opset 18, an extent that is not divisible is an error at run time.
    """
    parts, extent = len(node.proto.output), extent_value(node, node.input(0), axis)
    others, count = node.emit_constant(np.array(parts - 1)), node.emit_constant(np.array(parts))
    whole = node.emit("add", extent, others) if node.opset >= 18 else extent
    size = node.emit("floor_divide", whole, count)
    last = node.emit("subtract", extent, node.emit("multiply", size, others)) if node.opset >= 18 else size
    sizes = [node.emit("expand_dims", each, axis=0) for each in (*[size] * (parts - 1), last)]
    return _parts(node, axis, node.emit("concatenate", node.make_tuple(sizes), axis=0))


def _parts(node: NodeView, axis: int, sizes: SSAValue) -> list[SSAValue]:
    """A `dyn.strided_slice` between consecutive sums of the sizes, for each part."""
    parts = len(node.proto.output)
    ends = node.emit("cumsum", sizes, axis=0)
    starts = node.emit("subtract", ends, sizes)
    places = _places(node, sizes, axis, parts)
    bounds = [node.emit("take", each, places, axis=0, mode="raise") for each in (starts, ends)]
    return [_part(node, axis, number, *bounds) for number in range(parts)]


def _places(node: NodeView, sizes: SSAValue, axis: int, parts: int) -> SSAValue:
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
        for rest, each in ((0, starts), (LAST, ends))
    ]
    return node.emit("dyn.strided_slice", node.input(0), *bounds, node.emit_constant(np.ones(axis + 1, np.int64)))


def _after(node: NodeView, rest: int, count: int, bound: SSAValue) -> SSAValue:
    """`bound` preceded by `count` bounds that are all `rest`."""
    if not count:
        return bound
    others = node.emit_constant(np.full(count, rest, np.int64))
    return node.emit("concatenate", node.make_tuple([others, bound]), axis=0)
