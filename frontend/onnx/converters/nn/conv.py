"""Conv."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView
from xrelay.frontend.onnx.converters.nn.same_padding import (
    padded_to_keep,
    padding_is_computed,
    without_padding,
)
from xrelay.frontend.onnx.converters.nn.windows import (
    converts_windows,
    read_window,
    weight_kernel,
    window_attributes,
)


@converts_windows("Conv", attributes=("group",))
def convert_conv(node: NodeView) -> SSAValue:
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
