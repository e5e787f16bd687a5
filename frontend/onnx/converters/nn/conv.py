"""Conv."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.nn.same_padding import (
    padded_to_keep,
    padding_is_computed,
    without_padding,
)
from xrelay.frontend.onnx.converters.nn.windows import (
    WINDOW_ATTRIBUTES,
    read_window,
    unsupported_rank,
    weight_kernel,
    window_attributes,
)
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Conv", attributes=(*WINDOW_ATTRIBUTES, "group"), supports=unsupported_rank, limits="1 to 3 spatial axes")
def convert_conv(node: NodeView) -> SSAValue:
    """The convolution of inputs 0 and 1, plus input 2."""
    return convolution(node)


def convolution(node: NodeView) -> SSAValue:
    """`nn.conv1d`, `nn.conv2d` or `nn.conv3d`, then `nn.bias_add` if the node has a bias."""
    kernel = weight_kernel(node)
    if padding_is_computed(node, kernel):
        zero = node.scalar(0, node.input(0))
        node = without_padding(node, padded_to_keep(node, kernel, node.input(0), zero))
    window = read_window(node, kernel)
    channels = node.shape(1)[0]
    result = node.emit(
        f"nn.conv{len(window)}d",
        node.input(0),
        node.input(1),
        groups=node.attribute_int("group", 1, check=lambda value: value >= 1),
        channels=channels if isinstance(channels, int) else None,
        kernel_size=kernel,
        **window_attributes(window),
    )
    return add_bias(node, result)


def add_bias(node: NodeView, result: SSAValue) -> SSAValue:
    """Returns `result` plus the bias of the node, its input 2, if present."""
    bias = node.optional_input(2)
    return result if bias is None else node.emit("nn.bias_add", result, bias, axis=1)
