"""Reshape, Flatten, Transpose, Concat, Split, Squeeze, Unsqueeze, Pad."""

from __future__ import annotations

from itertools import accumulate

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.index_algebra.dims import shape_text


@converts("Reshape", since=1, until=4, attributes=("shape", "consumed_inputs"))
def convert_reshape_attribute(node: NodeView) -> SSAValue:
    """`reshape` with its shape as an attribute."""
    return _reshape(node, node.attribute_ints("shape", ()) or ())


@converts("Reshape", since=5, attributes=("allowzero",))
def convert_reshape_input(node: NodeView) -> SSAValue:
    """`reshape` with its shape as a constant input; 0 copies an extent, -1 is what is left."""
    shape = node.required_ints(1, "shape")
    if node.attribute_int("allowzero", 0) and 0 in shape:
        raise node.error("attribute 'allowzero' = 1 with a 0 in the shape: empty tensors are not supported")
    return _reshape(node, shape)


def _reshape(node: NodeView, shape: tuple[int, ...]) -> SSAValue:
    if any(extent < -1 for extent in shape) or shape.count(-1) > 1:
        raise node.error(f"the shape {list(shape)} is illegal", help="extents are positive, 0, or at most one -1")
    return node.emit("reshape", node.input(0), newshape=shape)


@converts("Flatten", attributes=("axis",))
def convert_flatten(node: NodeView) -> SSAValue:
    """`nn.batch_flatten` for axis 1, a reshape to two dimensions for others."""
    shape = node.shape(0)
    rank = len(shape)
    axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value <= rank)
    if axis == 1 and rank >= 2:
        return node.emit("nn.batch_flatten", node.input(0))
    rows = 1
    for extent in shape[: axis if axis >= 0 else axis + rank]:
        if not isinstance(extent, int):
            raise node.error(f"Flatten at axis {axis} of shape {shape_text(shape)} needs known extents")
        rows *= extent
    return node.emit("reshape", node.input(0), newshape=(rows, -1))


@converts("Transpose", attributes=("perm",))
def convert_transpose(node: NodeView) -> SSAValue:
    """`transpose`; without `perm` the axes are reversed."""
    rank = len(node.shape(0))
    axes = node.attribute_ints("perm") or tuple(reversed(range(rank)))
    if sorted(axes) != list(range(rank)):
        raise node.illegal("perm", list(axes), f"a permutation of 0…{rank - 1} is expected")
    return node.emit("transpose", node.input(0), axes=axes)


@converts("Concat", since=4, attributes=("axis",))
def convert_concat(node: NodeView) -> SSAValue:
    """`concatenate` of a tuple."""
    operands = [node.input(index) for index in range(len(node.inputs))]
    rank = len(node.shape(0))
    if "axis" not in node.attribute_names:
        raise node.error("attribute 'axis' is required")
    axis = node.attribute_int("axis", 0, check=lambda value: -rank <= value < rank)
    return node.emit("concatenate", node.make_tuple(operands), axis=axis % rank)


@converts("Split", since=2, until=12, attributes=("axis", "split"))
def convert_split_attribute(node: NodeView) -> list[SSAValue]:
    """`split` with the parts' sizes as an attribute."""
    return _split(node, node.attribute_ints("split"))


@converts("Split", since=13, attributes=("axis", "num_outputs"))
def convert_split_input(node: NodeView) -> list[SSAValue]:
    """`split` with the parts' sizes as a constant input."""
    sizes = None
    if node.optional_input(1) is not None:
        sizes = node.required_ints(1, "split")
    return _split(node, sizes)


