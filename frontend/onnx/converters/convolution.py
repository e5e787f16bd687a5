"""Conv."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.windows import WINDOW_ATTRIBUTES, read_window, unsupported_rank
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Conv", attributes=(*WINDOW_ATTRIBUTES, "group"), supports=unsupported_rank, limits="two spatial dimensions")
def convert_conv(node: NodeView) -> SSAValue:
    """`nn.conv2d` in NCHW/OIHW, then `nn.bias_add` where the node has a bias."""
    weight = node.shape(1)
    kernel = _kernel(node)
    window = read_window(node, kernel)
    groups = node.attribute_int("group", 1, check=lambda value: value >= 1)
    channels = weight[0]
    result = node.emit(
        "nn.conv2d",
        node.input(0),
        node.input(1),
        strides=window.strides,
        padding=window.padding,
        dilation=window.dilations,
        groups=groups,
        channels=channels if isinstance(channels, int) else None,
        kernel_size=window.kernel,
    )
    bias = node.optional_input(2)
    return result if bias is None else node.emit("nn.bias_add", result, bias, axis=1)


def _kernel(node: NodeView) -> tuple[int, ...]:
    """The kernel extents from the weight, which `kernel_shape` must repeat where it is given."""
    extents = node.shape(1)[2:]
    known = tuple(extent for extent in extents if isinstance(extent, int))
    if len(known) != len(extents):
        raise node.error(f"the weight's extents {extents} are not all known")
    stated = node.attribute_ints("kernel_shape")
    if stated is not None and stated != known:
        raise node.illegal("kernel_shape", list(stated), f"the weight has extents {list(known)}")
    return known
