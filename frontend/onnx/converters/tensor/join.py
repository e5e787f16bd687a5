"""Concat and Split."""

from __future__ import annotations

from itertools import accumulate

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.extents import known_axis
from xrelay.frontend.onnx.converters.tensor.computed_split import even_split_at_run_time, split_at_run_time
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
            return split_at_run_time(node)
    return _split(node, sizes)


def _split(node: NodeView, sizes: tuple[int, ...] | None) -> list[SSAValue]:
    shape = node.shape(0)
    axis = known_axis(node, node.attribute_int("axis", 0), len(shape))
    parts, extent = len(node.proto.output), shape[axis]
    if sizes is None:
        if not isinstance(extent, int):
            return even_split_at_run_time(node, axis)
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
