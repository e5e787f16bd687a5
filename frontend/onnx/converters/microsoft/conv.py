"""FusedConv, NhwcConv, NhwcFusedConv and ConvTransposeWithDynamicPads."""

from __future__ import annotations

import onnx
from onnx import helper
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    NodeView,
    channels_first,
    channels_last,
    converts,
    shape_of,
)
from xrelay.frontend.onnx.converters.microsoft.activation import activated
from xrelay.frontend.onnx.converters.nn.conv import convert_conv
from xrelay.frontend.onnx.converters.nn.conv_transpose import convert_conv_transpose
from xrelay.frontend.onnx.converters.nn.windows import converts_windows, unsupported_rank


@converts_windows(
    "FusedConv",
    domain=MICROSOFT,
    attributes=("group", "activation", "activation_params"),
)
def convert_fused_conv(node: NodeView) -> SSAValue:
    """A convolution, plus input 3 if present, then an activation."""
    result = convert_conv(node)
    if node.optional_input(3) is not None:
        result = node.emit("add", result, node.input(3))
    return activated(node, result, node.attribute_floats("activation_params") or ())


@converts_windows("NhwcConv", domain=MICROSOFT, attributes=("group",))
def convert_nhwc_conv(node: NodeView) -> SSAValue:
    """A convolution of channels-last images with channels-last filters."""
    first = [_first(node, node.input(index)) for index in range(2)]
    return channels_last(node, convert_conv(node.with_inputs([*first, node.optional_input(2)])))


@converts_windows(
    "NhwcFusedConv",
    domain=MICROSOFT,
    attributes=("group", "activation", "activation_params"),
)
def convert_nhwc_fused_conv(node: NodeView) -> SSAValue:
    """FusedConv of channels-last images with channels-first filters."""
    other = node.optional_input(3)
    inputs = [_first(node, node.input(0)), node.input(1), node.optional_input(2)]
    inputs.append(None if other is None else _first(node, other))
    return channels_last(node, convert_fused_conv(node.with_inputs(inputs)))


def _first(node: NodeView, value: SSAValue) -> SSAValue:
    """Images or filters with their channels moved first."""
    if len(shape_of(value.type)) < 3:
        raise node.error(f"images or filters of {value.type}; they have a batch, spatial axes and channels")
    return channels_first(node, value)


@converts(
    "ConvTransposeWithDynamicPads",
    domain=MICROSOFT,
    attributes=("auto_pad", "dilations", "kernel_shape", "strides", "group", "output_padding"),
    supports=unsupported_rank,
    limits="constant pads, 1 to 3 spatial axes",
)
def convert_conv_transpose_with_pads(node: NodeView) -> SSAValue:
    """ConvTranspose, with the pads as an input before the bias."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    if node.optional_input(2) is not None:
        pads = node.required_ints(2, "Pads")
        proto.attribute.append(helper.make_attribute("pads", pads, attr_type=onnx.AttributeProto.INTS))
    inputs = [node.input(0), node.input(1), node.optional_input(3)]
    return convert_conv_transpose(NodeView(proto, node.graph, inputs))