def _split(node: NodeView, sizes: tuple[int, ...] | None) -> list[SSAValue]:
    shape = node.shape(0)
    axis = node.attribute_int("axis", 0, check=lambda value: -len(shape) <= value < len(shape)) % len(shape)
    parts, extent = len(node.proto.output), shape[axis]
    if sizes is None:
        if not isinstance(extent, int):
            raise node.error(f"Split into {parts} parts along an axis of extent {extent} needs a known extent")
        # The last part is the smaller one where the extent does not divide.
        size = -(-extent // parts)
        sizes = (*([size] * (parts - 1)), extent - size * (parts - 1))
    if len(sizes) != parts or any(size <= 0 for size in sizes) or (isinstance(extent, int) and sum(sizes) != extent):
        raise node.error(f"parts of {list(sizes)} do not divide extent {extent} into {parts} outputs")
    indices = tuple(accumulate(sizes[:-1]))
    result = node.emit("split", node.input(0), indices_or_sections=indices, axis=axis)
    return [node.tuple_field(result, index) for index in range(parts)]


@converts("Squeeze", since=1, until=12, attributes=("axes",))
def convert_squeeze_attribute(node: NodeView) -> SSAValue:
    """`squeeze` with its axes as an attribute."""
    return node.emit("squeeze", node.input(0), axis=node.attribute_ints("axes"))


@converts("Squeeze", since=13)
def convert_squeeze_input(node: NodeView) -> SSAValue:
    """`squeeze` with its axes as a constant input; all axes of extent 1 without."""
    axes = None
    if node.optional_input(1) is not None:
        axes = node.required_ints(1, "axes")
    return node.emit("squeeze", node.input(0), axis=axes)


@converts("Unsqueeze", since=1, until=12, attributes=("axes",))
def convert_unsqueeze_attribute(node: NodeView) -> SSAValue:
    """`expand_dims` at each axis named by the attribute."""
    return _unsqueeze(node, node.attribute_ints("axes", ()) or ())


@converts("Unsqueeze", since=13)
def convert_unsqueeze_input(node: NodeView) -> SSAValue:
    """`expand_dims` at each axis named by the constant input."""
    return _unsqueeze(node, node.required_ints(1, "axes"))


def _unsqueeze(node: NodeView, axes: tuple[int, ...]) -> SSAValue:
    rank = len(node.shape(0)) + len(axes)
    if any(not -rank <= axis < rank for axis in axes) or len({axis % rank for axis in axes}) != len(axes):
        raise node.illegal("axes", list(axes), f"distinct axes of the result, of rank {rank}, are expected")
    value = node.input(0)
    for axis in sorted(axis % rank for axis in axes):
        value = node.emit("expand_dims", value, axis=axis)
    return value


@converts("Pad", since=2, until=10, attributes=("mode", "pads", "value"))
def convert_pad_attributes(node: NodeView) -> SSAValue:
    """`nn.pad` with everything as attributes."""
    return _pad(node, node.attribute_ints("pads", ()) or (), node.attribute_float("value", 0.0))


@converts("Pad", since=11, attributes=("mode",))
def convert_pad_inputs(node: NodeView) -> SSAValue:
    """`nn.pad` with pads, value and axes as constant inputs."""
    pads = node.required_ints(1, "pads")
    value = node.required_number(2, "constant_value") if node.optional_input(2) is not None else 0.0
    if node.optional_input(3) is not None:
        pads = _spread(node, pads, node.required_ints(3, "axes"))
    return _pad(node, pads, value)


def _spread(node: NodeView, pads: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Pads of some axes as pads of all."""
    rank = len(node.shape(0))
    whole = [0] * (2 * rank)
    for position, axis in enumerate(axes):
        whole[axis % rank] = pads[position]
        whole[axis % rank + rank] = pads[position + len(axes)]
    return tuple(whole)


def _pad(node: NodeView, pads: tuple[int, ...], value: float) -> SSAValue:
    rank = len(node.shape(0))
    node.attribute_string("mode", "constant", ("constant",))
    if len(pads) != 2 * rank or any(pad < 0 for pad in pads):
        raise node.illegal("pads", list(pads), f"{2 * rank} non-negative integers are expected")
    interleaved = tuple(pad for axis in range(rank) for pad in (pads[axis], pads[axis + rank]))
    return node.emit("nn.pad", node.input(0), node.scalar_like(value, 0), pad_width=interleaved)
