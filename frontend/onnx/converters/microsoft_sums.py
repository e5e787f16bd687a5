"""Sums that onnxruntime fuses with the following ops, for transformers and for image generation."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import is_half, numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.converters.microsoft_activation import fused_convolution
from xrelay.frontend.onnx.converters.nn.conv import convolution
from xrelay.frontend.onnx.converters.nn.softmax import flattened_softmax
from xrelay.frontend.onnx.converters.nn.windows import WINDOW_ATTRIBUTES, unsupported_rank
from xrelay.frontend.onnx.converters.shared.extents import known_axis, known_extent
from xrelay.frontend.onnx.converters.shared.half_precision import in_f32
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts


@converts("BiasSoftmax", domain=MICROSOFT, attributes=("axis", "is_inner_broadcast"))
def convert_bias_softmax(node: NodeView) -> SSAValue:
    """`nn.softmax` of the sum, over the axes from `axis` on, merged into one; the bias broadcasts."""
    rank = len(node.shape(0))
    if len(node.shape(1)) > rank:
        raise node.error(f"the bias {node.input(1).type} does not broadcast to the data {node.input(0).type}")
    known_axis(node, node.attribute_int("axis", 1), rank)
    total = node.emit("add", *(in_f32(node, node.input(index)) for index in range(2)))
    return _narrow(node, flattened_softmax(node.with_inputs([total]), "nn.softmax"))


@converts("BiasAdd", domain=MICROSOFT)
def convert_bias_add(node: NodeView) -> SSAValue:
    """The sum of data, bias and residual."""
    data, bias, skipped = (in_f32(node, node.input(index)) for index in range(3))
    return _narrow(node, node.emit("add", node.emit("add", data, bias), skipped))


@converts("BiasSplitGelu", domain=MICROSOFT)
def convert_bias_split_gelu(node: NodeView) -> SSAValue:
    """The first half of each sum times the Gelu of the second half."""
    total = node.emit("add", in_f32(node, node.input(0)), in_f32(node, node.input(1)))
    last = len(shape_of(total.type)) - 1
    extent = known_extent(node, total, last) if last >= 0 else 1
    if extent % 2:
        raise node.error(f"{total.type} does not split into halves")
    halves = node.emit("split", total, indices_or_sections=2, axis=last)
    first, second = (node.tuple_field(halves, index) for index in range(2))
    return _narrow(node, node.emit("multiply", first, node.emit("nn.gelu", second)))


@converts(
    "NhwcConv",
    domain=MICROSOFT,
    attributes=(*WINDOW_ATTRIBUTES, "group"),
    supports=unsupported_rank,
    limits="1 to 3 spatial axes",
)
def convert_nhwc_conv(node: NodeView) -> SSAValue:
    """A convolution of channels-last images with channels-last filters."""
    first = [_channels_first(node, node.input(index)) for index in range(2)]
    return _channels_last(node, convolution(node.with_inputs([*first, node.optional_input(2)])))


@converts(
    "NhwcFusedConv",
    domain=MICROSOFT,
    attributes=(*WINDOW_ATTRIBUTES, "group", "activation", "activation_params"),
    supports=unsupported_rank,
    limits="1 to 3 spatial axes",
)
def convert_nhwc_fused_conv(node: NodeView) -> SSAValue:
    """FusedConv of channels-last images with channels-first filters."""
    other = node.optional_input(3)
    inputs = [_channels_first(node, node.input(0)), node.input(1), node.optional_input(2)]
    inputs.append(None if other is None else _channels_first(node, other))
    return _channels_last(node, fused_convolution(node.with_inputs(inputs)))


def _channels_first(node: NodeView, value: SSAValue) -> SSAValue:
    rank = len(shape_of(value.type))
    if rank < 3:
        raise node.error(f"images or filters of {value.type}; they have a batch, spatial axes and channels")
    return node.emit("transpose", value, axes=(0, rank - 1, *range(1, rank - 1)))


def _channels_last(node: NodeView, value: SSAValue) -> SSAValue:
    return node.emit("transpose", value, axes=(0, *range(2, len(shape_of(value.type))), 1))


def _narrow(node: NodeView, value: SSAValue) -> SSAValue:
    """`value` in the element type of the node."""
    element = node.element_type(0)
    return node.emit("cast", value, dtype=numpy_dtype(element)) if is_half(element) else value
