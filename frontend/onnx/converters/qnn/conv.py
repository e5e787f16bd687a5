"""ConvInteger and QLinearConv: i32 convolutions of integers minus their zero points."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    INT32,
    MICROSOFT,
    Dim,
    NodeView,
    certainly_differ,
    channels_first,
    channels_last,
    converted,
    shape_text,
)
from xrelay.frontend.onnx.converters.nn.conv import convert_conv
from xrelay.frontend.onnx.converters.nn.windows import converts_windows
from xrelay.frontend.onnx.converters.qnn.product import requantized, required_number
from xrelay.frontend.onnx.converters.qnn.quantize import one_number


@converts_windows("ConvInteger", since=10, attributes=("group",))
def convert_conv_integer(node: NodeView) -> SSAValue:
    """The i32 convolution; padding is 0, that is, the zero point."""
    return convert_conv(node.with_inputs([_image(node, 0, 2), _filters(node, 1, 3)]))


@converts_windows(
    "QLinearConv",
    domain=MICROSOFT,
    attributes=("group", "channels_last"),
)
def convert_qlinear_conv_of_last_channels(node: NodeView) -> SSAValue:
    """QLinearConv of images with channels first or last."""
    if not node.attribute_flag("channels_last"):
        return convert_qlinear_conv(node)
    first = channels_first(node, node.input(0))
    return channels_last(node, convert_qlinear_conv(node.with_inputs([first, *node.inputs[1:]])))


@converts_windows("QLinearConv", since=10, attributes=("group",))
def convert_qlinear_conv(node: NodeView) -> SSAValue:
    """The i32 convolution plus bias, times the scales of the operands, divided by the scale of the result."""
    total = convert_conv(node.with_inputs([_image(node, 0, 2), _filters(node, 3, 5), node.optional_input(8)]))
    scale = _of_each_filter(node, 4, node.shape(3)[0], trailing_axes=len(node.shape(0)) - 2)
    return requantized(node, total, (required_number(node, 1), scale))


def _image(node: NodeView, index: int, zero: int) -> SSAValue:
    """Input `index` minus its zero point, one number."""
    if len(node.shape(index)) < 3:
        raise node.error(
            f"input #{index} has the shape {shape_text(node.shape(index))}: an image or a volume is expected"
        )
    value = converted(node, node.input(index), INT32)
    if node.optional_input(zero) is None:
        return value
    return node.emit("subtract", value, converted(node, required_number(node, zero), INT32))


def _filters(node: NodeView, index: int, zero: int) -> SSAValue:
    """The weight minus its zero point, one number or one per filter."""
    if len(node.shape(index)) < 3:
        raise node.error(f"input #{index} has the shape {shape_text(node.shape(index))}: filters are expected")
    value = converted(node, node.input(index), INT32)
    if node.optional_input(zero) is None:
        return value
    filters, *rest = node.shape(index)
    point = _of_each_filter(node, zero, filters, trailing_axes=len(rest))
    return node.emit("subtract", value, converted(node, point, INT32))


def _of_each_filter(node: NodeView, index: int, filters: Dim, *, trailing_axes: int) -> SSAValue:
    """Input `index`, one number or one per filter, with trailing axes of extent 1."""
    single = one_number(node, index)
    if single is not None:
        return single
    own = node.shape(index)
    if len(own) != 1 or certainly_differ(own[0], filters):
        raise node.error(f"input #{index} has the shape {shape_text(own)}: one number or {filters} are expected")
    return node.emit("expand_dims", node.input(index), axis=1, num_newaxis=trailing_axes)
